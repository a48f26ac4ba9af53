//! Deleting a partition: one tombstone over all of its rows, whatever their number.
//!
//! It hides rows by their write time, and these come from the clocks of many servers. So its own time lies ahead of this
//! server's clock by more than clocks may differ: nobody writes to the partition again, so nothing is hidden that should not be.

use model::PartitionKey;
use store::limits::DELETE_AHEAD;
use store::{Consistency, Result};

use crate::cluster::Cluster;
use crate::profiles::write_level;
use crate::retry::{self, Task};
use crate::statements::Table;
use crate::write::partition_values;

/// Deletes all rows of a partition.
pub(crate) async fn delete(
    cluster: &Cluster,
    table: &Table,
    partition: &PartitionKey,
    consistency: Consistency,
) -> Result<()> {
    let mut statement = cluster.prepared(&table.delete, Some(&table.name)).await?.clone();
    statement.set_consistency(write_level(consistency));
    statement.set_is_idempotent(true);
    // Drawn once: however often it is sent, it is the same deletion.
    let micros = micros_of(cluster.env.clock.wall());
    let (series, time_bucket, event_bucket) = partition_values(partition);
    let values = (micros, series, time_bucket, event_bucket);
    let task = Task { what: "delete a partition", table: Some(&table.name), writes: true };
    let send = || cluster.session.execute_unpaged(&statement, &values);
    retry::idempotent(&cluster.env, task, send).await.map(drop)
}

/// The time of a deletion that is asked for at `wall`, in nanoseconds: microseconds, as rows have them.
fn micros_of(wall: i64) -> i64 {
    let ahead = i64::try_from(DELETE_AHEAD.as_micros()).unwrap_or(i64::MAX);
    (wall / 1_000).saturating_add(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_lies_a_minute_ahead_of_rows_that_are_written_now() {
        assert_eq!(micros_of(1_774_656_000_123_456_789), 1_774_656_060_123_456);
        assert_eq!(micros_of(i64::MAX), i64::MAX / 1_000 + 60_000_000);
    }
}
