//! What every node estimates for itself, read by CQL: for clusters where nothing else can be asked.
//!
//! Means over ranges of the ring, of bytes as stored; fresh only to some minutes, and without what is still in memory. So
//! they are called estimated, never more.

use std::sync::Arc;

use model::SizeHistogram;
use scylla::cluster::Node;
use store::{Histogram, HistogramSource, Result};

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::one_node::only_at;
use crate::retry::{self, Task};

const ESTIMATES: &str = "SELECT mean_partition_size, partitions_count FROM system.table_estimates \
                         WHERE keyspace_name = ? AND table_name = ? AND range_type = 'local_primary'";

/// What the nodes estimate of a table.
pub(super) async fn ask(cluster: &Cluster, table: (&str, &str)) -> Result<Histogram> {
    let (mut sizes, mut missing) = (SizeHistogram::default(), 0);
    for node in cluster.local_nodes() {
        match of_node(cluster, table, &node).await {
            Ok(ranges) => ranges.into_iter().for_each(|(mean, count)| sizes.record_many(mean, count)),
            Err(error) if error.is_retryable() => missing += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(Histogram { nodes_missing: missing, ..Histogram::estimated(sizes, HistogramSource::Cql) })
}

/// Mean size and number of the partitions in each range that a node is the first of its data centre to hold.
async fn of_node(cluster: &Cluster, table: (&str, &str), node: &Arc<Node>) -> Result<Vec<(u64, u64)>> {
    let task = Task { what: "read a node's estimates", table: None, writes: false };
    let statement = only_at(node, cluster.sweep(ESTIMATES));
    let ask = || cluster.session.query_unpaged(statement.clone(), table);
    let answer = retry::idempotent(&cluster.env, task, ask).await?;
    let rows = answer.into_rows_result().map_err(|error| unreadable("estimates", error))?;
    let rows = rows.rows::<(i64, i64)>().map_err(|error| unreadable("estimates", error))?;
    rows.map(|row| {
        let (mean, count) = row.map_err(|error| unreadable("estimates", error))?;
        Ok((u64::try_from(mean).unwrap_or(0), u64::try_from(count).unwrap_or(0)))
    })
    .collect()
}
