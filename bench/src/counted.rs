//! A layer that counts what is asked of the metadata, and how much that carries.

use std::ops::Sub;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use env::BoxFuture;
use store::Result;
use store::layer::{Call, Layer, Op, Outcome};

/// Calls for metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// `meta_get`
    pub(crate) gets: u64,
    /// `meta_range`
    pub(crate) ranges: u64,
    /// `meta_cas`
    pub(crate) changes: u64,
    /// Bytes of what was found.
    pub(crate) read_bytes: u64,
    /// Bytes of what was put.
    pub(crate) written_bytes: u64,
}

impl Tally {
    /// Gets and ranges.
    pub(crate) const fn reads(&self) -> u64 {
        self.gets + self.ranges
    }
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            gets: self.gets - earlier.gets,
            ranges: self.ranges - earlier.ranges,
            changes: self.changes - earlier.changes,
            read_bytes: self.read_bytes - earlier.read_bytes,
            written_bytes: self.written_bytes - earlier.written_bytes,
        }
    }
}

/// Counts every call for metadata. Clones share the count.
#[derive(Clone, Default)]
pub(crate) struct Counted {
    tally: Arc<Mutex<Tally>>,
}

impl Counted {
    /// What was asked so far.
    pub(crate) fn so_far(&self) -> Tally {
        *self.locked()
    }

    fn locked(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layer for Counted {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let answer = next.await?;
        let mut tally = self.locked();
        let count = match call.op {
            Op::MetaGet => &mut tally.gets,
            Op::MetaRange => &mut tally.ranges,
            Op::MetaCas => &mut tally.changes,
            _ => return Ok(answer),
        };
        *count += 1;
        tally.read_bytes += answer.bytes();
        tally.written_bytes += call.bytes;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use store::layer::Layered;
    use store::{MemoryStore, MetaChange, MetaKey, Store};

    use super::*;

    #[tokio::test]
    async fn metadata_is_counted_and_nothing_else() {
        let counted = Counted::default();
        let store = Layered::new(Arc::new(MemoryStore::new()), counted.clone());
        let key = MetaKey::new("group", "name");
        store.meta_cas(&key, None, MetaChange::Put("four".into())).await.unwrap();
        let before = counted.so_far();
        assert_eq!(before, Tally { changes: 1, written_bytes: 4, ..Tally::default() });
        store.meta_get(&key).await.unwrap();
        store.meta_range(b"group", None, 10).await.unwrap();
        store.ready().await.unwrap();
        let since = counted.so_far() - before;
        assert_eq!(since, Tally { gets: 1, ranges: 1, read_bytes: 8, ..Tally::default() });
        assert_eq!(since.reads(), 2);
    }
}
