//! Splits as people see them.

use api::admin::v1::{
    EventBucketPartitionStrategy, SplitCheckpoint, SplitDigest, SplitGarbage, SplitPartition, SplitRecheck,
    SplitRowKey, SplitTransition, TimeRangePartitionStrategy,
};

use super::progress::{Progress, ProgressRecord, ended};
use super::*;

const NOON: i64 = 1_778_500_800;

fn at(seconds: i64) -> Option<prost_types::Timestamp> {
    Some(prost_types::Timestamp { seconds, nanos: 0 })
}

fn now() -> Timestamp {
    Timestamp::new(NOON + 100, 0).unwrap()
}

fn digest(rows: i64, last: char) -> Option<SplitDigest> {
    Some(SplitDigest { rows, bytes: rows << 10, checksum: format!("{}{last}", "0".repeat(31)) })
}

fn reason(code: &str) -> Option<SplitReason> {
    let key = SplitRowKey { event_time: at(NOON), event_id: "e1".to_owned(), event_item_key: "k".to_owned() };
    Some(SplitReason { code: code.to_owned(), message: "so it is".to_owned(), key: Some(key) })
}

fn began(state: &str, after: i64, attempt: u32) -> SplitTransition {
    let (state, time, server) = (state.to_owned(), at(NOON + after), "0123456789abcdef".to_owned());
    SplitTransition { state, time, server, attempt, reason: None }
}

/// Found by a read, waiting.
fn candidate() -> Split {
    Split {
        id: "data_20260511/7/2/user:7".to_owned(),
        state: "CANDIDATE".to_owned(),
        namespace: "plays".to_owned(),
        covered_until: at(NOON - 3_600),
        pre_split_data: Some(PreSplitData {
            time_slice: "data_20260511".to_owned(),
            time_series_id: "user:7".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            digest: None,
            bytes_read: 17 << 20,
        }),
        transitions: vec![began("CANDIDATE", 0, 0)],
        next_look: at(NOON + 600),
        etag: "e9".to_owned(),
        ..Split::default()
    }
}

/// Two targets, one of them read back.
fn verifying() -> Split {
    let waiting = candidate();
    let pre = waiting.pre_split_data.clone().map(|pre| PreSplitData { digest: digest(65_536, 'a'), ..pre });
    let by_hash = EventBucketPartitionStrategy { target_event_buckets: 2, start_event_bucket: 32 };
    let target = SplitPartition {
        event_bucket: 32,
        rows: 30_000,
        bytes: 32 << 20,
        stored_rows: 30_000,
        stored_bytes: 33 << 20,
    };
    let checkpoint = SplitCheckpoint {
        attempt: 1,
        phase: "VERIFY_TARGETS".to_owned(),
        target: 1,
        rows: 1_000,
        bytes: 16 << 20,
        time: at(NOON + 97),
    };
    Split {
        state: "VERIFYING".to_owned(),
        attempt: 1,
        pre_split_data: pre,
        post_split_data: Some(PostSplitData {
            time_slice: "wide_data_20260511_0".to_owned(),
            layout: "rows".to_owned(),
            strategy: Some(Strategy::EventBucketPartitionStrategy(by_hash)),
            digest: digest(30_000, 'b'),
            partitions: vec![target],
            strategy_reason: "it is mostly read whole".to_owned(),
            ..PostSplitData::default()
        }),
        checkpoint: Some(checkpoint),
        transitions: vec![
            began("CANDIDATE", 0, 0),
            began("PLANNING", 60, 1),
            began("PLANNED", 62, 1),
            began("COPYING", 62, 1),
            began("VERIFYING", 90, 1),
        ],
        owner: "s1".to_owned(),
        ..waiting
    }
}

fn completed() -> Split {
    let before = verifying();
    let mut post = before.post_split_data.clone().unwrap();
    post.digest = digest(65_536, 'a');
    post.partitions.push(SplitPartition { event_bucket: 33, bytes: 31 << 20, ..post.partitions[0] });
    let mut transitions = before.transitions.clone();
    transitions.push(began("COMPLETED", 95, 1));
    Split {
        state: "COMPLETED".to_owned(),
        checkpoint: None,
        owner: String::new(),
        post_split_data: Some(post),
        transitions,
        ..before
    }
}

fn row(split: &Split) -> String {
    let record = SplitRecord { split, now: now() };
    assert_eq!(record.row().len(), SplitRecord::COLUMNS.len());
    assert_eq!(record.lines().concat().len(), SplitRecord::FIELDS.len());
    record.row().join(" | ")
}

