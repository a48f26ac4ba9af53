//! Sizes of partitions from the cluster: what Jolokia and nodetool give is what nodetool shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use model::{HistogramQuality, PartitionKey, Row, SeriesId, SizeSummary, TableRef};
use store::conformance::{Fixture, row};
use store::{Effort, ErrorKind, Histogram, HistogramSource, Store};
use store_cassandra::{CassandraStore, HistogramOptions, SourceChoice};

use crate::{node, tool};

fn of(series: u64) -> PartitionKey {
    PartitionKey { series: SeriesId::new(&format!("s{series}")).unwrap(), time_bucket: 0, event_bucket: 0 }
}

/// A store that asks this source only.
async fn asking(source: SourceChoice) -> CassandraStore {
    asking_at(HistogramOptions { source, nodetool: wrapper(), jmx_port: 7101, ..HistogramOptions::default() })
        .await
}

async fn asking_at(histograms: HistogramOptions) -> CassandraStore {
    let options = store_cassandra::Options { histograms, ..node::options().await };
    node::connect_with(options).await.unwrap()
}

/// `dev/cassandra nodetool` in the place of nodetool.
fn wrapper() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    Path::new(&here).join("tests/sizes/nodetool")
}

/// Partitions whose one value has 100 to about 200,000 bytes, most of them small.
async fn write(fixture: &Fixture, table: &TableRef, partitions: u64) {
    let writes = (0..partitions).map(|series| async move {
        let bytes = if series % 100 == 0 { 200_000 - series } else { 100 + series * series % 30_000 };
        let value = Bytes::from(vec![7; usize::try_from(bytes).unwrap()]);
        fixture.write(table, &of(series), &[Row { value, ..row(5, "e", "i", "") }]).await;
    });
    stream::iter(writes).buffer_unordered(32).collect::<()>().await;
}

/// What nodetool shows under `Partition Size`, read by the place of the column: otherwise than the store does.
fn shown(table: &TableRef) -> [u64; 7] {
    let output = tool::nodetool(&["tablehistograms", &node::keyspace(table), table.name.as_str()]);
    let cell = |name: &str| {
        let line = output.lines().find(|line| line.starts_with(name)).unwrap();
        // Ten characters of a name, then eighteen of each column; this is the fourth.
        line[10 + 3 * 18..10 + 4 * 18].trim().parse().unwrap()
    };
    ["50%", "75%", "95%", "98%", "99%", "Min", "Max"].map(cell)
}

fn sizes(summary: SizeSummary) -> [u64; 7] {
    let SizeSummary { p50, p75, p95, p98, p99, min, max, .. } = summary;
    [p50, p75, p95, p98, p99, min, max]
}

fn told(histogram: &Histogram) -> (HistogramQuality, HistogramSource, usize) {
    (histogram.quality, histogram.source, histogram.nodes_missing)
}

