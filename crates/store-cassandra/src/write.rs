//! Writing rows: a batch becomes mutations of one partition, each of whole events.
//!
//! An unlogged batch inside one partition is one mutation: every reader sees all of it or nothing, and so does every
//! replica after a crash. Mutations of some hundred kilobytes are what Cassandra likes, so a larger batch is cut,
//! never through an event. Every row carries its own write time, so sending one twice changes nothing.

use futures::stream::{self, StreamExt, TryStreamExt};
use model::{PartitionKey, Row};
use scylla::statement::batch::{Batch, BatchStatement, BatchType};
use scylla::statement::prepared::PreparedStatement;
use store::{Error, ErrorKind, PartitionBatch, Result};

use crate::cluster::Cluster;
use crate::profiles::write_level;
use crate::retry::{self, Task};
use crate::statements::Table;

/// Bytes of one mutation on the wire, unless one event alone has more.
const MUTATION_BYTES: usize = 256 << 10;
/// Bytes of one event on the wire. The server refuses frames and mutations over 16 MiB.
const EVENT_BYTES_MAX: usize = 12 << 20;
/// Rows of one event: the protocol counts the statements of a batch in 16 bits.
const EVENT_ROWS_MAX: usize = u16::MAX as usize;
/// What a row costs on the wire beside its bytes and its series id: lengths, numbers, the statement's id.
const ROW_OVERHEAD_BYTES: usize = 96;
/// Mutations of one batch that are on their way at once.
const MUTATIONS_AT_ONCE: usize = 4;

/// Writes the rows of a batch that passed its checks and is not empty.
pub(crate) async fn upsert(cluster: &Cluster, table: &Table, batch: &PartitionBatch) -> Result<()> {
    let mutations = cut(&batch.partition, &batch.rows)?;
    let statement = cluster.prepared(&table.upsert, Some(&table.name)).await?;
    let several = mutations.len() > 1;
    let mut sends = Vec::with_capacity(mutations.len());
    for rows in &mutations {
        sends.push(send(cluster, statement, batch, rows));
    }
    stream::iter(sends)
        .buffer_unordered(MUTATIONS_AT_ONCE)
        .try_collect::<()>()
        .await
        // The others may be there already.
        .map_err(|error| if several { unknown(error) } else { error })
}

fn unknown(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Unavailable => Error::new(ErrorKind::Unknown, error.to_string()).caused_by(error),
        _ => error,
    }
}

async fn send(
    cluster: &Cluster,
    statement: &PreparedStatement,
    batch: &PartitionBatch,
    rows: &[&Row],
) -> Result<()> {
    let (series, time_bucket, event_bucket) = partition_values(&batch.partition);
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        values.push((
            series,
            time_bucket,
            event_bucket,
            row.key.event_time.nanos(),
            text(row.key.event_id.as_bytes())?,
            text(row.key.item_key.as_bytes())?,
            row.value.as_ref(),
            row.metadata.as_ref(),
            row.write_time,
        ));
    }
    let statements = vec![BatchStatement::PreparedStatement(statement.clone()); rows.len()];
    let mut mutation = Batch::new_with_statements(BatchType::Unlogged, statements);
    mutation.set_is_idempotent(true);
    mutation.set_consistency(write_level(batch.consistency));
    mutation.set_execution_profile_handle(statement.get_execution_profile_handle().cloned());
    let task = Task { what: "write rows", table: Some(&batch.table), writes: true };
    retry::idempotent(&cluster.env, task, || cluster.session.batch(&mutation, &values)).await.map(drop)
}

/// A partition as Cassandra holds it. Its integers have a sign; the bits are the same.
pub(crate) fn partition_values(partition: &PartitionKey) -> (&str, i32, i32) {
    (partition.series.as_str(), partition.time_bucket.cast_signed(), partition.event_bucket.cast_signed())
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| Error::invalid(format!("an id is not text ({error}); send UTF-8")).caused_by(error))
}

