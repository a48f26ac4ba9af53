//! A split on the wire: every name of the contract, and nothing secret.

use ::split::{
    Checkpoint, DigestKey, Garbage, Moment, Origin, Plan, Reason, SplitId, State, Strategy as Spread,
};
use model::{NamespaceName, PartitionKey, SeriesId, ShapeSpec};
use prost::{Message, Name};
use serde_json::{Value, json};

use super::*;
use crate::json::Codec;

const AT: Moment<'static> = Moment { now: 1_774_700_000_000_000_000, server: "s1" };
const KEY: [u8; 32] = [0xA7; 32];

fn sum(rows: u64, checksum: u128) -> Digest {
    Digest { rows, bytes: rows * 100, checksum, first: None, last: None }
}

fn planned(strategy: Spread) -> Record {
    let series = SeriesId::new("profileId:123").unwrap();
    let id = SplitId {
        namespace: NamespaceName::new("plays").unwrap(),
        incarnation: 1,
        time_slice: "data_20260328".to_owned(),
        partition: PartitionKey { series, time_bucket: 7, event_bucket: 2 },
    };
    let origin = Origin { id, end: 1_774_684_800_000_000_000, bytes_read: Some(20_000_000) };
    let plan = Plan {
        strategy,
        packing: None,
        capped: true,
        because: "it is mostly read whole",
        layout_because: "",
    };
    let shape = ShapeSpec::default().freeze().unwrap();
    Record::candidate(origin, true, Some(Why::new(Reason::ByHand, "asked for")), AT)
        .claimed(DigestKey::new(KEY), AT)
        .planned(sum(70, 0xAB), &plan, &shape, AT)
}

fn shown(record: Record) -> (v1::Split, String) {
    let id = record.id().unwrap().to_string();
    let split = split_to_wire(Split { id, record, etag: "e7".to_owned() });
    let codec = Codec::new(crate::DESCRIPTORS).unwrap();
    let json = codec.message_to_json(&v1::Split::full_name(), &split.encode_to_vec()).unwrap();
    (split, String::from_utf8(json).unwrap())
}

#[test]
fn a_split_under_way_has_the_names_of_the_contract() {
    let boundaries = vec![1_774_684_000_000_000_000, 1_774_684_400_000_000_001];
    let checkpoint =
        Checkpoint { attempt: 1, phase: Phase::Copy, target: 3, digest: sum(9, 1), time: AT.now + 5 };
    let record =
        planned(Spread::TimeRange { boundaries }).goes_on(State::Copying, AT).checkpointed(checkpoint, None);
    let (_, text) = shown(record);
    let time = "2026-03-28T12:13:20Z";
    let begun =
        |state: &str, attempt: u32| json!({"state": state, "time": time, "server": "s1", "attempt": attempt});
    let expect = json!({
        "id": "data_20260328/7/2/profileId:123",
        "state": "COPYING",
        "attempt": 1,
        "capped": true,
        "covered_until": "2026-03-28T08:00:00Z",
        "pre_split_data": {
            "time_slice": "data_20260328",
            "time_series_id": "profileId:123",
            "time_bucket": 7,
            "event_bucket": 2,
            "digest": {"rows": "70", "bytes": "7000", "checksum": format!("{:032x}", 0xAB)},
            "bytes_read": "20000000",
        },
        "post_split_data": {
            "time_slice": "wide_data_20260328_0",
            "layout": "rows",
            "time_range_partition_strategy": {
                "boundaries": ["2026-03-28T07:46:40Z", "2026-03-28T07:53:20.000000001Z"],
                "start_event_bucket": 32,
            },
            "strategy_reason": "it is mostly read whole",
        },
        "checkpoint": {
            "attempt": 1,
            "phase": "COPY",
            "target": 3,
            "rows": "9",
            "bytes": "900",
            "time": "2026-03-28T12:13:20.000000005Z",
        },
        "transitions": [
            {"state": "CANDIDATE", "time": time, "server": "s1", "reason": {"code": "BY_HAND", "message": "asked for"}},
            begun("PLANNING", 1),
            begun("PLANNED", 1),
            begun("COPYING", 1),
        ],
        "namespace": "plays",
        "owner": "s1",
        "next_look": time,
        "by_hand": true,
        "etag": "e7",
    });
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expect, "{text}");
}

