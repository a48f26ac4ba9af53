//! What the targets of a split hold, read from the replicas and held against the ledger and the origin.

use std::collections::BTreeSet;

use model::{PartitionKey, Row, TableName, TableRef};
use split::{Reason, Record, SplitId, State, TargetLayout};

use super::judge::value_of;
use super::routes::layout_of;
use super::space::Key;
use super::specs::SPACES;
use super::stage::Stage;

/// A row, as the ledger names it.
type Item = (Key, String);

fn item_of(row: &Row) -> Item {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let key = (row.key.event_time.nanos(), text(row.key.event_id.as_bytes()));
    (key, text(row.key.item_key.as_bytes()))
}

/// The table of this name, of the namespace of a split.
pub(super) fn table_of(id: &SplitId, name: &str) -> Option<TableRef> {
    let (namespace, incarnation) = (id.namespace.clone(), id.incarnation);
    Some(TableRef { namespace, incarnation, name: TableName::new(name).ok()? })
}

/// The table of the targets of a split.
pub(super) fn wide_table_of(id: &SplitId) -> Option<TableRef> {
    table_of(id, &format!("wide_{}_0", id.time_slice))
}

/// The table of the targets, and the partitions in it; none before they are planned.
pub(super) fn targets_of(record: &Record) -> Option<(TableRef, Vec<PartitionKey>)> {
    let (id, post) = (record.id()?, record.post_split_data.as_ref()?);
    let (strategy, start) = post.strategy()?;
    let count = u32::try_from(strategy.targets()).ok()?;
    let partition = |event_bucket| PartitionKey { event_bucket, ..id.partition.clone() };
    Some((table_of(&id, &post.time_slice)?, (start..start + count).map(partition).collect()))
}

/// What stored rows of a target hold.
fn unpacked(stored: Vec<Row>, layout: TargetLayout) -> Result<Vec<Row>, String> {
    if layout == TargetLayout::Rows {
        return Ok(stored);
    }
    let (mut rows, unpacker) = (Vec::new(), chunk::Unpacker::default());
    for row in stored {
        let header = chunk::Header::decode(&row.metadata).map_err(|error| error.to_string())?;
        if header.stored_key() != row.key {
            return Err("a chunk is stored under a row that is not its oldest".to_owned());
        }
        let chunk = unpacker.unpack(header, &row.value).map_err(|error| error.to_string())?;
        let of_chunk = chunk.rows().map_err(|error| error.to_string())?;
        rows.extend((0..of_chunk.len()).filter_map(|at| of_chunk.shared(at)));
    }
    Ok(rows)
}

/// How the targets differ from what they have to hold; none where they do not, or their slice is gone.
pub(super) fn problem_of(stage: &Stage, record: &Record) -> Option<String> {
    let id = record.id()?;
    let space = SPACES.into_iter().find(|space| *space == id.namespace.as_str())?;
    let origin = stage.cluster.all_rows(&table_of(&id, &id.time_slice)?, &id.partition)?;
    let (table, partitions) = targets_of(record)?;
    let (strategy, _) = record.post_split_data.as_ref()?.strategy()?;
    let buckets = layout_of(stage, &id).map(|layout| layout.shape.buckets_per_id);
    let in_origin: BTreeSet<Item> = origin.iter().map(item_of).collect();
    let mut found: BTreeSet<Item> = BTreeSet::new();
    let layout = record.post_split_data.as_ref()?.layout;
    for (target, partition) in partitions.iter().enumerate() {
        let rows = match unpacked(stage.cluster.all_rows(&table, partition)?, layout) {
            Ok(rows) => rows,
            Err(problem) => return Some(format!("target {target}: {problem}")),
        };
        for row in rows {
            let item = item_of(&row);
            let value = value_of(space, id.partition.series.as_str(), &item.0, &item.1);
            if row.value != value.as_bytes() {
                return Some(format!("target {target} has {item:?}, which is not as it was written"));
            }
            let place = |buckets| strategy.target_of(item.0.0, item.0.1.as_bytes(), buckets);
            if buckets.is_some_and(|buckets| place(buckets) != target) {
                return Some(format!("target {target} has {item:?}, which belongs elsewhere"));
            }
            if !in_origin.contains(&item) {
                return Some(format!("target {target} has {item:?}, which the origin has not"));
            }
            if !found.insert(item.clone()) {
                return Some(format!("target {target} has {item:?}, which another one has too"));
            }
        }
    }
    let owed = in_origin.iter().filter(|item| item.0.0 < record.covered_until);
    let mut missing =
        owed.filter(|item| !found.contains(*item) && is_acknowledged(stage, space, &id, &item.0));
    let first = missing.next()?;
    Some(format!("lacks {} acknowledged rows, the first {first:?}", missing.count() + 1))
}

/// An attempt failed because its origin changed, it says; but rows are only ever added to an origin, and none was.
pub(super) fn wrong_excuse(stage: &Stage, record: &Record) -> Option<String> {
    let reason = record.reason.as_ref().map(|why| why.code);
    if (record.state, reason) != (State::Failed, Some(Reason::OriginChanged)) {
        return None;
    }
    let (id, planned) = (record.id()?, record.pre_split_data.digest.as_ref()?);
    let origin = stage.cluster.all_rows(&table_of(&id, &id.time_slice)?, &id.partition)?;
    let is_same = u64::try_from(origin.len()) == Ok(planned.rows);
    is_same.then(|| format!("says that its origin changed, which has {} rows as before", planned.rows))
}

/// Whether an event is certainly in the incarnation of the split.
fn is_acknowledged(stage: &Stage, space: &'static str, id: &SplitId, key: &Key) -> bool {
    stage.ledger.with(space, |known| {
        let is_present = known.is_ready && known.incarnation == id.incarnation;
        let events = known.series.get(id.partition.series.as_str());
        let tried = events.and_then(|events| events.get(key)).filter(|_| is_present);
        tried
            .and_then(|tried| tried.acknowledged)
            .is_some_and(|(generation, _)| generation == known.generation)
    })
}
