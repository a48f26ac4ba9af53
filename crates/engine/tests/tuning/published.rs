//! The published case, from the first event to the slice that obeys.

use engine::{ProposalState, TunePolicy};

use crate::world::{Load, WEEK, World, name, shape};

/// Minutes of a kilobyte, of a week of which each id uses 200.
const SPARSE: Load = Load { series: 10, events: 200, bytes: 1_000 };

#[tokio::test]
async fn minutes_in_a_slice_of_a_week_become_the_week() {
    let world = World::with_policy(shape(WEEK, 60, 1), TunePolicy::Propose).await;
    world.live(2, SPARSE).await;
    world.look().await;
    assert_eq!((world.proposals().await.len(), &*world.finding().await), (0, "LITTLE_EVIDENCE"));
    world.live(1, SPARSE).await;
    world.look().await;
    let tuned = world.proposals().await.remove(0);
    assert_eq!(tuned.proposal.state, ProposalState::Open);
    let text = tuned.proposal.rendered("my_dataset_1", &tuned.first_slice);
    let published = "DynamicTimeSliceConfigWorker:\nnamespace: my_dataset_1\n\
                     Observed: TimeSlices have p99 partitions below configured target of 10MiB.\n\
                     Proposed: time_bucket interval: 60s -> 604800s\n";
    assert!(text.starts_with(published), "{text}");
    assert!(tuned.proposal.draft.observed.max < 10_000);
    // Nothing was changed, and looking again changes nothing.
    world.look().await;
    assert_eq!(world.proposals().await.len(), 1);
    assert_eq!(world.engine.get_namespace(&name()).unwrap().spec.shape, world.shape);

    let checked = world.engine.accept_proposal(&name(), 1, None, true).await.unwrap();
    assert_eq!(checked.proposal.state, ProposalState::Open);
    let before = world.slices();
    let accepted = world.engine.accept_proposal(&name(), 1, None, false).await.unwrap();
    assert_eq!(accepted.proposal.state, ProposalState::Accepted);
    assert_eq!(world.engine.get_namespace(&name()).unwrap().spec.shape, shape(WEEK, 604_800, 1));
    assert_eq!(world.slices(), before, "slices that exist keep their shape");
    // The present slice may exist already; the next ones obey.
    world.live(2, SPARSE).await;
    let obeys = world.slices().into_iter().find(|slice| slice.table == accepted.first_slice).unwrap();
    assert_eq!((obeys.shape.seconds_per_bucket, obeys.shape.buckets_per_id), (604_800, 1));

    // Afterwards predicted and observed stand side by side.
    world.look().await;
    let judged = world.proposals().await.remove(0).proposal;
    let (predicted, outcome) = (judged.draft.predicted, judged.outcome.unwrap());
    assert!(outcome.slices >= 1);
    assert!(outcome.seen.p99.abs_diff(predicted.p99) <= predicted.p99 / 4, "{outcome:?} {predicted:?}");
    assert_eq!(outcome.seen.partitions, predicted.partitions);
}

#[tokio::test]
async fn what_if_replays_recorded_slices_through_any_shape() {
    let world = World::with_policy(shape(WEEK, 60, 1), TunePolicy::Propose).await;
    let empty = world.engine.simulate_shape(&name(), shape(WEEK, 3_600, 1).into()).await.unwrap();
    assert!(empty.replay.slices.is_empty());
    world.live(3, SPARSE).await;
    world.look().await;
    let whole = world.engine.simulate_shape(&name(), shape(WEEK, WEEK, 1).into()).await.unwrap();
    assert_eq!(whole.replay.slices.len(), 3);
    let slice = &whole.replay.slices[0];
    assert_eq!((slice.observed.partitions, slice.predicted.partitions), (2_000, 10));
    // 200 events of 1,000 bytes and what they are called.
    assert!((200_000..230_000).contains(&slice.predicted.p99), "{slice:?}");
    let two = world.engine.simulate_shape(&name(), shape(WEEK, WEEK, 2).into()).await.unwrap();
    assert_eq!(two.replay.slices[0].predicted.partitions, 20);
    let bad = world.engine.simulate_shape(&name(), shape(WEEK, 1_000, 1).into()).await.unwrap_err();
    assert!(bad.to_string().starts_with("shape: "), "{bad}");
    assert_eq!(world.proposals().await.len(), 1, "a simulation changes nothing");
}
