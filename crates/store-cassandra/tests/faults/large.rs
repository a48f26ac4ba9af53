//! An answer that is too large for the nodes is asked for again, smaller; one that they call large is counted.
//!
//! The nodes of this suite refuse answers over 8 MiB and warn of reads over 1 MiB, as an operator may have them do.

use std::ops::Bound;

use bytes::Bytes;
use model::{Interval, Order, PartitionKey, Row, SeriesId};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Statement;
use store::conformance::{Fixture, row};
use store::{Consistency, Scan, limits};

use crate::nodes::Nodes;

const ROWS: usize = 12;
const VALUE_BYTES: usize = 1 << 20;

/// Reads rows of which the first answer cannot hold as many as are asked for.
pub(crate) async fn check(nodes: &Nodes, fixture: &Fixture, registry: &Registry) {
    let table = fixture.made(9).await;
    let at = PartitionKey { series: SeriesId::new("large").unwrap(), time_bucket: 0, event_bucket: 0 };
    let large = |n| Row { value: Bytes::from(vec![7; VALUE_BYTES]), ..row(n, "e", "i", "") };
    for number in 0..i64::try_from(ROWS).unwrap() {
        fixture.write(&table, &at, &[large(number)]).await;
    }

    let session = SessionBuilder::new().known_nodes(nodes.addresses()).build().await.unwrap();
    let text = format!(
        "SELECT event_item_value FROM \"faults_{}_1\".\"{}\"",
        fixture.namespace.as_str(),
        table.name.as_str()
    );
    let refused = session.query_unpaged(Statement::new(text), ()).await;
    assert!(refused.is_err(), "the nodes give an answer of {ROWS} MiB, so nothing is shown here");

    // A row that is small is no reason to warn.
    let small = PartitionKey { series: SeriesId::new("small").unwrap(), ..at.clone() };
    fixture.write(&table, &small, &[row(1, "e", "i", "v")]).await;
    assert_eq!(fixture.read(&table, &small).await.len(), 1);
    assert_eq!(warned(registry), 0);

    let scan = Scan {
        table,
        partition: at,
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: ROWS,
        bytes_max: limits::SCAN_BYTES_MAX,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: false,
    };
    let page = fixture.store.scan(scan).await.unwrap();
    assert_eq!(page.rows.len(), ROWS);
    assert!(warned(registry) > 0, "the nodes read {ROWS} MiB and nobody heard of it");
    nodes.say("rows that do not fit one answer were read in smaller ones, and the nodes' warnings counted");
}

/// Warnings of large partitions that came with answers.
fn warned(registry: &Registry) -> u64 {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    let count = text.lines().find_map(|line| {
        line.strip_prefix("braid_cassandra_warnings_total{kind=\"large_partition\"} ")?.parse().ok()
    });
    count.unwrap_or_else(|| panic!("no such metric in\n{text}"))
}
