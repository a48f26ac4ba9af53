//! Reading and changing the stored lists, and making them the ones in force.
//!
//! A change writes new chunks, then swaps the head by compare-and-set, then removes what the old head named. So a list
//! changes whole or not at all, for every server, and what a crash leaves behind is swept by the next change: whoever
//! swaps the head has seen every chunk that is older, and none of them can be named any more.
//!
//! Invariant: a list in force never goes back to an older one.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use env::fresh_id;
use model::NamespaceName;
use store::{CasOutcome, ErrorKind, MetaChange, MetaKey, MetaRecord, MetaVersion};

use super::list::{Block, BlockChange, BlockList};
use super::record::{HeadRecord, Home, heads_group};
use crate::catalog::{Catalog, Dataset};
use crate::{Error, Namespace, Reason, Result};

/// How often a change, or a read that meets one, begins anew because another server was faster.
const TRIES: u32 = 10;

/// A list as the store has it.
struct Stored {
    /// Of the head; none where nothing was ever blocked.
    version: Option<MetaVersion>,
    change: u64,
    list: BlockList,
    /// Every chunk that was there, also of other attempts.
    chunks: Vec<MetaRecord>,
}

impl Catalog {
    /// Changes the list of a namespace, here at once and elsewhere with the next refresh; gives back the blocks that were
    /// made or removed.
    pub(crate) async fn change_blocks(
        &self,
        name: &NamespaceName,
        change: &BlockChange,
    ) -> Result<Vec<Block>> {
        let _blocking = self.blocking.lock().await;
        let namespace = self.find(name)?.namespace.clone();
        let home = Home::new(name, namespace.incarnation);
        for _ in 0..TRIES {
            let stored = self.read_blocks(&home).await?;
            let (list, touched) = stored.list.changed(change, self.env.clock.wall())?;
            let written = if touched.is_empty() {
                stored.version
            } else {
                let Some(version) = self.write_blocks(&home, &stored, &list).await? else { continue };
                Some(version)
            };
            self.put_in_force(&namespace, written, list).await?;
            return Ok(touched);
        }
        Err(contended(name))
    }

    /// Takes over what other servers have changed; gives back of how many namespaces. One that fails does not keep the
    /// others from theirs.
    pub(crate) async fn refresh_blocks(&self) -> Result<usize> {
        let heads = self.range(heads_group()).await?;
        let heads: BTreeMap<Bytes, MetaVersion> =
            heads.into_iter().map(|head| (head.name, head.version)).collect();
        let (mut changed, mut failed) = (0, None);
        for dataset in self.all() {
            let home = Home::new(&dataset.namespace.name, dataset.namespace.incarnation);
            if heads.get(&home.head.name).copied() == dataset.blocks_version {
                continue;
            }
            match self.reload_blocks(&dataset.namespace, &home).await {
                Ok(news) => changed += usize::from(news),
                Err(error) if error.reason() == Reason::NamespaceNotFound => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(changed), Err)
    }

    async fn reload_blocks(&self, namespace: &Namespace, home: &Home) -> Result<bool> {
        let _blocking = self.blocking.lock().await;
        let stored = self.read_blocks(home).await?;
        self.put_in_force(namespace, stored.version, stored.list).await
    }

    /// Removes what is stored of the list of a namespace that is gone. The caller holds `blocking`.
    pub(crate) async fn drop_blocks(&self, namespace: &Namespace) -> Result<()> {
        let home = Home::new(&namespace.name, namespace.incarnation);
        if let Some(head) = self.store.meta_get(&home.head).await? {
            self.store.meta_cas(&home.head, Some(head.version), MetaChange::Remove).await?;
        }
        for chunk in self.range(home.chunks.as_bytes()).await? {
            let key = MetaKey::new(home.chunks.clone(), chunk.name);
            self.store.meta_cas(&key, Some(chunk.version), MetaChange::Remove).await?;
        }
        Ok(())
    }

    /// Makes a list the one that is checked, unless a newer one is; whether it did.
    async fn put_in_force(
        &self,
        namespace: &Namespace,
        version: Option<MetaVersion>,
        list: BlockList,
    ) -> Result<bool> {
        let _changing = self.changing.lock().await;
        let present = self.find_same(&namespace.name, namespace.incarnation)?;
        let newer = present.blocks_version <= version;
        if newer {
            let mut dataset = Dataset::clone(&present);
            (dataset.blocks, dataset.blocks_version) = (Arc::new(list), version);
            self.publish(dataset);
        }
        Ok(newer)
    }

    /// The list as it is stored. The head comes first: a chunk that it names and that is not there was replaced since.
    async fn read_blocks(&self, home: &Home) -> Result<Stored> {
        let mut seen = None;
        for _ in 0..TRIES {
            let head = self.store.meta_get(&home.head).await?;
            let chunks = self.range(home.chunks.as_bytes()).await?;
            let Some(head) = head else {
                return Ok(Stored { version: None, change: 0, list: BlockList::default(), chunks });
            };
            let record = HeadRecord::decode(&head.value)?;
            if let Some(list) = record.assemble(&chunks)? {
                return Ok(Stored { version: Some(head.version), change: record.change, list, chunks });
            }
            if seen.replace(head.version) == Some(head.version) {
                let message = "stored blocks of a namespace are missing; restore the metadata from a backup";
                return Err(Error::new(Reason::ChecksumMismatch, message));
            }
        }
        let message = "blocked ids are being changed again and again; try again soon";
        Err(Error::new(Reason::BackendOverloaded, message))
    }

    /// Stores `list` in place of `before`; none if somebody else was faster.
    async fn write_blocks(
        &self,
        home: &Home,
        before: &Stored,
        list: &BlockList,
    ) -> Result<Option<MetaVersion>> {
        let (head, chunks) = HeadRecord::new(before.change + 1, fresh_id(&*self.env.random), list)?;
        for (name, value) in head.chunks.iter().zip(chunks) {
            // Nobody else uses the name: a conflict could only be this very record.
            match self.store.meta_cas(&home.chunk(name), None, MetaChange::Put(value)).await {
                Ok(_) => {}
                // No head names it yet: begin anew, under other names.
                Err(error) if error.kind() == ErrorKind::Unknown => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        let put = MetaChange::Put(head.encode()?);
        let found = match self.store.meta_cas(&home.head, before.version, put).await {
            Ok(CasOutcome::Applied(version)) => {
                self.sweep(home, before).await;
                return Ok(Some(version));
            }
            Ok(CasOutcome::Conflict(found)) => found,
            Err(error) if error.kind() == ErrorKind::Unknown => self.store.meta_get(&home.head).await?,
            Err(error) => return Err(error.into()),
        };
        let Some(found) = found else { return Ok(None) };
        let ours = HeadRecord::decode(&found.value)?.attempt == head.attempt;
        Ok(ours.then_some(found.version))
    }

    /// Removes the chunks that were there before the head was swapped. What fails is left to the next change.
    async fn sweep(&self, home: &Home, before: &Stored) {
        for chunk in &before.chunks {
            let key = MetaKey::new(home.chunks.clone(), chunk.name.clone());
            if let Err(error) = self.store.meta_cas(&key, Some(chunk.version), MetaChange::Remove).await {
                tracing::debug!(%error, "old blocked ids were not swept; the next change does it");
                return;
            }
        }
    }
}

fn contended(name: &NamespaceName) -> Error {
    let message = format!(
        "the blocked ids of namespace `{}` are being changed by others; try again soon",
        name.as_str()
    );
    Error::new(Reason::BackendOverloaded, message)
}
