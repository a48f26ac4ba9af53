//! The figures of a slice on the wire, beside those that Cassandra's own tool shows of its table.

use api::admin::v1 as admin;
use api::v1;

use crate::node::{Node, nodetool, shown};
use crate::{ALONE, DAY, NAMESPACE, event};

/// So many partitions have values of so many bytes: every figure is in another step of a histogram of a hundred.
const SIZES: [(usize, usize); 7] =
    [(1, 50), (49, 400), (25, 1_000), (20, 5_000), (3, 30_000), (1, 100_000), (1, 300_000)];

/// One event for each partition, all in one slice.
fn events() -> Vec<v1::Event> {
    let each = SIZES.into_iter().flat_map(|(partitions, bytes)| std::iter::repeat_n(bytes, partitions));
    (0..).zip(each).map(|(series, bytes)| event(series, 5 * DAY, bytes)).collect()
}

async fn agrees(source: &str) {
    let (node, client) = Node::serve(source).await;
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        accept_limit: zero,
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    let made = client.create_namespace(request).await.unwrap();
    let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events: events() };
    assert_eq!(client.write_synced(request).await.unwrap().accepted, 100);
    let keyspace = Node::keyspace(NAMESPACE, made.incarnation);
    nodetool(&["flush", &keyspace]);
    // One file, so that every partition counts once.
    nodetool(&["compact", &keyspace]);

    let table = "data_19700106";
    let request = admin::GetPartitionHistogramRequest {
        namespace: NAMESPACE.to_owned(),
        table: table.to_owned(),
        measure: false,
    };
    let found = client.partition_histogram(request).await.unwrap().histograms;
    let [slice] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((slice.quality.as_str(), slice.source.as_str()), ("PER_FILE", source));
    let shown = shown(&keyspace, table);
    let figures = [slice.p50, slice.p75, slice.p95, slice.p98, slice.p99, slice.min, slice.max];
    assert_eq!(figures, shown, "{source}");
    let ascending = [slice.min, slice.p50, slice.p75, slice.p95, slice.p98, slice.p99, slice.max];
    assert!(ascending.is_sorted_by(|one, next| one < next), "two figures that are alike: {ascending:?}");
    node.end().await;
}

#[tokio::test]
async fn jolokia_gives_the_wire_what_nodetool_shows() {
    let _alone = ALONE.lock().await;
    agrees("jolokia").await;
}

#[tokio::test]
async fn nodetool_gives_the_wire_what_it_shows() {
    let _alone = ALONE.lock().await;
    agrees("nodetool").await;
}
