//! The table `partition_histograms`: every histogram that was asked for, as a row that cqlsh reads.
//!
//! For people and their dashboards; nothing here reads it back. A plain write, last one wins: a row a minute and table,
//! which the table's own time to live removes after thirty days. So it cannot grow without bound however often somebody asks.

use model::HistogramQuality;
use scylla::value::CqlTimestamp;
use store::{Histogram, Result};

use crate::cluster::Cluster;
use crate::retry::{self, Task};
use crate::statements::{Lazy, Table};

const NANOS_PER_MINUTE: i64 = 60_000_000_000;
const MILLIS_PER_MINUTE: i64 = 60_000;

/// The table.
pub(crate) struct Kept {
    insert: Lazy,
}

impl Kept {
    /// The rows in the metadata keyspace of `cluster`.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let insert = format!(
            "INSERT INTO \"{}\".partition_histograms (keyspace_name, table_name, observed, p50, p75, p95, p98, p99, \
             min, max, partitions, quality, source, nodes_missing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            cluster.names.metadata()
        );
        Self { insert: Lazy::new(&cluster.profiles.metadata, insert) }
    }

    /// Writes a row. If that fails there is none: whoever asked has the answer.
    pub(crate) async fn keep(&self, cluster: &Cluster, table: &Table, histogram: &Histogram) {
        if let Err(error) = self.write(cluster, table, histogram).await {
            tracing::warn!(%error, "a histogram is not kept in partition_histograms");
        }
    }

    async fn write(&self, cluster: &Cluster, table: &Table, histogram: &Histogram) -> Result<()> {
        let keyspace = cluster.names.keyspace(&table.name)?;
        let summary = &histogram.summary;
        let values = (
            keyspace.as_str(),
            table.name.name.as_str(),
            CqlTimestamp(minute(cluster.env.clock.wall())),
            bigint(summary.p50),
            bigint(summary.p75),
            bigint(summary.p95),
            bigint(summary.p98),
            bigint(summary.p99),
            bigint(summary.min),
            bigint(summary.max),
            bigint(summary.partitions),
            quality(histogram.quality),
            histogram.source.as_str(),
            i32::try_from(histogram.nodes_missing).unwrap_or(i32::MAX),
        );
        let statement = cluster.prepared(&self.insert, None).await?;
        let task = Task { what: "keep a histogram", table: None, writes: true };
        retry::idempotent(&cluster.env, task, || cluster.session.execute_unpaged(statement, &values))
            .await
            .map(drop)
    }
}

/// The minute that `wall` lies in, as CQL counts: milliseconds since 1970.
const fn minute(wall: i64) -> i64 {
    wall.div_euclid(NANOS_PER_MINUTE) * MILLIS_PER_MINUTE
}

fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

const fn quality(quality: HistogramQuality) -> &'static str {
    match quality {
        HistogramQuality::Exact => "exact",
        HistogramQuality::PerFile => "per_file",
        HistogramQuality::Estimated => "estimated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_one_row() {
        let second = 1_000_000_000;
        assert_eq!([0, second, 59 * second].map(minute), [0, 0, 0]);
        assert_eq!([60 * second, 1_794_772_978 * second].map(minute), [60_000, 1_794_772_920_000]);
        assert_eq!(minute(-1), -60_000);
    }
}
