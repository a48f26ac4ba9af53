//! From state to state.

use model::{NamespaceName, PartitionKey, SeriesId, ShapeSpec};

use super::*;
use crate::{ChunkCodec, Packing, Phase, Reason, Strategy};

const AT: Moment<'_> = Moment { now: 1_000, server: "s1" };
const KEY: DigestKey = DigestKey::new([1; 32]);

fn candidate() -> Record {
    let partition = PartitionKey { series: SeriesId::new("hot").unwrap(), time_bucket: 7, event_bucket: 2 };
    let id = SplitId {
        namespace: NamespaceName::new("plays").unwrap(),
        incarnation: 1,
        time_slice: "data_20260328".to_owned(),
        partition,
    };
    Record::candidate(Origin { id, end: 500, bytes_read: Some(7) }, false, None, AT)
}

fn planned(record: &Record) -> Record {
    let plan = Plan {
        strategy: Strategy::EventBucket { target_event_buckets: 3 },
        packing: None,
        capped: false,
        because: "",
        layout_because: "",
    };
    let shape = ShapeSpec::default().freeze().unwrap();
    record.planned(Digest::default(), &plan, &shape, AT)
}

fn start_of(record: &Record) -> u32 {
    record.post_split_data.as_ref().unwrap().strategy().unwrap().1
}

#[test]
fn targets_start_as_published_and_never_where_others_do() {
    let first = planned(&candidate().claimed(KEY, AT));
    assert_eq!(start_of(&first), 32);
    let shape = ShapeSpec::default().freeze().unwrap();
    let mut starts: Vec<u32> =
        (1..20).flat_map(|attempt| (0..4).map(move |bucket| first_target(attempt, bucket, &shape))).collect();
    starts.sort_unstable();
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 16));
}

#[test]
fn an_attempt_that_was_left_goes_on_and_a_failed_one_begins_anew() {
    let begun = candidate().claimed(KEY, AT);
    assert_eq!((begun.state, begun.attempt, begun.fence), (State::Planning, 1, 1));
    let checkpoint =
        Checkpoint { attempt: 1, phase: Phase::Plan, target: 0, digest: Digest::default(), time: 1 };
    let left = begun.checkpointed(checkpoint, None);
    let taken = left.claimed(DigestKey::new([2; 32]), Moment { now: 2_000, server: "s2" });
    assert_eq!((taken.attempt, taken.fence, taken.digest_key.clone()), (1, 2, begun.digest_key.clone()));
    assert!(taken.resume(Phase::Plan).is_some());
    assert!(taken.resume(Phase::Copy).is_none(), "a checkpoint is of its own step");
    let failed = planned(&taken).failed(Why::new(Reason::Store, "no"), AT);
    assert_eq!((failed.state, failed.garbage.len(), failed.failures), (State::Failed, 1, 1));
    let again = failed.claimed(DigestKey::new([3; 32]), AT);
    assert_eq!((again.state, again.attempt), (State::Planning, 2));
    assert!(again.resume(Phase::Plan).is_none());
    assert_ne!(again.digest_key, taken.digest_key);
    assert_eq!(start_of(&planned(&again)), (4 + 2) * 16);
}

#[test]
fn a_checkpoint_of_another_attempt_counts_for_nothing() {
    let checkpoint =
        Checkpoint { attempt: 1, phase: Phase::Plan, target: 0, digest: Digest::default(), time: 1 };
    let second = Record { attempt: 2, ..candidate().claimed(KEY, AT) }.checkpointed(checkpoint, None);
    assert_eq!(second.resume(Phase::Plan), None);
}

#[test]
fn failures_back_off_and_then_wait_for_somebody() {
    let mut record = candidate();
    let mut waits = Vec::new();
    for _ in 0..TRIES_MAX {
        record = record.claimed(KEY, AT).failed(Why::new(Reason::Store, "no"), AT);
        waits.push(record.next.map(|next| (next - AT.now) / 1_000_000_000));
    }
    assert_eq!(waits, [Some(15), Some(30), Some(60), Some(120), None]);
    let again = record.wanted_again(None, Why::new(Reason::ByHand, "try"), AT).unwrap();
    assert_eq!((again.state, again.failures, again.due()), (State::Candidate, 0, Some(AT.now)));
    assert!(candidate().claimed(KEY, AT).wanted_again(None, Why::new(Reason::ByHand, "try"), AT).is_none());
}

#[test]
fn an_interrupted_attempt_goes_on_and_fails_where_that_does_not_end() {
    let no = || Why::new(Reason::Store, "no");
    let mut record = planned(&candidate().claimed(KEY, AT)).goes_on(State::Copying, AT);
    for failures in 1..TRIES_MAX {
        let interrupted = record.interrupted(no(), AT);
        assert_eq!(
            (interrupted.state, interrupted.attempt, interrupted.failures),
            (State::Copying, 1, failures)
        );
        assert_eq!((interrupted.owner.clone(), interrupted.reason.clone()), (None, Some(no())));
        assert!(interrupted.next.unwrap() > AT.now && interrupted.garbage.is_empty());
        record = interrupted.claimed(KEY, AT);
        assert_eq!((record.state, record.attempt, record.reason.clone()), (State::Copying, 1, None));
    }
    let parked = record.interrupted(no(), AT);
    assert_eq!((parked.state, parked.next, parked.garbage.len()), (State::Failed, None, 1));
}