#[test]
fn a_completed_split_has_both_sides_and_its_rechecks() {
    let partition =
        TargetPartition { event_bucket: 32, rows: 35, bytes: 3_500, stored_rows: 34, stored_bytes: 9_000 };
    let recheck = Recheck { time: AT.now + 1, origin: sum(70, 0xAC), equal: false };
    let garbage = Garbage { start_event_bucket: 96, targets: 2, after: AT.now };
    let record = planned(Spread::EventBucket { target_event_buckets: 2 })
        .goes_on(State::Copying, AT)
        .goes_on(State::Verifying, AT)
        .read_back(sum(70, 0xAB), vec![partition])
        .completed(None, AT)
        .rechecked(recheck, 3, None);
    let (split, _) = shown(Record { garbage: vec![garbage], ..record });
    let post = split.post_split_data.unwrap();
    let by_hash = v1::EventBucketPartitionStrategy { target_event_buckets: 2, start_event_bucket: 32 };
    assert_eq!(post.strategy, Some(Strategy::EventBucketPartitionStrategy(by_hash)));
    assert_eq!(post.digest, split.pre_split_data.unwrap().digest);
    let expect =
        v1::SplitPartition { event_bucket: 32, rows: 35, bytes: 3_500, stored_rows: 34, stored_bytes: 9_000 };
    assert_eq!(post.partitions, [expect]);
    assert_eq!((split.state.as_str(), split.rechecked, split.stragglers), ("COMPLETED", 1, 3));
    let found = split.rechecks[0].clone();
    assert_eq!((found.equal, found.origin.unwrap().checksum), (false, format!("{:032x}", 0xAC)));
    let delete_after = Some(timestamp_to_wire(AT.now));
    assert_eq!(split.garbage, [v1::SplitGarbage { start_event_bucket: 96, targets: 2, delete_after }]);
    assert_eq!((split.checkpoint, split.owner.as_str()), (None, ""));
}

#[test]
fn a_failure_names_the_first_row_that_differs() {
    let key = Key { event_time: 5, event_id: "e1".to_owned(), item_key: "k".to_owned() };
    let why = Why { key: Some(key), ..Why::new(Reason::Mismatch, "copies differ") };
    let (split, _) = shown(planned(Spread::EventBucket { target_event_buckets: 2 }).failed(why, AT));
    let reason = split.reason.unwrap();
    assert_eq!((reason.code.as_str(), reason.message.as_str()), ("MISMATCH", "copies differ"));
    let key = reason.key.unwrap();
    assert_eq!((key.event_time.unwrap().nanos, key.event_id.as_str()), (5, "e1"));
    assert_eq!((key.event_item_key.as_str(), split.failures, split.state.as_str()), ("k", 1, "FAILED"));
    assert!(split.next_look.is_some());
}

#[test]
fn the_key_of_the_digests_is_never_shown() {
    let record = planned(Spread::EventBucket { target_event_buckets: 2 });
    let secret = record.digest_key.clone().unwrap();
    assert_eq!(secret, "a7".repeat(32));
    let (split, text) = shown(record);
    assert!(!text.contains(&secret) && !format!("{split:?}").contains(&secret));
    assert!(!split.encode_to_vec().windows(32).any(|bytes| bytes == KEY));
}

#[test]
fn a_summary_and_wide_partitions_are_shown_as_they_are() {
    let all = SplitSummary {
        states: vec![(State::Completed, 3), (State::Failed, 1)],
        origin_bytes: 5,
        doubled_bytes: 6,
        largest_origin_bytes: 4,
        largest_target_bytes: 2,
        paused: true,
    };
    let shown = summary(&all);
    let states: Vec<_> = shown.states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
    assert_eq!(states, [("COMPLETED", 3), ("FAILED", 1)]);
    let bytes =
        (shown.origin_bytes, shown.doubled_bytes, shown.largest_origin_bytes, shown.largest_target_bytes);
    assert_eq!((bytes, shown.paused), ((5, 6, 4, 2), true));
    let partition = PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 1, event_bucket: 2 };
    let wide = WidePartition { table: "data_1".to_owned(), partition, bytes: 9, state: Some(State::Planned) };
    let expect = v1::WidePartition {
        time_slice: "data_1".to_owned(),
        time_series_id: "s".to_owned(),
        time_bucket: 1,
        event_bucket: 2,
        bytes: 9,
        split_state: "PLANNED".to_owned(),
    };
    assert_eq!(wide_to_wire(wide.clone()), expect);
    let without = WidePartition { state: None, ..wide };
    assert_eq!(wide_to_wire(without), v1::WidePartition { split_state: String::new(), ..expect });
}
