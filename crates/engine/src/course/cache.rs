//! Chunks that a page ended in, unpacked: the next page begins there.
//!
//! A chunk never changes: targets are written once, and every attempt has its own. Whether they may still be read the route says, not
//! this. Bounded in bytes; the oldest go first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chunk::Chunk;
use model::{PartitionKey, RowKey, TableRef};

/// Bytes that are kept, about.
const BYTES_MAX: usize = 32 << 20;

/// Where a chunk lies.
type Home = (PartitionKey, TableRef);

/// Chunks of one server.
#[derive(Default)]
pub(crate) struct ChunkCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    chunks: VecDeque<(Home, Arc<Chunk>)>,
    bytes: usize,
}

impl ChunkCache {
    /// Keeps a chunk for the next page.
    pub(crate) fn put(&self, home: Home, chunk: Arc<Chunk>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(lies_in, other): &(Home, Arc<Chunk>)| {
            other.header().oldest == chunk.header().oldest && *lies_in == home
        };
        // Who reads the newest page again and again ends in the same one.
        if kept.chunks.iter().any(is_it) {
            return;
        }
        kept.bytes += chunk.memory_bytes();
        kept.chunks.push_back((home, chunk));
        while kept.bytes > BYTES_MAX
            && let Some((_, oldest)) = kept.chunks.pop_front()
        {
            kept.bytes = kept.bytes.saturating_sub(oldest.memory_bytes());
        }
    }

    /// Takes out the chunk of a partition in which a place lies.
    pub(crate) fn take(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        place: &RowKey,
    ) -> Option<Arc<Chunk>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |((of, lies_in), chunk): &(Home, Arc<Chunk>)| {
            let header = chunk.header();
            header.oldest <= *place && *place <= header.newest && of == partition && lies_in == table
        };
        let at = kept.chunks.iter().rposition(is_it)?;
        let (_, chunk) = kept.chunks.remove(at)?;
        kept.bytes = kept.bytes.saturating_sub(chunk.memory_bytes());
        Some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::tests::{chunks_of, key, scan};

    #[test]
    fn a_place_finds_the_chunk_it_lies_in_once() {
        let cache = ChunkCache::default();
        let scan = scan(model::Order::NewestFirst, model::Interval::ALL, std::ops::Bound::Unbounded);
        let (table, partition) = (&scan.table, &scan.partition);
        let other = PartitionKey { event_bucket: 7, ..partition.clone() };
        for chunk in chunks_of(100) {
            cache.put((partition.clone(), table.clone()), chunk);
        }
        let place = key(50, "e", "i");
        assert!(cache.take(table, &other, &place).is_none());
        assert!(cache.take(table, partition, &key(500, "e", "i")).is_none());
        let found = cache.take(table, partition, &place).unwrap();
        assert!(found.header().oldest <= place && place <= found.header().newest);
        assert!(cache.take(table, partition, &place).is_none(), "it is with the page that goes on in it");
    }

    #[test]
    fn it_does_not_grow_beyond_its_limit() {
        let cache = ChunkCache::default();
        let scan = scan(model::Order::NewestFirst, model::Interval::ALL, std::ops::Bound::Unbounded);
        let chunk = chunks_of(100).remove(0);
        let many = 2 * BYTES_MAX / chunk.memory_bytes();
        for number in 0..many {
            let event_bucket = u32::try_from(number).unwrap();
            let home = || (PartitionKey { event_bucket, ..scan.partition.clone() }, scan.table.clone());
            cache.put(home(), Arc::clone(&chunk));
            cache.put(home(), Arc::clone(&chunk));
            if number == 9 {
                assert_eq!(cache.kept.lock().unwrap().chunks.len(), 10, "each once");
            }
        }
        let kept = cache.kept.lock().unwrap();
        assert!(kept.bytes <= BYTES_MAX && kept.chunks.len() > many / 4, "{}", kept.chunks.len());
    }
}