#[test]
fn a_row_says_how_large_how_far_and_why() {
    assert_eq!(row(&candidate()), "data_20260511/7/2/user:7 | CANDIDATE | 0 | >= 17.0 MiB |  | 1m40s | ");
    assert_eq!(
        row(&verifying()),
        "data_20260511/7/2/user:7 | VERIFYING 75% | 1 | 64.0 MiB | 2 up to 32.0 MiB | 10s | "
    );
    assert_eq!(
        row(&Split { capped: true, reason: reason("MISMATCH"), ..completed() }),
        "data_20260511/7/2/user:7 | COMPLETED | 1 | 64.0 MiB | 2 up to 32.0 MiB, capped | 5s | MISMATCH: so it is"
    );
    assert_eq!(row(&Split::default()), " |  | 0 |  |  |  | ");
    let completed = completed();
    let lines = SplitRecord { split: &completed, now: now() }.lines().concat().join(",");
    let expect = "data_20260511/7/2/user:7,COMPLETED,1,false,data_20260511,user:7,7,2,65536,67108864,2,33554432,\
                  2026-05-11T12:01:35Z,,";
    assert_eq!(lines, expect);
}

#[test]
fn progress_is_that_of_the_step() {
    let said = |phase: &str, target, bytes| {
        let mut split = verifying();
        let checkpoint = split.checkpoint.clone().unwrap();
        split.checkpoint = Some(SplitCheckpoint { phase: phase.to_owned(), target, bytes, ..checkpoint });
        Progress::of(&split).map(|progress| progress.to_string())
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(said("PLAN", 0, 5 << 20), text("reading the origin: 5.0 MiB"));
    assert_eq!(said("COPY", 0, 16 << 20), text("copying: 16.0 MiB of 64.0 MiB, 25%"));
    assert_eq!(
        said("VERIFY_TARGETS", 0, 1 << 20),
        text("reading target 1 of 2 back: 1.0 MiB of 64.0 MiB, 1%")
    );
    assert_eq!(
        said("VERIFY_TARGETS", 1, 16 << 20),
        text("reading target 2 of 2 back: 48.0 MiB of 64.0 MiB, 75%")
    );
    assert_eq!(said("VERIFY_TARGETS", 2, 0), text("reading target 2 of 2 back: 32.0 MiB of 64.0 MiB, 50%"));
    assert_eq!(
        said("VERIFY_ORIGIN", 0, 99 << 20),
        text("reading the origin again: 64.0 MiB of 64.0 MiB, 100%")
    );
    assert_eq!(said("NEW", 0, 1), None);
    // What another attempt left says nothing of this one.
    assert_eq!(Progress::of(&Split { attempt: 2, ..verifying() }), None);
}

#[test]
fn a_watch_says_what_changed_and_ends_as_the_split_does() {
    let said = |split: &Split| {
        let record = ProgressRecord { split, time: prost_types::Timestamp { seconds: NOON, nanos: 5 } };
        assert_eq!(record.row().len(), ProgressRecord::COLUMNS.len());
        assert_eq!(record.lines().concat().len(), ProgressRecord::FIELDS.len());
        record.row()[2..].join(": ")
    };
    assert_eq!(said(&candidate()), "CANDIDATE: waits for closed time and a worker");
    assert_eq!(said(&verifying()), "VERIFYING: reading target 2 of 2 back: 48.0 MiB of 64.0 MiB, 75%");
    assert_eq!(said(&completed()), "COMPLETED: 64.0 MiB into 2 up to 32.0 MiB");
    let end = |state: &str, code: &str| {
        let reason = reason(code).filter(|_| !code.is_empty());
        ended(&Split { state: state.to_owned(), reason, ..Split::default() })
    };
    for under_way in ["CANDIDATE", "PLANNING", "PLANNED", "COPYING", "VERIFYING", "RETIRING"] {
        assert_eq!(end(under_way, "NOT_CLOSED"), None, "{under_way}");
    }
    assert_eq!(
        [end("COMPLETED", ""), end("RETIRED", "BY_HAND"), end("RETIRED", "MISMATCH")],
        [Some(0), Some(0), Some(8)]
    );
    assert_eq!(
        [end("FAILED", "MISMATCH"), end("FAILED", "MISPLACED"), end("FAILED", "STORE")],
        [Some(8), Some(8), Some(5)]
    );
    assert_eq!([end("REJECTED", "NOT_WIDE"), end("EXPIRED", "SLICE_GONE")], [Some(5), Some(5)]);
}

#[test]
fn the_story_of_a_split_under_way() {
    let expect = "\
id         data_20260511/7/2/user:7
namespace  plays
state      VERIFYING for 10s, attempt 1
origin     data_20260511, time bucket 7, event bucket 2
series     user:7
found      a read had read 17.0 MiB of it
plan       2 targets by event_bucket, layout rows, in wide_data_20260511_0 from event bucket 32 on
because    it is mostly read whole
covers     all events before 2026-05-11T11:00:00Z
progress   reading target 2 of 2 back: 48.0 MiB of 64.0 MiB, 75%, 3s ago
worker     s1
next look  2026-05-11T12:10:00Z
etag       e9

SIDE     ROWS   BYTES     CHECKSUM
origin   65536  67108864  0000000000000000000000000000000a
targets  30000  30720000  0000000000000000000000000000000b

TARGET  ROWS   BYTES     STORED ROWS  STORED BYTES  FROM
32      30000  32.0 MiB  30000        33.0 MiB

WHEN                  STATE      TOOK        ATTEMPT  SERVER    WHY
2026-05-11T12:00:00Z  CANDIDATE  60.00 s     0        01234567
2026-05-11T12:01:00Z  PLANNING   2.00 s      1        01234567
2026-05-11T12:01:02Z  PLANNED    0 us        1        01234567
2026-05-11T12:01:02Z  COPYING    28.00 s     1        01234567
2026-05-11T12:01:30Z  VERIFYING  10s so far  1        01234567
";
    assert_eq!(story(&verifying(), now(), None), expect);
}

#[test]
fn the_story_of_one_that_differs_by_time_and_in_the_end() {
    let mut split = completed();
    let by_time =
        TimeRangePartitionStrategy { boundaries: vec![at(NOON - 4_000).unwrap()], start_event_bucket: 32 };
    if let Some(post) = &mut split.post_split_data {
        post.strategy = Some(Strategy::TimeRangePartitionStrategy(by_time));
    }
    let recheck = |equal, last| SplitRecheck { time: at(NOON + 99), origin: digest(65_536, last), equal };
    let differs = Split {
        state: "FAILED".to_owned(),
        capped: true,
        by_hand: true,
        failures: 5,
        stragglers: 1,
        next_look: None,
        reason: reason("MISMATCH"),
        rechecks: vec![recheck(true, 'a'), recheck(false, 'c')],
        garbage: vec![SplitGarbage { start_event_bucket: 32, targets: 2, delete_after: at(NOON + 700) }],
        ..split
    };
    let text = story(&differs, now(), None);
    for line in [
        "state       FAILED for 5s, attempt 1, parked: `braid split retry` tries it again",
        "found       by hand",
        "plan        2 targets by time_range, layout rows, in wide_data_20260511_0 from event bucket 32 on, capped: more \
         bytes than they should have",
        "reason      MISMATCH: so it is",
        "reason      first difference: event e1 at 2026-05-11T12:00:00Z, item k",
        "failures    5 in a row",
        "stragglers  1 row came late, copied after it",
        "to delete   2 targets from event bucket 32 on, after 2026-05-11T12:11:40Z",
        "33      30000  31.0 MiB  30000        33.0 MiB      2026-05-11T10:53:20Z",
        "2026-05-11T12:01:39Z  equal      65536  67108864  0000000000000000000000000000000a",
        "2026-05-11T12:01:39Z  NOT EQUAL  65536  67108864  0000000000000000000000000000000c",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    let (text, equal) = compared(&differs, None).unwrap();
    assert!(!equal && text.contains("NOT EQUAL\nMISMATCH: so it is\nfirst difference: event e1"), "{text}");
    assert!(!text.contains("targets"), "{text}");
}

#[test]
fn a_comparison_shows_both_sides() {
    assert_eq!(compared(&completed(), None), None);
    let recheck = SplitRecheck { time: at(NOON), origin: digest(65_536, 'a'), equal: true };
    let expect = "\
SIDE     ROWS   BYTES     CHECKSUM
origin   65536  67108864  0000000000000000000000000000000a
targets  65536  67108864  0000000000000000000000000000000a
equal
";
    let equal = Split { rechecks: vec![recheck], ..completed() };
    assert_eq!(compared(&equal, None), Some((expect.to_owned(), true)));
}

#[test]
fn all_splits_are_summed_up_in_a_line() {
    assert_eq!(summed_up(&SplitSummary::default()), "no splits\n");
    let summary = SplitSummary {
        states: [("COMPLETED".to_owned(), 2), ("FAILED".to_owned(), 1)].into(),
        origin_bytes: 128 << 20,
        doubled_bytes: 130 << 20,
        largest_origin_bytes: 64 << 20,
        largest_target_bytes: 4 << 20,
        paused: true,
    };
    assert_eq!(
        summed_up(&summary),
        "3 splits: 2 COMPLETED, 1 FAILED; 128.0 MiB split, the largest partition of 64.0 MiB into ones of 4.0 MiB at \
         most; 130.0 MiB are kept twice; paused, `braid split resume` lets workers go on\n"
    );
}

#[test]
fn a_wide_partition_has_the_id_of_its_split() {
    let wide = WidePartition {
        time_slice: "data_20260511".to_owned(),
        time_series_id: "user:7\u{1b}".to_owned(),
        time_bucket: 7,
        event_bucket: 2,
        bytes: 17 << 20,
        split_state: "COMPLETED".to_owned(),
    };
    let record = WideRecord(&wide);
    assert_eq!(record.row().join(" "), "data_20260511/7/2/user:7\\u{1b} 17.0 MiB COMPLETED");
    assert_eq!(record.lines().concat().join(","), "data_20260511,user:7\u{1b},7,2,17825792,COMPLETED");
    assert_eq!(record.lines().concat().len(), WideRecord::FIELDS.len());
    assert_eq!(record.row().len(), WideRecord::COLUMNS.len());
    let steered = SteeredRecord("plays");
    let json = steered.json(&Json::new().unwrap()).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), r#"{"namespace":"plays"}"#);
}
