//! Which splits an export can prove, and which not.

use super::super::testing::{Server, error, table};
use super::*;
use api::convert::timestamp_to_wire;

const HOUR: i64 = 3_600_000_000_000;
const SLICE: i64 = 1_774_656_000_000_000_000;

fn split(id: &str) -> admin::ExportedSplit {
    let digest = Some(admin::SplitDigest { rows: 4, bytes: 92, checksum: "0f".repeat(16) });
    let by_time = admin::TimeRangePartitionStrategy {
        boundaries: vec![timestamp_to_wire(SLICE + 7 * HOUR + 1)],
        start_event_bucket: 32,
    };
    let split = admin::Split {
        id: id.to_owned(),
        state: COMPLETED.to_owned(),
        attempt: 1,
        covered_until: Some(timestamp_to_wire(SLICE + 8 * HOUR)),
        pre_split_data: Some(admin::PreSplitData {
            time_slice: "data_20260328".to_owned(),
            time_series_id: "hot".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            digest: digest.clone(),
            bytes_read: 0,
        }),
        post_split_data: Some(admin::PostSplitData {
            time_slice: "wide_data_20260328_0".to_owned(),
            layout: "rows".to_owned(),
            strategy: Some(Strategy::TimeRangePartitionStrategy(by_time)),
            digest,
            partitions: vec![admin::SplitPartition {
                event_bucket: 32,
                rows: 4,
                bytes: 92,
                stored_rows: 2,
                stored_bytes: 70,
            }],
            ..Default::default()
        }),
        ..Default::default()
    };
    admin::ExportedSplit { split: Some(split), digest_key: "01".repeat(32) }
}

fn lines(splits: Vec<admin::ExportedSplit>, times: (i64, i64)) -> (Vec<SplitLine>, Vec<String>) {
    let (lines, left_out) = provable(splits, &[table()], times).unwrap();
    (lines, left_out.into_iter().map(|left| format!("{}: {}", left.name, left.reason)).collect())
}

#[test]
fn a_split_says_all_that_a_comparison_needs() {
    let (lines, left_out) = lines(vec![split("a")], (SLICE, SLICE + 24 * HOUR));
    assert!(left_out.is_empty(), "{left_out:?}");
    let check = &lines[0].check;
    assert_eq!((check.strategy.as_str(), check.targets, check.start_event_bucket), ("time_range", 2, 32));
    assert_eq!(
        (check.boundaries.as_slice(), check.covered_until),
        (&[SLICE + 7 * HOUR + 1][..], SLICE + 8 * HOUR)
    );
    assert_eq!((check.digest.rows, check.digest_key.len(), check.slice_start), (4, 64, SLICE));
    let target = &check.partitions[0];
    assert_eq!((target.rows, target.bytes, target.stored_rows, target.stored_bytes), (4, 92, 2, 70));
    assert!(
        lines[0].split.get().starts_with(r#"{"id":"a","state":"COMPLETED","attempt":1,"#),
        "{}",
        lines[0].split
    );
    let mut by_hash = split("b");
    let post = by_hash.split.as_mut().unwrap().post_split_data.as_mut().unwrap();
    post.strategy = Some(Strategy::EventBucketPartitionStrategy(admin::EventBucketPartitionStrategy {
        target_event_buckets: 3,
        start_event_bucket: 16,
    }));
    let (lines, _) = lines_of(by_hash);
    let check = &lines[0].check;
    assert_eq!((check.strategy.as_str(), check.targets, check.boundaries.len()), ("event_bucket", 3, 0));
}

#[test]
fn a_packed_split_says_how_it_is_cut_and_compressed() {
    let how = |line: &SplitLine| (line.check.chunk_bytes, line.check.codec.clone());
    assert_eq!(how(&lines_of(split("rows")).0[0]), (None, None));
    for (chunk_bytes, codec) in [(65_536, "zstd"), (0, "none")] {
        let mut packed = split("a");
        let post = packed.split.as_mut().unwrap().post_split_data.as_mut().unwrap();
        post.layout = "packed".to_owned();
        (post.chunk_bytes, post.codec) = (chunk_bytes, codec.to_owned());
        let (lines, _) = lines_of(packed);
        assert_eq!(how(&lines[0]), (Some(chunk_bytes.unsigned_abs()), Some(codec.to_owned())));
    }
}

fn lines_of(split: admin::ExportedSplit) -> (Vec<SplitLine>, Vec<String>) {
    lines(vec![split], (SLICE, SLICE + 24 * HOUR))
}

#[test]
fn what_cannot_be_proven_is_left_out_with_the_reason() {
    let cut = "a: the exported time does not hold all of its time bucket";
    for times in [(SLICE + 7 * HOUR + 1, SLICE + 8 * HOUR), (SLICE, SLICE + 8 * HOUR - 1)] {
        assert_eq!(lines(vec![split("a")], times).1, [cut]);
    }
    assert_eq!(lines(vec![split("a")], (SLICE + 7 * HOUR, SLICE + 8 * HOUR)).1, [""; 0]);
    let mut retired = split("a");
    retired.split.as_mut().unwrap().state = "RETIRED".to_owned();
    assert_eq!(lines_of(retired).1, ["a: it is RETIRED"]);
    let mut elsewhere = split("a");
    elsewhere.split.as_mut().unwrap().pre_split_data.as_mut().unwrap().time_slice = "data_1".to_owned();
    assert_eq!(lines_of(elsewhere).1, ["a: its slice is not among what is exported"]);
    let mut half = split("a");
    half.split.as_mut().unwrap().post_split_data = None;
    assert_eq!(lines_of(half).1, ["a: its record lacks what a comparison needs"]);
}

#[test]
fn a_split_that_changed_meanwhile_is_left_out() {
    let before = || lines(vec![split("a"), split("b")], (SLICE, SLICE + 24 * HOUR)).0;
    let mut later = split("b");
    later.split.as_mut().unwrap().attempt = 2;
    let after = lines(vec![later, split("a")], (SLICE, SLICE + 24 * HOUR)).0;
    let (same, changed) = unchanged(before(), &after);
    assert_eq!(same.iter().map(|line| line.check.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(changed[0].name, "b");
    assert_eq!(unchanged(before(), &[]).1.len(), 2);
}

#[tokio::test]
async fn splits_that_are_gone_do_not_take_the_others_with_them() {
    let server = Server { splits: vec![split("a"), split("c")], ..Server::default() };
    let ids = ["a", "b", "c"].map(str::to_owned);
    let wanted = Wanted { namespace: "plays", ids: &ids, slices: &[], series: &[] };
    // Before the first row that is a mistake of whoever named it.
    let refused = fetch(&server, &wanted).await.unwrap_err();
    assert!(
        matches!(&refused, Failure::Call(found) if *found == error("NOT_FOUND", Some("SPLIT_NOT_FOUND")))
    );
    let left = fetch_left(&server, &wanted).await.unwrap();
    let names: Vec<_> = left.into_iter().filter_map(|split| Some(split.split?.id)).collect();
    assert_eq!(names, ["a", "c"]);
    let gone = Server::default();
    assert!(fetch_left(&gone, &wanted).await.unwrap().is_empty());
}
