//! The second step: write the rows of the origin into the targets, with the write times that they have.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use model::Row;
use split::{Digest, Digester, Phase, Reason, State, Why};
use store::{Durability, ErrorKind, PartitionBatch};

use super::attempt::{Attempt, Targets};
use super::held::{Held, Stop};
use super::pack::Filling;
use super::plan::misplaced;

/// Bytes of a batch: what a cluster takes at once without cutting it.
const BATCH_BYTES: u64 = 128 << 10;
/// Batches under way at once.
const BATCHES: usize = 4;

impl Attempt<'_> {
    /// Makes the table of the targets, once a slice.
    pub(super) async fn make_room(&self, held: &mut Held<'_>) -> Result<(), Stop> {
        let table = self.targets(held)?.table;
        let slice = self.dataset.slices.get(&self.layout.slice.start());
        let storage = slice.map(|slice| slice.storage).unwrap_or_default();
        match self.splits.store.create_table(&table, &storage).await {
            Ok(_) => {}
            // The store has all the tables it may have.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                return Err(Stop::Failed(Why::new(Reason::Budget, error.to_string())));
            }
            Err(error) => return Err(error.into()),
        }
        // From here on it can be completed: filters have to know before.
        self.splits.catalog.splits_changed(&held.id).await?;
        self.splits.router.will_split(&held.id, self.layout.slice.start());
        let server = self.splits.catalog.me.id();
        held.write(held.record().goes_on(State::Copying, self.splits.moment(&server))).await
    }

    /// Copies all rows that were not copied yet.
    pub(super) async fn copy(&mut self, held: &mut Held<'_>) -> Result<(), Stop> {
        let targets = self.targets(held)?;
        let digest =
            held.record().resume(Phase::Copy).map_or_else(Digest::default, |found| found.digest.clone());
        let mut pages = self.origin(held, &digest);
        let mut filling = Filling::new(&targets, self.layout.shape.buckets_per_id, &digest);
        let mut digester = Digester::new(self.key, digest);
        let mut page = pages.next().await?;
        while let Some(present) = page {
            for row in present.rows.iter() {
                if !digester.add(&row) || !self.is_of_origin(&row, &held.id.partition) {
                    return Err(misplaced("the origin", &row));
                }
            }
            let ready = filling.take(&present.rows)?;
            // The next page is read while this one is written.
            let (written, next) = tokio::join!(self.write(held, &targets, ready), pages.next());
            written?;
            page = next?;
            self.copied(present.bytes).await?;
            let key = self.key;
            let safe = || (filling.written(digester.digest(), key), None);
            self.checkpoint(held, (Phase::Copy, 0), safe).await?;
        }
        self.write(held, &targets, filling.finish()?).await?;
        let planned = held.record().pre_split_data.digest.clone();
        let copied = digester.digest();
        if planned.as_ref() != Some(&copied) {
            return Err(Stop::Failed(changed(planned.as_ref(), &copied)));
        }
        let server = self.splits.catalog.me.id();
        held.write(held.record().goes_on(State::Verifying, self.splits.moment(&server))).await
    }

    /// Writes rows, each into its target.
    async fn write(&self, held: &Held<'_>, targets: &Targets, rows: Vec<(usize, Row)>) -> Result<(), Stop> {
        let mut batches: Vec<PartitionBatch> = Vec::new();
        // The batch of each target that has room, and its bytes.
        let mut open: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
        for (target, row) in rows {
            let (batch, bytes) = open.entry(target).or_insert((usize::MAX, u64::MAX));
            if *bytes >= BATCH_BYTES {
                (*batch, *bytes) = (batches.len(), 0);
                batches.push(PartitionBatch {
                    table: targets.table.clone(),
                    partition: targets.partition(&held.id.partition, target),
                    rows: Vec::new(),
                    consistency: self.dataset.namespace.spec.consistency,
                });
            }
            *bytes += row.logical_bytes();
            if let Some(batch) = batches.get_mut(*batch) {
                batch.rows.push(row);
            }
        }
        let store = &self.splits.store;
        let written = stream::iter(batches.into_iter().map(|batch| store.upsert(batch, Durability::Synced)));
        Ok(written.buffer_unordered(BATCHES).try_collect::<()>().await?)
    }
}

/// The origin is not what it was when it was planned.
pub(super) fn changed(planned: Option<&Digest>, found: &Digest) -> Why {
    let planned = planned.map_or_else(|| "nothing".to_owned(), shown);
    let message = format!("the origin changed while it was split: planned {planned}, found {}", shown(found));
    Why::new(Reason::OriginChanged, message)
}

/// A digest in words.
pub(super) fn shown(digest: &Digest) -> String {
    format!("{} rows, {} bytes, checksum {}", digest.rows, digest.bytes, digest.checksum_hex())
}
