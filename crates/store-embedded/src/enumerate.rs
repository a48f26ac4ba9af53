//! Listing the partitions of a table by skipping from one to the next.

use bytes::Bytes;
use fjall::{Database, Readable};
use store::{Enumerate, PartitionPage, Result};

use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::partition::{self, ROWS_END};
use crate::tables::Table;

/// Rows of one partition to step over before seeking behind it: below this a step is cheaper than a seek.
const STEPS_BEFORE_SEEK: usize = 24;

/// Lists partitions in the order of their prefixes.
pub(crate) fn enumerate(
    database: &Database,
    table: &Table,
    request: &Enumerate,
    cancelled: &Cancelled,
) -> Result<PartitionPage> {
    let mut page = PartitionPage { partitions: Vec::new(), more: false };
    let after = request.after.as_ref();
    let mut from = after.map_or_else(Bytes::new, |after| partition::behind(&partition::encode(after)));
    let snapshot = database.snapshot();
    let mut last: Option<Bytes> = None;
    'seek: loop {
        cancelled.check()?;
        let mut steps = 0;
        for entry in snapshot.range(&table.keyspace, from.as_ref()..&ROWS_END[..]) {
            let key: Bytes = entry.key().map_err(read_failed)?.into();
            if let Some(prefix) = last.as_ref().filter(|prefix| key.starts_with(prefix)) {
                steps += 1;
                if steps >= STEPS_BEFORE_SEEK {
                    from = partition::behind(prefix);
                    continue 'seek;
                }
                continue;
            }
            if page.partitions.len() == request.partitions_max {
                page.more = true;
                return Ok(page);
            }
            let prefix = key.slice(..partition::prefix_length(&key)?);
            page.partitions.push(partition::decode(&prefix)?);
            (last, steps) = (Some(prefix), 0);
        }
        return Ok(page);
    }
}
