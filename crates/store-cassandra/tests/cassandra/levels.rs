//! How many replicas are asked: shown by a keyspace that should have three replicas where there is one node.

use std::ops::Bound;
use std::sync::Arc;

use model::{Interval, Order, PartitionKey, SeriesId};
use store::conformance::{Fixture, row};
use store::{Consistency, Durability, Enumerate, ErrorKind, PartitionBatch, Scan};

use crate::{node, shared};

#[tokio::test(flavor = "multi_thread")]
async fn one_replica_is_enough_for_a_namespace_that_asks_for_one_and_for_no_other() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let table = fixture.made(1).await;
    let text = format!(
        "ALTER KEYSPACE \"{}\" WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': 3}}",
        node::keyspace(&table)
    );
    node::session().await.query_unpaged(text, ()).await.unwrap();

    let at = PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 };
    let rows = [row(5, "e", "i", "v")];
    let weak = Fixture { consistency: Consistency::LocalOne, ..fixture.clone() };
    weak.write(&table, &at, &rows).await;
    assert_eq!(weak.read(&table, &at).await, rows);
    assert_eq!(weak.partitions(&table, 10).await, std::slice::from_ref(&at));

    for consistency in [Consistency::LocalQuorum, Consistency::EachQuorum] {
        let batch =
            PartitionBatch { table: table.clone(), partition: at.clone(), rows: rows.to_vec(), consistency };
        let scan = Scan {
            table: table.clone(),
            partition: at.clone(),
            order: Order::OldestFirst,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: 10,
            bytes_max: 1_000,
            consistency,
            hedge_after: None,
            ahead: false,
        };
        let list = Enumerate { table: table.clone(), after: None, partitions_max: 10, consistency };
        let store = &fixture.store;
        let errors = [
            store.upsert(batch, Durability::Synced).await.unwrap_err(),
            store.delete_partition(&table, &at, consistency).await.unwrap_err(),
            store.scan(scan).await.unwrap_err(),
            store.enumerate(list).await.unwrap_err(),
        ];
        // As each asked: only writes ask every data centre.
        let asked = if consistency == Consistency::EachQuorum { "EachQuorum" } else { "LocalQuorum" };
        for (error, level) in errors.iter().zip([asked, asked, "LocalQuorum", "LocalQuorum"]) {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains(level), "{level} is not in {error}");
        }
    }

    assert_eq!(weak.read(&table, &at).await, rows);
    weak.delete(&table, &at).await;
    assert_eq!(weak.read(&table, &at).await, []);
}
