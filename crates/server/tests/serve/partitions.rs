//! Sizes of partitions through the wire.

use api::admin::v1 as admin;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, at, event};
use crate::home::backend;

const DAY: i64 = 86_400;

async fn ask(
    fixture: &Fixture,
    table: &str,
    measure: bool,
) -> Result<Vec<admin::PartitionHistogram>, CallError> {
    let request = admin::GetPartitionHistogramRequest {
        namespace: NAMESPACE.to_owned(),
        table: table.to_owned(),
        measure,
    };
    Ok(fixture.client.partition_histogram(request).await?.histograms)
}

/// Two slices: four partitions in the first, one in the second.
async fn written() -> Fixture {
    let fixture = Fixture::with_namespace().await;
    let small = ["a", "b", "c"].map(|series| event(series, 10, &[7; 100]));
    fixture.write(small.to_vec()).await;
    fixture.write(vec![event("large", 10, &[7; 100_000]), event("late", DAY, b"v")]).await;
    fixture
}

#[tokio::test]
async fn measured_sizes_are_exact_and_come_slice_by_slice() {
    let fixture = written().await;
    let found = ask(&fixture, "", true).await.unwrap();
    let tables: Vec<_> = found.iter().map(|one| (one.table.as_str(), one.start.unwrap())).collect();
    assert_eq!(tables, [("data_19700101", at(0)), ("data_19700102", at(DAY))]);
    let first = &found[0];
    assert_eq!((first.quality.as_str(), first.source.as_str(), first.nodes_missing), ("EXACT", "scan", 0));
    assert_eq!(first.partitions, 4);
    // Time, event id, item key and value; percentiles are at most an eighth above.
    let (small, large) = (8 + 3 + 1 + 100, 8 + 3 + 1 + 100_000);
    assert_eq!(first.max, large);
    assert!((small * 7 / 8..=small).contains(&first.min), "{first:?}");
    assert!((small..=small * 9 / 8).contains(&first.p50) && first.p75 == first.p50, "{first:?}");
    assert_eq!([first.p95, first.p98, first.p99], [large; 3]);
    let buckets: Vec<_> = first.buckets.iter().map(|bucket| bucket.partitions).collect();
    assert_eq!(buckets, [3, 1]);
    assert!(first.buckets[1].bytes_max >= large);
    assert!(first.observed.unwrap().seconds > 0);
    assert_eq!(ask(&fixture, "data_19700102", true).await.unwrap()[0].partitions, 1);
}

#[tokio::test]
async fn what_is_known_without_reading_says_how_good_it_is() {
    let fixture = written().await;
    let known = async || {
        let found = ask(&fixture, "data_19700101", false).await.unwrap();
        assert_eq!(found.len(), 1);
        (found[0].quality.clone(), found[0].source.clone(), found[0].partitions)
    };
    let (quality, source, partitions) = known().await;
    match backend() {
        // How many are in files by now only the node knows.
        "cassandra" => assert_eq!((&*quality, &*source), ("PER_FILE", "jolokia")),
        _ => assert_eq!((&*quality, &*source, partitions), ("ESTIMATED", "counters", 4)),
    }
    ask(&fixture, "data_19700101", true).await.unwrap();
    let (quality, source, _) = known().await;
    match backend() {
        // Another server may write the next moment, so nothing measured is kept as true.
        "cassandra" => assert_eq!((&*quality, &*source), ("PER_FILE", "jolokia")),
        _ => assert_eq!((&*quality, &*source), ("EXACT", "scan")),
    }
}

#[tokio::test]
async fn a_slice_that_is_not_there_is_not_found() {
    let fixture = written().await;
    for table in ["data_19700103", "nothing", "a\nb"] {
        let error = ask(&fixture, table, false).await.unwrap_err();
        assert_eq!((error.code, error.reason.as_deref()), ("NOT_FOUND", Some("SLICE_NOT_FOUND")));
        assert!(error.message.contains("list its slices"), "{}", error.message);
    }
    let nobody = admin::GetPartitionHistogramRequest { namespace: "nobody".to_owned(), ..Default::default() };
    let error = fixture.client.partition_histogram(nobody).await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("NAMESPACE_NOT_FOUND"));
}
