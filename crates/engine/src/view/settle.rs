//! Writing what an entry puts: the log, the audit, the records. Each may be done by several servers and again after a crash.

use serde::Deserialize;
use store::{CasOutcome, MetaChange, MetaKey, MetaRecord};

use super::audit;
use super::head::{Entry, Put, log_after};
use crate::catalog::Catalog;
use crate::catalog::record::{decode, encode};
use crate::{Error, Reason, Result};

/// How often a record is looked at again because somebody else wrote it.
const TRIES: u32 = 16;
/// Entries that stay in the log, for servers that were away.
const LOG_KEPT: u64 = 4_096;
/// Old entries that are removed at once.
const LOG_SWEPT: usize = 256;

/// What every record says of itself.
#[derive(Deserialize)]
struct Stamped {
    #[serde(default)]
    epoch: u64,
}

impl Catalog {
    /// Writes one entry.
    pub(super) async fn write_entry(&self, entry: &Entry) -> Result<()> {
        self.put_once(&entry.key(), entry).await?;
        for (at, put) in entry.puts.iter().enumerate() {
            let stored = self.store.meta_get(&put.key()).await?;
            let is_news = epoch_of(stored.as_ref())?.is_none_or(|epoch| epoch < entry.epoch);
            if let Some(cause) = entry.cause.as_ref().filter(|_| is_news) {
                let line = audit::Line::new(entry, cause, put, stored.as_ref());
                self.put_once(&line.key(at), &line).await?;
            }
            self.write_put(entry.epoch, put, stored).await?;
        }
        Ok(())
    }

    /// Makes a record that nobody changes.
    async fn put_once(&self, key: &MetaKey, record: &impl serde::Serialize) -> Result<()> {
        // One that is there is the same.
        self.store.meta_cas(key, None, MetaChange::Put(encode(record)?)).await?;
        Ok(())
    }

    /// Puts a record, unless it holds a newer change.
    async fn write_put(&self, epoch: u64, put: &Put, mut stored: Option<MetaRecord>) -> Result<()> {
        for _ in 0..TRIES {
            if epoch_of(stored.as_ref())?.is_some_and(|stored| stored >= epoch) {
                return Ok(());
            }
            let (expected, change) = (stored.map(|found| found.version), MetaChange::Put(put.bytes()));
            match self.store.meta_cas(&put.key(), expected, change).await? {
                CasOutcome::Applied(_) => return Ok(()),
                CasOutcome::Conflict(found) => stored = found,
            }
        }
        let message = "a record is changed all the time by others; try again soon";
        Err(Error::new(Reason::BackendOverloaded, message))
    }

    /// Removes log entries that are so old that a server which lacks them reads everything anew.
    pub(crate) async fn sweep_log(&self) -> Result<()> {
        let Some(oldest) = self.known().epoch.checked_sub(LOG_KEPT) else { return Ok(()) };
        let (group, _) = log_after(0);
        let (_, last) = log_after(oldest);
        let is_old = |stored: &MetaRecord| *stored.name < *last.as_bytes();
        if !self.store.meta_range(group, None, 1).await?.records.first().is_some_and(is_old) {
            return Ok(());
        }
        let page = self.store.meta_range(group, None, LOG_SWEPT).await?;
        for stored in page.records.into_iter().filter(is_old) {
            let key = MetaKey::new(group, stored.name);
            self.store.meta_cas(&key, Some(stored.version), MetaChange::Remove).await?;
        }
        Ok(())
    }
}

fn epoch_of(stored: Option<&MetaRecord>) -> Result<Option<u64>> {
    let stamp = |found: &MetaRecord| decode::<Stamped>(&found.value).map(|stamped| stamped.epoch);
    stored.map(stamp).transpose()
}