/// Cuts rows into mutations: as few as fit, no event in two of them.
fn cut<'a>(partition: &PartitionKey, rows: &'a [Row]) -> Result<Vec<Vec<&'a Row>>> {
    let series_bytes = partition.series.as_str().len();
    let cost = |row: &Row| {
        usize::try_from(row.logical_bytes())
            .unwrap_or(usize::MAX)
            .saturating_add(series_bytes + ROW_OVERHEAD_BYTES)
    };
    let fits = |bytes: usize, rows: usize| bytes <= MUTATION_BYTES && rows <= EVENT_ROWS_MAX;
    if fits(rows.iter().map(cost).sum(), rows.len()) {
        return Ok(vec![rows.iter().collect()]);
    }
    let mut ordered: Vec<&Row> = rows.iter().collect();
    ordered.sort_by(|a, b| a.key.cmp(&b.key));
    let same_event =
        |a: &&Row, b: &&Row| (a.key.event_time, &a.key.event_id) == (b.key.event_time, &b.key.event_id);
    let (mut mutations, mut filling, mut filled) = (Vec::new(), Vec::new(), 0);
    for event in ordered.chunk_by(same_event) {
        let bytes: usize = event.iter().map(|row| cost(row)).sum();
        if bytes > EVENT_BYTES_MAX || event.len() > EVENT_ROWS_MAX {
            return Err(Error::invalid(format!(
                "an event has {} items and {bytes} bytes; Cassandra keeps {EVENT_ROWS_MAX} and {EVENT_BYTES_MAX} \
                 together: cut it in two events",
                event.len()
            )));
        }
        if !filling.is_empty() && !fits(filled + bytes, filling.len() + event.len()) {
            mutations.push(std::mem::take(&mut filling));
            filled = 0;
        }
        filling.extend_from_slice(event);
        filled += bytes;
    }
    mutations.push(filling);
    Ok(mutations)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::{EventId, ItemKey, RowKey, SeriesId, Timestamp};

    use super::*;

    fn row(time: i64, event: &str, item: usize, value_bytes: usize) -> Row {
        Row {
            key: RowKey {
                event_time: Timestamp::from_nanos(time).unwrap(),
                event_id: EventId::new(event).unwrap(),
                item_key: ItemKey::new(format!("{item:06}")).unwrap(),
            },
            write_time: 1,
            value: Bytes::from(vec![7; value_bytes]),
            metadata: Bytes::new(),
        }
    }

    /// How many rows each mutation has.
    fn check(rows: &[Row], expect: Option<&[usize]>) {
        let partition = PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 };
        let found = cut(&partition, rows).ok();
        let sizes = found.as_ref().map(|mutations| mutations.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(sizes.as_deref(), expect);
    }

    #[test]
    fn a_small_batch_is_one_mutation() {
        check(&[row(1, "b", 0, 10), row(1, "a", 0, 10)], Some(&[2]));
        check(&[row(1, "a", 0, 1 << 20)], Some(&[1]));
    }

    #[test]
    fn a_large_batch_is_cut_between_events() {
        let events = |items: usize, bytes| -> Vec<Row> {
            let keys = (0..items).flat_map(|item| (0..4).map(move |event| (item, event)));
            keys.map(|(item, event)| row(5, &event.to_string(), item, bytes)).collect()
        };
        check(&events(2, 60 << 10), Some(&[4, 4]));
        check(&events(3, 60 << 10), Some(&[3, 3, 3, 3]));
        check(&events(10, 60 << 10), Some(&[10, 10, 10, 10]));
        check(&events(1, 120 << 10), Some(&[2, 2]));
    }

    #[test]
    fn an_event_that_cannot_be_kept_together_is_refused() {
        let large: Vec<Row> = (0..13).map(|item| row(5, "e", item, 1 << 20)).collect();
        check(&large, None);
        let many: Vec<Row> = (0..65_536).map(|item| row(5, "e", item, 0)).collect();
        check(&many, None);
        check(&many[1..], Some(&[65_535]));
    }
}
