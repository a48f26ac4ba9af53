//! Sizes of partitions: what every node estimates for itself, or all of them by reading everything once.
//!
//! The estimates are means over ranges of the ring, of bytes as stored; fresh only to some minutes, and without what
//! is still in memory. So they are called estimated, never more. A measurement is not kept: another server may write
//! the table the next moment and nobody would tell.

use std::sync::Arc;

use model::{HistogramQuality, PartitionKey, SizeHistogram};
use scylla::cluster::Node;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::{Consistency, Statement};
use store::{Histogram, Result};

use crate::cluster::Cluster;
use crate::enumerate::partition_of;
use crate::failure::unreadable;
use crate::page_rows::{Read, RowBytes};
use crate::pages::Pages;
use crate::retry::{self, Task};
use crate::statements::Table;
use crate::write::partition_values;

/// What the nodes estimate.
pub(crate) async fn estimated(cluster: &Cluster, table: &Table) -> Result<Histogram> {
    assert_there(cluster, table).await?;
    let mut sizes = SizeHistogram::default();
    for node in cluster.session.get_cluster_state().get_nodes_info() {
        for (mean_bytes, partitions) in estimates_of(cluster, table, node).await? {
            sizes.merge(&alike(mean_bytes, partitions));
        }
    }
    Ok(Histogram { sizes, quality: HistogramQuality::Estimated })
}

/// Fails where the table does not exist, as an estimate of nothing would not.
pub(crate) async fn assert_there(cluster: &Cluster, table: &Table) -> Result<()> {
    let task = Task { what: "look at a table", table: Some(&table.name), writes: false };
    let nowhere = PartitionKey { series: model::SeriesId::new("-")?, time_bucket: 0, event_bucket: 0 };
    cluster.small(task, &table.touch, &partition_values(&nowhere)).await.map(drop)
}

/// Mean size and number of the partitions in each range that a node is the first to hold. A node that is away has
/// none.
async fn estimates_of(cluster: &Cluster, table: &Table, node: &Arc<Node>) -> Result<Vec<(u64, u64)>> {
    let mut statement = Statement::new(
        "SELECT mean_partition_size, partitions_count FROM system.table_estimates \
         WHERE keyspace_name = ? AND table_name = ? AND range_type = 'primary'",
    );
    let only = SingleTargetLoadBalancingPolicy::new(NodeIdentifier::Node(Arc::clone(node)), None);
    statement.set_execution_profile_handle(Some(cluster.profiles.sweeping.clone()));
    statement.set_load_balancing_policy(Some(only));
    // Every node has its own.
    statement.set_consistency(Consistency::One);
    let keyspace = cluster.names.keyspace(&table.name)?;
    let values = (keyspace.as_str(), table.name.name.as_str());
    let task = Task { what: "read a node's estimates", table: None, writes: false };
    let ask = || cluster.session.query_unpaged(statement.clone(), values);
    let answer = match retry::idempotent(&cluster.env, task, ask).await {
        Ok(answer) => answer,
        Err(error) if error.is_retryable() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let rows = answer.into_rows_result().map_err(|error| unreadable("estimates", error))?;
    let rows = rows.rows::<(i64, i64)>().map_err(|error| unreadable("estimates", error))?;
    rows.map(|row| {
        let (mean, count) = row.map_err(|error| unreadable("estimates", error))?;
        Ok((u64::try_from(mean).unwrap_or(0), u64::try_from(count).unwrap_or(0)))
    })
    .collect()
}

/// A histogram of `count` partitions of the same size, by doubling.
fn alike(bytes: u64, mut count: u64) -> SizeHistogram {
    let (mut all, mut doubled) = (SizeHistogram::default(), SizeHistogram::default());
    doubled.record(bytes);
    while count > 0 {
        if count % 2 == 1 {
            all.merge(&doubled);
        }
        count /= 2;
        if count > 0 {
            doubled.merge(&doubled.clone());
        }
    }
    all
}

/// Measures every partition by reading the whole table, page by page.
pub(crate) async fn exact(cluster: &Cluster, table: &Table) -> Result<Histogram> {
    let task = Task { what: "measure partitions", table: Some(&table.name), writes: false };
    let mut answers = Pages::new(cluster, task, &table.everything, ()).await?;
    // Its own: these answers have other columns than a scan's.
    let (mut measured, row_bytes) = (Measured::default(), RowBytes::default());
    while let Some(answer) = answers.next(row_bytes.rows_for(usize::MAX, u64::MAX)).await? {
        row_bytes.learn(Read { rows: answer.rows_num(), bytes: answer.rows_bytes_size() as u64 });
        measured.take(&answer)?;
    }
    Ok(Histogram { sizes: measured.finish(), quality: HistogramQuality::Exact })
}

/// Rows come partition by partition, so one is open at a time.
#[derive(Default)]
struct Measured {
    sizes: SizeHistogram,
    open: Option<(PartitionKey, u64)>,
}

impl Measured {
    fn take(&mut self, answer: &QueryRowsResult) -> Result<()> {
        let rows = answer
            .rows::<(&str, i32, i32, &str, &str, &[u8], &[u8])>()
            .map_err(|error| unreadable("table of rows", error))?;
        for row in rows {
            let (series, time_bucket, event_bucket, event_id, item_key, value, metadata) =
                row.map_err(|error| unreadable("row", error))?;
            // As `Row::logical_bytes` counts: eight bytes of time and what the client sent.
            let lengths = [event_id.len(), item_key.len(), value.len(), metadata.len()];
            let bytes = (size_of::<i64>() + lengths.iter().sum::<usize>()) as u64;
            match &mut self.open {
                Some((open, sum)) if partition_values(open) == (series, time_bucket, event_bucket) => {
                    *sum += bytes
                }
                _ => {
                    let partition = partition_of((series, time_bucket, event_bucket))?;
                    self.close();
                    self.open = Some((partition, bytes));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some((_, bytes)) = self.open.take() {
            self.sizes.record(bytes);
        }
    }

    fn finish(mut self) -> SizeHistogram {
        self.close();
        self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_alike_are_as_many_recorded_one_by_one() {
        for count in [0, 1, 2, 3, 7, 640, 1_001] {
            let mut expected = SizeHistogram::default();
            (0..count).for_each(|_| expected.record(4_711));
            assert_eq!(alike(4_711, count), expected, "{count}");
        }
    }
}
