//! Following the log: what other servers have changed becomes what this one knows.

use std::time::Duration;

use store::MetaVersion;

use super::head::{Entry, Head, head_key, log_after};
use super::lease::Standing;
use crate::block::{BlockList, HeadRecord};
use crate::catalog::record::{self, NamespaceRecord};
use crate::catalog::{Catalog, Known, incarnation_of, name_of};
use crate::{Error, Reason, Result};

/// How often a server without a lease tries to get one back because a request wants it.
const TRY_EVERY: Duration = Duration::from_secs(1);
/// A request waits so long for that.
const TRY_FOR: Duration = Duration::from_millis(500);
/// An unknown namespace is looked for in the store at most so often.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The head as it was read.
pub(super) struct Synced {
    pub(super) head: Head,
    pub(super) version: Option<MetaVersion>,
    /// Entries that were new to this server, as far as they were read one by one.
    pub(super) new: Vec<Entry>,
}

impl Catalog {
    /// Takes over what has changed and reports it. To be called every second. One read, and one write where something is new
    /// or the last report is some seconds old. Gives back how many changes were new.
    pub(crate) async fn refresh(&self) -> Result<u64> {
        // Behind a silence the report comes first: no refresh before it gives a lease.
        let may_count = self.me.lease().may_count(self.env.clock.boot());
        let late = if may_count { Ok(()) } else { self.report().await };
        let changing = self.changing.lock().await;
        let before = self.known().epoch;
        self.sync().await?;
        let new = self.known().epoch - before;
        drop(changing);
        late?;
        self.report_if_due().await?;
        Ok(new)
    }

    /// What this server may do, after an attempt to get a lost lease back. Within [`TRY_EVERY`] only one request tries.
    pub(crate) async fn settled_standing(&self) -> Standing {
        let standing = self.standing();
        if standing == Standing::Leased || !self.me.may_try(self.env.clock.boot(), TRY_EVERY) {
            return standing;
        }
        self.refresh_within(TRY_FOR).await;
        self.standing()
    }

    /// Looks whether others know more; for a name that is not known here. Not more often than [`LOOK_EVERY`].
    pub(crate) async fn look_again(&self) {
        if self.me.may_try(self.env.clock.boot(), LOOK_EVERY) {
            self.refresh_within(TRY_FOR).await;
        }
    }

    async fn refresh_within(&self, limit: Duration) {
        tokio::select! {
            biased;
            refreshed = self.refresh() => if let Err(error) = refreshed {
                tracing::debug!(%error, "the view cannot be refreshed");
            },
            () = self.env.clock.sleep(limit) => {}
        }
    }

    /// Reads the head and all that is new. The caller holds `changing`.
    pub(super) async fn sync(&self) -> Result<Synced> {
        let (started, lease) = (self.env.clock.boot(), self.me.lease());
        let stored = self.store.meta_get(&head_key()).await?;
        let version = stored.as_ref().map(|found| found.version);
        let head = stored.map_or_else(|| Ok(Head::default()), |found| Head::decode(&found.value))?;
        let known = self.known().epoch;
        if head.epoch < known {
            let message = format!(
                "the change log is at {}, behind {known} that this server has seen: the metadata was put back; \
                 start all servers anew",
                head.epoch
            );
            return Err(Error::new(Reason::NotReady, message));
        }
        let new = if self.known().is_loaded { self.entries_between(known, &head).await? } else { None };
        let new = match new {
            Some(new) => {
                self.apply(&new).await?;
                new
            }
            None => {
                // Whole at once: whoever reads meanwhile sees all of the old or all of the new.
                let loaded = self.load_all(&head).await?;
                *self.known_mut() = loaded;
                Vec::new()
            }
        };
        self.me.has_passed(head.passed);
        self.me.saw_head(head.settled >= head.epoch, head.passed);
        self.me.change_lease(|now| now.refreshed(started, &lease));
        Ok(Synced { head, version, new })
    }

    /// The entries behind `known`; none where some are gone for good.
    async fn entries_between(&self, known: u64, head: &Head) -> Result<Option<Vec<Entry>>> {
        if let Some(entries) = head.after(known) {
            return Ok(Some(entries.to_vec()));
        }
        let (group, after) = log_after(known);
        let mut entries: Vec<Entry> = Vec::new();
        for stored in self.range_after(group, Some(after.as_bytes())).await? {
            let entry: Entry = record::decode(&stored.value)?;
            let next = entries.last().map_or(known, |last| last.epoch) + 1;
            if entry.epoch != next {
                break;
            }
            entries.push(entry);
        }
        let reached = entries.last().map_or(known, |last| last.epoch);
        entries.retain(|entry| entry.epoch <= head.epoch);
        let rest = if reached >= head.epoch { Some(&[][..]) } else { head.after(reached) };
        Ok(rest.map(|rest| {
            entries.extend_from_slice(rest);
            entries
        }))
    }

    /// Makes entries known, one after the other.
    pub(super) async fn apply(&self, entries: &[Entry]) -> Result<()> {
        for entry in entries {
            let lists = self.lists_of(entry).await?;
            self.known_mut().apply(entry, lists)?;
        }
        Ok(())
    }

    /// The blocked ids that each put of an entry names; none where it names none, or they were replaced since.
    async fn lists_of(&self, entry: &Entry) -> Result<Vec<Option<BlockList>>> {
        let mut lists = Vec::with_capacity(entry.puts.len());
        for put in &entry.puts {
            lists.push(if HeadRecord::is_group(&put.group) {
                self.stored_blocks(&put.name, &HeadRecord::decode(put.value.get().as_bytes())?).await?
            } else {
                None
            });
        }
        Ok(lists)
    }

    /// Reads every record, and what the head has beyond them.
    async fn load_all(&self, head: &Head) -> Result<Known> {
        let mut known = Known { is_loaded: true, ..Known::default() };
        for stored in self.range(record::namespaces_group()).await? {
            let name = name_of(&String::from_utf8_lossy(&stored.name))?;
            let namespace: NamespaceRecord = record::decode(&stored.value)?;
            let own = (!namespace.deleted).then_some(namespace.incarnation);
            for incarnation in namespace.leaving.iter().copied().chain(own) {
                // Of what is leaving only its slices are wanted.
                let as_it_was =
                    NamespaceRecord { deleted: false, incarnation, epoch: 0, ..namespace.clone() };
                known.put_namespace(name.clone(), as_it_was)?;
                let which = (name.clone(), incarnation);
                for stored in self.range(record::slices_group(&name, incarnation).as_bytes()).await? {
                    known.put_slice(&which, record::decode(&stored.value)?)?;
                }
            }
            known.put_namespace(name, namespace)?;
        }
        for stored in self.range(HeadRecord::group()).await? {
            let (name, blocks) = (String::from_utf8_lossy(&stored.name), HeadRecord::decode(&stored.value)?);
            let list = self.stored_blocks(&name, &blocks).await?;
            known.put_blocks(&incarnation_of(&name)?, blocks, list)?;
        }
        for entry in head.after(head.settled).unwrap_or_default() {
            let lists = self.lists_of(entry).await?;
            known.apply(entry, lists)?;
        }
        known.epoch = head.epoch;
        Ok(known)
    }
}
