//! Histograms by CQL alone: what the node estimates, and nothing better than that.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use model::{HistogramQuality, PartitionKey, Row, SeriesId};
use store::Effort;
use store::conformance::{Fixture, row};
use store_cassandra::{HistogramOptions, Options, SourceChoice};

use crate::{node, tool};

/// Cassandra counts partitions in steps of 128.
const PARTITIONS: u64 = 640;
const VALUE_BYTES: usize = 3_000;

fn of(series: u64) -> PartitionKey {
    PartitionKey { series: SeriesId::new(&format!("s{series}")).unwrap(), time_bucket: 0, event_bucket: 0 }
}

#[tokio::test(flavor = "multi_thread")]
async fn by_cql_a_histogram_is_what_the_node_estimates_of_its_files() {
    let _alone = tool::alone().await;
    let histograms = HistogramOptions { source: SourceChoice::Cql, ..HistogramOptions::default() };
    let options = Options { histograms, ..node::options().await };
    let fixture = Fixture::new(Arc::new(node::connect_with(options).await.unwrap()));
    let table = fixture.made(1).await;
    let rows = [Row { value: Bytes::from(vec![7; VALUE_BYTES]), ..row(5, "e", "i", "") }];
    let writes = (0..PARTITIONS).map(|series| {
        let (fixture, table, rows) = (&fixture, &table, &rows);
        async move { fixture.write(table, &of(series), rows).await }
    });
    stream::iter(writes).buffer_unordered(32).collect::<()>().await;

    let cheap = fixture.store.histogram(&table, Effort::Cheap).await.unwrap();
    assert_eq!(cheap.quality, HistogramQuality::Estimated);
    assert_eq!(cheap.sizes.count(), 0, "there is no file yet");

    tool::nodetool(&["flush", &node::keyspace(&table)]);
    tool::nodetool(&["refreshsizeestimates"]);
    let cheap = fixture.store.histogram(&table, Effort::Cheap).await.unwrap();
    assert_eq!(cheap.quality, HistogramQuality::Estimated);
    let (count, median) = (cheap.sizes.count(), cheap.sizes.percentile(50));
    assert!((PARTITIONS / 2..=PARTITIONS * 2).contains(&count), "{count} partitions");
    let bytes = VALUE_BYTES as u64;
    assert!((bytes / 2..=bytes * 2).contains(&median), "a median of {median} bytes");
}
