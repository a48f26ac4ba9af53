//! Listing the partitions of a table in the order of Cassandra's ring: by token, and by key where tokens are equal.
//!
//! The place to go on is a partition key, not a token: two partitions can have one token, and a page may end between
//! them. So a page begins with the token itself and steps over what lies before or at the place.

use bytes::Bytes;
use model::{PartitionKey, SeriesId};
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::prepared::PreparedStatement;
use store::{Enumerate, PartitionPage, Result};

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::pages::Pages;
use crate::profiles::read_level;
use crate::retry::Task;
use crate::statements::Table;
use crate::write::partition_values;

/// Partitions in one answer: at most half a megabyte of keys.
const ANSWER_PARTITIONS_MAX: usize = 1_000;

/// Where a partition lies on the ring.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    token: i64,
    /// The key's bytes as Cassandra compares them.
    key: Bytes,
}

/// Finds places on the ring without asking it.
struct Ring<'a>(&'a PreparedStatement);

impl Ring<'_> {
    fn place(&self, partition: &PartitionKey) -> Result<Place> {
        let values = partition_values(partition);
        let failed = |error| unreadable("partition key", error);
        let token = self.0.calculate_token(&values).map_err(failed)?;
        let key = self.0.compute_partition_key(&values).map_err(failed)?;
        Ok(Place { token: token.map_or(i64::MIN, |token| token.value()), key })
    }
}

/// Lists one page of partitions.
pub(crate) async fn enumerate(
    cluster: &Cluster,
    table: &Table,
    request: &Enumerate,
) -> Result<PartitionPage> {
    let ring = Ring(cluster.prepared(&table.touch, Some(&table.name)).await?);
    let after = request.after.as_ref().map(|partition| ring.place(partition)).transpose()?;
    let task = Task { what: "list partitions", table: Some(&table.name), writes: false };
    let (from, values) = match &after {
        None => (&table.partitions, Vec::new()),
        Some(place) => (&table.partitions_from, vec![place.token]),
    };
    let mut answers = Pages::new(cluster, task, from, values).await?.at(read_level(request.consistency));
    let mut partitions = Vec::new();
    // Partitions come in order, so once one lies behind the place all do.
    let mut behind = after.is_none();
    loop {
        // One more than wanted tells whether more follow.
        let missing = request.partitions_max + 1 - partitions.len();
        let asked = i32::try_from(missing.min(ANSWER_PARTITIONS_MAX)).unwrap_or(i32::MAX);
        let Some(answer) = answers.next(asked).await? else {
            return Ok(PartitionPage { partitions, more: false });
        };
        for partition in decode(&answer)? {
            behind = behind || Some(ring.place(&partition)?) > after;
            if !behind {
                continue;
            }
            if partitions.len() == request.partitions_max {
                return Ok(PartitionPage { partitions, more: true });
            }
            partitions.push(partition);
        }
    }
}

fn decode(answer: &QueryRowsResult) -> Result<Vec<PartitionKey>> {
    let rows = answer.rows::<(&str, i32, i32)>().map_err(|error| unreadable("list of partitions", error))?;
    rows.map(|row| {
        let row = row.map_err(|error| unreadable("list of partitions", error))?;
        partition_of(row)
    })
    .collect()
}

/// The partition with these columns.
pub(crate) fn partition_of((series, time_bucket, event_bucket): (&str, i32, i32)) -> Result<PartitionKey> {
    Ok(PartitionKey {
        series: SeriesId::new(series)?,
        time_bucket: time_bucket.cast_unsigned(),
        event_bucket: event_bucket.cast_unsigned(),
    })
}
