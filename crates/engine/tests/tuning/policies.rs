//! Who decides, what is refused, and why there is nothing to decide on.

use std::time::Duration;

use engine::{Cause, ProposalState, Reason, TunePolicy, TuneSpec};
use store::Store;

use crate::world::{DAY, Load, WEEK, World, name, shape};

const SMALL: Load = Load { series: 10, events: 24, bytes: 2_000 };

async fn proposed(policy: TunePolicy) -> World {
    let world = World::with_policy(shape(DAY, 3_600, 1), policy).await;
    world.live(3, SMALL).await;
    world.look().await;
    world
}

#[tokio::test]
async fn auto_applies_by_itself_and_the_audit_says_so() {
    let world = proposed(TunePolicy::Auto).await;
    let tuned = world.proposals().await.remove(0);
    assert_eq!((tuned.proposal.id, tuned.proposal.state), (1, ProposalState::Accepted));
    assert_eq!(world.engine.get_namespace(&name()).unwrap().spec.shape, shape(DAY, DAY, 1));
    let audit = world.engine.audit(None, 10).await.unwrap();
    let line = audit.iter().find(|line| line.kind == "namespaces" && line.author == "tuner").unwrap();
    assert_eq!(line.reason, "tune.policy is auto");
    assert!(line.after.contains("\"seconds_per_bucket\":86400"), "{}", line.after);
    // Slices of the new shape are too few to judge yet.
    world.look().await;
    assert_eq!((world.proposals().await.len(), &*world.finding().await), (1, "LITTLE_EVIDENCE"));
}

#[tokio::test]
async fn off_looks_only_when_asked_and_proposes_nothing() {
    let world = proposed(TunePolicy::Off).await;
    assert!(world.status().await.looked.is_none());
    let status = world.engine.observe_slices(&name(), false, false).await.unwrap();
    assert_eq!((status.observations.len(), status.finding.unwrap().0.as_str()), (3, "OFF"));
    assert!(world.proposals().await.is_empty());
}

#[tokio::test]
async fn what_is_rejected_is_not_proposed_again() {
    let world = proposed(TunePolicy::Propose).await;
    let etag = world.proposals().await.remove(0).etag;
    let by = world.engine.because(Cause { author: "ann".to_owned(), reason: "not now".to_owned() });
    let other = by.reject_proposal(&name(), 1, Some("0"), false).await.unwrap_err();
    assert_eq!(other.reason(), Reason::EtagMismatch);
    let rejected = by.reject_proposal(&name(), 1, Some(&etag), false).await.unwrap();
    assert_eq!(rejected.proposal.state, ProposalState::Rejected);
    let settled = rejected.proposal.settled.unwrap();
    assert_eq!((settled.author.as_str(), settled.reason.as_str()), ("ann", "not now"));
    let audit = world.engine.audit(None, 10).await.unwrap();
    assert!(
        audit.iter().any(|line| line.kind.starts_with("proposals/") && line.author == "ann"),
        "{audit:?}"
    );
    let again = by.accept_proposal(&name(), 1, None, false).await.unwrap_err();
    assert_eq!(again.reason(), Reason::ProposalStale);
    world.live(1, SMALL).await;
    world.look().await;
    assert_eq!((world.proposals().await.len(), &*world.finding().await), (1, "REJECTED"));
    assert_eq!(by.get_proposal(&name(), 9).await.unwrap_err().reason(), Reason::ProposalNotFound);
}

#[tokio::test]
async fn a_proposal_goes_stale_with_its_evidence() {
    let world = proposed(TunePolicy::Propose).await;
    // Somebody else makes partitions fit by another density.
    let mut spec = world.engine.get_namespace(&name()).unwrap().spec;
    spec.tune = TuneSpec { density_min_bytes: 1_024, ..spec.tune };
    world.engine.update_namespace(&name(), spec, None).await.unwrap();
    let refused = world.engine.accept_proposal(&name(), 1, None, false).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::ProposalStale);
    assert!(refused.to_string().contains("density"), "{refused}");
    let tuned = world.proposals().await.remove(0);
    assert_eq!(tuned.proposal.state, ProposalState::Stale);
    world.look().await;
    assert_eq!(world.finding().await, "IN_WINDOW");
}

#[tokio::test]
async fn a_shape_that_somebody_set_meanwhile_stays() {
    let world = proposed(TunePolicy::Propose).await;
    let mut spec = world.engine.get_namespace(&name()).unwrap().spec;
    spec.shape = shape(DAY, 7_200, 1);
    world.engine.update_namespace(&name(), spec, None).await.unwrap();
    let refused = world.engine.accept_proposal(&name(), 1, None, false).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::ProposalStale);
    assert_eq!(world.engine.get_namespace(&name()).unwrap().spec.shape, shape(DAY, 7_200, 1));
}

#[tokio::test]
async fn nothing_or_nothing_fresh_is_a_finding_with_its_age() {
    let world = World::with_policy(shape(DAY, 3_600, 1), TunePolicy::Propose).await;
    world.look().await;
    assert_eq!(world.finding().await, "NO_HISTOGRAM");
    world.live(3, SMALL).await;
    world.look().await;
    assert_eq!(world.proposals().await.len(), 1);
    world.clock.advance(Duration::from_secs(6 * 86_400));
    world.look().await;
    let (code, message) = world.status().await.finding.unwrap();
    assert_eq!(code, "STALE_HISTOGRAM");
    assert!(message.contains("6 days old"), "{message}");
    assert_eq!(world.proposals().await.remove(0).proposal.state, ProposalState::Stale);
}

#[tokio::test]
async fn closed_buckets_of_a_long_open_slice_count() {
    let world = World::with_policy(shape(2 * WEEK, 3_600, 1), TunePolicy::Propose).await;
    world.write(Load { series: 10, events: 336, bytes: 500 }).await;
    world.clock.advance(Duration::from_secs(2 * 86_400));
    world.look().await;
    assert_eq!(world.finding().await, "NO_HISTOGRAM");
    world.clock.advance(Duration::from_secs(4 * 86_400));
    world.look().await;
    let tuned = world.proposals().await.remove(0);
    assert!(tuned.proposal.draft.to.seconds_per_bucket > 3_600);
    let seen = world.status().await.observations.remove(0);
    assert!(!seen.is_whole() && seen.covered_seconds >= 3 * DAY, "{}", seen.covered_seconds);
}

#[tokio::test]
async fn of_several_servers_one_looks_and_any_may_decide() {
    let world = proposed(TunePolicy::Propose).await;
    let other = world.another().await;
    assert_eq!(other.tune().await.unwrap(), 0, "it was looked at a moment ago");
    let accepted = other.accept_proposal(&name(), 1, None, false).await.unwrap();
    assert_eq!(accepted.proposal.state, ProposalState::Accepted);
    world.engine.refresh().await.unwrap();
    let late = world.engine.reject_proposal(&name(), 1, None, false).await.unwrap_err();
    assert_eq!(late.reason(), Reason::ProposalStale);
}

#[tokio::test]
async fn a_deleted_namespace_leaves_nothing_behind() {
    let world = proposed(TunePolicy::Propose).await;
    world.engine.delete_namespace(&name(), None).await.unwrap();
    for group in ["observations/my_dataset_1.1", "proposals/my_dataset_1.1", "tuning"] {
        let left = world.store.meta_range(group.as_bytes(), None, 10).await.unwrap();
        assert!(left.records.is_empty(), "{group}");
    }
}