#[test]
fn garbage_of_an_attempt_that_is_interrupted_waits_with_it() {
    let first = planned(&candidate().claimed(KEY, AT)).failed(Why::new(Reason::Store, "no"), AT);
    let late = Moment { now: first.garbage[0].after, ..AT };
    let second = first.claimed(KEY, late).interrupted(Why::new(Reason::Store, "no"), late);
    assert!(second.due().unwrap() > late.now, "nothing of it is due before");
}

#[test]
fn a_completed_split_is_compared_again_and_then_rests() {
    let done =
        planned(&candidate().claimed(KEY, AT)).goes_on(State::Copying, AT).goes_on(State::Verifying, AT);
    let hour = 3_600_000_000_000_i64;
    let done = done.completed(Some(100 * hour), AT);
    let recheck = || Recheck { time: 1, origin: Digest::default(), equal: true };
    let mut dues = vec![done.due()];
    let mut record = done;
    for _ in 0..3 {
        record = record.rechecked(recheck(), 0, Some(100 * hour));
        dues.push(record.due());
    }
    assert_eq!(dues, [Some(AT.now + hour), Some(AT.now + 4 * hour), Some(99 * hour), None]);
    assert!(record.bears(8) && !record.bears(9));
}

/// One that was completed, and is out of use.
fn retired() -> Record {
    let verified =
        planned(&candidate().claimed(KEY, AT)).goes_on(State::Copying, AT).goes_on(State::Verifying, AT);
    verified.completed(None, AT).retiring(Why::new(Reason::ByHand, "no"), AT).retired(AT)
}

#[test]
fn targets_that_are_out_of_use_go_after_a_while() {
    let retired = retired();
    let garbage = retired.garbage.clone();
    assert_eq!(
        garbage.iter().map(|one| (one.start_event_bucket, one.targets)).collect::<Vec<_>>(),
        [(32, 3)]
    );
    assert_eq!(retired.due(), Some(AT.now + 600_000_000_000));
    assert_eq!(retired.cleaned(&garbage).due(), None);
}

#[test]
fn garbage_that_cannot_be_deleted_waits_and_nothing_is_due_behind_it() {
    let retired = retired();
    let later = retired.due().unwrap() + 60;
    let put_off = retired.put_off_with_garbage(later, None);
    assert_eq!((put_off.due(), put_off.next), (Some(later), None));
    assert_eq!(put_off.cleaned(&put_off.garbage).due(), None);
    let waiting = candidate().put_off_with_garbage(9_000, None);
    assert_eq!(waiting.due(), Some(9_000));
}

const GOLDEN: &str = include_str!("../../golden/record.txt");

#[test]
fn the_record_is_written_and_read_as_it_always_was() {
    let checkpoint =
        Checkpoint { attempt: 1, phase: Phase::Plan, target: 0, digest: Digest::default(), time: 1 };
    let begun = candidate().claimed(KEY, AT).behind(7, AT).checkpointed(checkpoint, Some(Profile::default()));
    let record = planned(&begun).failed(Why::new(Reason::Mismatch, "no"), AT);
    let written: String =
        [&begun, &record].map(|record| format!("{}\n", serde_json::to_string(record).unwrap())).concat();
    assert_eq!(written, GOLDEN);
    let read: Vec<Record> = GOLDEN.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, [begun, record.clone()]);
    assert_eq!(record.id().unwrap().to_string(), "data_20260328/7/2/hot");
}

/// A packed split whose origin gained a row, and which is made anew as rows.
fn made_anew() -> Record {
    let plan = Plan {
        strategy: Strategy::TimeRange { boundaries: vec![250] },
        packing: Some(Packing { chunk_bytes: 65_536, codec: ChunkCodec::Zstd }),
        capped: false,
        because: "by time",
        layout_because: "packed",
    };
    let shape = ShapeSpec::default().freeze().unwrap();
    let planned = candidate().claimed(KEY, AT).planned(Digest::default(), &plan, &shape, AT);
    let done = planned.goes_on(State::Copying, AT).goes_on(State::Verifying, AT).completed(None, AT);
    done.retiring_to_begin_again(Some(TargetLayout::Rows), Why::new(Reason::Straggler, "late"), AT)
}

#[test]
fn one_that_is_made_anew_begins_again_once_nobody_reads_its_targets() {
    let retiring = made_anew();
    let retired = retiring.retired(AT);
    assert_eq!((retired.state, retired.next, retired.garbage.len()), (State::Retired, Some(AT.now), 1));
    let again = retired.begins_again(AT);
    assert_eq!((again.state, again.again, again.due()), (State::Candidate, false, Some(AT.now)));
    assert_eq!(again.asked_layout, Some(TargetLayout::Rows));
    assert_eq!(again.claimed(KEY, AT).attempt, 2);
    let by_hand = retiring.retired(AT).wanted_again(None, Why::new(Reason::ByHand, "now"), AT).unwrap();
    assert!(!by_hand.again, "it is not begun twice");
}

const PACKED: &str = include_str!("../../golden/record-packed.txt");

#[test]
fn the_record_of_a_packed_split_is_written_and_read_as_it_always_was() {
    let record = made_anew();
    assert_eq!(format!("{}\n", serde_json::to_string(&record).unwrap()), PACKED);
    assert_eq!(serde_json::from_str::<Record>(PACKED.trim_end()).unwrap(), record);
    let post = record.post_split_data.unwrap();
    assert_eq!(post.packing(), Some(Packing { chunk_bytes: 65_536, codec: ChunkCodec::Zstd }));
}