#[tokio::test(flavor = "multi_thread")]
async fn jolokia_and_nodetool_give_what_nodetool_shows() {
    let _alone = tool::alone().await;
    const PARTITIONS: u64 = 601;
    let (jolokia, nodetool) = (asking(SourceChoice::Jolokia).await, asking(SourceChoice::Nodetool).await);
    let fixture = Fixture::new(Arc::new(jolokia.clone()));
    let table = fixture.made(1).await;
    tool::nodetool(&["disableautocompaction", &node::keyspace(&table)]);

    // Nothing is written, so there is no file.
    for (store, source) in [(&jolokia, HistogramSource::Jolokia), (&nodetool, HistogramSource::Nodetool)] {
        let empty = store.histogram(&table, Effort::Cheap).await.unwrap();
        assert_eq!(empty.summary, SizeSummary::default());
        assert_eq!((empty.sizes.count(), told(&empty)), (0, (HistogramQuality::PerFile, source, 0)));
    }

    // One file, then two with the same partitions, which count twice.
    for files in 1..=2 {
        write(&fixture, &table, PARTITIONS).await;
        tool::nodetool(&["flush", &node::keyspace(&table)]);
        let expect = shown(&table);
        let found = jolokia.histogram(&table, Effort::Cheap).await.unwrap();
        assert_eq!(sizes(found.summary), expect, "{files} files");
        assert_eq!(told(&found), (HistogramQuality::PerFile, HistogramSource::Jolokia, 0));
        assert_eq!((found.summary.partitions, found.sizes.count()), (files * PARTITIONS, files * PARTITIONS));
        assert_eq!(found.sizes.max(), found.summary.max);
        let found = nodetool.histogram(&table, Effort::Cheap).await.unwrap();
        assert_eq!(sizes(found.summary), expect, "{files} files");
        assert_eq!(told(&found), (HistogramQuality::PerFile, HistogramSource::Nodetool, 0));
        let partitions = found.summary.partitions;
        assert!((PARTITIONS / 2..=PARTITIONS * 4).contains(&partitions), "{partitions}");
        assert_eq!(found.sizes.count(), partitions);
    }
    let exact = jolokia.histogram(&table, Effort::Measure).await.unwrap();
    assert_eq!(told(&exact), (HistogramQuality::Exact, HistogramSource::Scan, 0));
    assert_eq!(exact.summary.partitions, PARTITIONS);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_source_that_answers_is_taken() {
    let _alone = tool::alone().await;
    // Port 1 is nobody's.
    let nobody = HistogramOptions {
        jolokia_port: 1,
        nodetool: "/nowhere/nodetool".into(),
        ..HistogramOptions::default()
    };
    let auto = asking_at(HistogramOptions::default()).await;
    let fixture = Fixture::new(Arc::new(auto.clone()));
    let table = fixture.made(1).await;
    assert_eq!(auto.histogram(&table, Effort::Cheap).await.unwrap().source, HistogramSource::Jolokia);
    let tool = HistogramOptions { nodetool: wrapper(), jmx_port: 7101, ..nobody.clone() };
    let found = asking_at(tool).await.histogram(&table, Effort::Cheap).await.unwrap();
    assert_eq!(found.source, HistogramSource::Nodetool);
    let found = asking_at(nobody.clone()).await.histogram(&table, Effort::Cheap).await.unwrap();
    assert_eq!(told(&found), (HistogramQuality::Estimated, HistogramSource::Cql, 0));

    // Who names one wants that one, and is told what to do for it.
    for (source, advice) in [
        (SourceChoice::Jolokia, "attach it to the node"),
        (SourceChoice::Nodetool, "check histograms.nodetool"),
    ] {
        let only = asking_at(HistogramOptions { source, ..nobody.clone() }).await;
        let error = only.histogram(&table, Effort::Cheap).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains(advice), "{error}");
    }
    // Of a table that is not there no source says anything.
    let error = auto.histogram(&fixture.table(9), Effort::Cheap).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoTable);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_histogram_is_a_row_that_cqlsh_reads() {
    let _alone = tool::alone().await;
    let store = asking(SourceChoice::Jolokia).await;
    let fixture = Fixture::new(Arc::new(store.clone()));
    let table = fixture.made(1).await;
    write(&fixture, &table, 50).await;
    tool::nodetool(&["flush", &node::keyspace(&table)]);
    let found = store.histogram(&table, Effort::Cheap).await.unwrap();
    let text = "SELECT p50, p75, p95, p98, p99, min, max, partitions, quality, source, nodes_missing, ttl(p50) \
                FROM suite_meta.partition_histograms WHERE keyspace_name = ? AND table_name = ? LIMIT 1";
    let session = node::session().await;
    let newest = async || {
        let answer =
            session.query_unpaged(text, (node::keyspace(&table), table.name.as_str())).await.unwrap();
        let answer = answer.into_rows_result().unwrap();
        type Kept = (i64, i64, i64, i64, i64, i64, i64, i64, String, String, i32, Option<i32>);
        answer.first_row::<Kept>().unwrap()
    };
    let (p50, p75, p95, p98, p99, min, max, partitions, quality, source, missing, ttl) = newest().await;
    let kept = [p50, p75, p95, p98, p99, min, max].map(|size| u64::try_from(size).unwrap());
    assert_eq!((kept, partitions), (sizes(found.summary), 50));
    assert_eq!((quality.as_str(), source.as_str(), missing), ("per_file", "jolokia", 0));
    assert!(ttl.is_some_and(|seconds| seconds <= 30 * 86_400), "{ttl:?}");
    // Measured in the same minute it is the same row, else a newer one.
    store.histogram(&table, Effort::Measure).await.unwrap();
    let kept = newest().await;
    assert_eq!((kept.8.as_str(), kept.9.as_str()), ("exact", "scan"));
}
