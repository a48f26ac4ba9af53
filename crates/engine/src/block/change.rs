//! Changing the stored lists, and reading them.
//!
//! A change writes new chunks under names of their own; then the log of the view names them, and with that the whole list is
//! another one, for every server. What the old head named, and what a crash left behind, is swept by the next change: whoever
//! makes one has seen every chunk that is older, and none of them can be named any more.

use bytes::Bytes;
use env::fresh_id;
use model::NamespaceName;
use store::{ErrorKind, MetaChange, MetaKey};

use super::audited::Audited;
use super::list::{Block, BlockChange, BlockList};
use super::record::{HeadRecord, Home};
use crate::catalog::{Catalog, Dataset, Known};
use crate::view::{Cause, Decided, Put};
use crate::{Error, Reason, Result};

/// How often a change begins anew because another server was faster.
const TRIES: u32 = 10;

impl Catalog {
    /// Changes the list of a namespace; gives back the blocks that were made or removed.
    pub(crate) async fn change_blocks(
        &self,
        name: &NamespaceName,
        change: &BlockChange,
        cause: &Cause,
    ) -> Result<Vec<Block>> {
        let _blocking = self.blocking.lock().await;
        for _ in 0..TRIES {
            self.refresh().await?;
            let before = self.find(name)?;
            let (list, touched) = before.blocks.changed(change, self.env.clock.wall())?;
            if touched.is_empty() || self.swap_blocks(&before, &list, &touched, cause).await? {
                return Ok(touched);
            }
        }
        let message = format!(
            "the blocked ids of namespace `{}` are being changed by others; try again soon",
            name.as_str()
        );
        Err(Error::new(Reason::BackendOverloaded, message))
    }

    /// Puts `list` in place of the one that `before` has, unless somebody else was faster; whether it did.
    async fn swap_blocks(
        &self,
        before: &Dataset,
        list: &BlockList,
        touched: &[Block],
        cause: &Cause,
    ) -> Result<bool> {
        let shown = [&before.blocks, list].map(|list| Audited::of(list, touched));
        let (name, incarnation) = (&before.namespace.name, before.namespace.incarnation);
        let home = Home::new(name, incarnation);
        let change = before.blocks_head.as_ref().map_or(0, |head| head.change) + 1;
        let (head, chunks) = HeadRecord::new(change, fresh_id(&*self.env.random), list)?;
        if !self.write_chunks(&home, &head, chunks).await? {
            return Ok(false);
        }
        let decide = |known: &Known, epoch| {
            let present = known.incarnation(&(name.clone(), incarnation));
            let known_change = |dataset: &Dataset| dataset.blocks_head.as_ref().map_or(0, |head| head.change);
            if present.is_none_or(|dataset| known_change(dataset) + 1 != change) {
                return Ok(Decided { puts: Vec::new(), answer: false });
            }
            let put = Put::new(&home.head, &head.at(epoch))?.shown(&shown[0], &shown[1])?;
            Ok(Decided { puts: vec![put], answer: true })
        };
        let (swapped, _) = self.change(Some(cause), decide).await?;
        if swapped {
            self.sweep_chunks(&home, &head).await;
        }
        Ok(swapped)
    }

    async fn write_chunks(&self, home: &Home, head: &HeadRecord, chunks: Vec<Bytes>) -> Result<bool> {
        for (name, value) in head.chunks.iter().zip(chunks) {
            // Nobody else uses the name: a conflict could only be this very record.
            match self.store.meta_cas(&home.chunk(name), None, MetaChange::Put(value)).await {
                Ok(_) => {}
                // No head names it yet: begin anew, under other names.
                Err(error) if error.kind() == ErrorKind::Unknown => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Removes chunks that no head can name any more. What fails is left to the next change.
    async fn sweep_chunks(&self, home: &Home, head: &HeadRecord) {
        let swept = async {
            for chunk in self.range(home.chunks.as_bytes()).await? {
                if head.outlives(&chunk.name) {
                    let key = MetaKey::new(home.chunks.clone(), chunk.name);
                    self.store.meta_cas(&key, Some(chunk.version), MetaChange::Remove).await?;
                }
            }
            Ok::<(), Error>(())
        };
        if let Err(error) = swept.await {
            tracing::debug!(%error, "old blocked ids were not swept; the next change does it");
        }
    }

    /// The list that a head names; none where a newer one has replaced it. `which` is `name.incarnation`.
    pub(crate) async fn stored_blocks(&self, which: &str, head: &HeadRecord) -> Result<Option<BlockList>> {
        head.assemble(&self.range(Home::of(which).chunks.as_bytes()).await?)
    }

    /// Removes what is stored of the list of a namespace that is gone.
    pub(crate) async fn drop_blocks(&self, left: &Dataset) -> Result<()> {
        let home = Home::new(&left.namespace.name, left.namespace.incarnation);
        if let Some(head) = self.store.meta_get(&home.head).await? {
            self.store.meta_cas(&home.head, Some(head.version), MetaChange::Remove).await?;
        }
        for chunk in self.range(home.chunks.as_bytes()).await? {
            let key = MetaKey::new(home.chunks.clone(), chunk.name);
            self.store.meta_cas(&key, Some(chunk.version), MetaChange::Remove).await?;
        }
        Ok(())
    }
}
