//! Records of splits that were read before, as routes. Pure.
//!
//! An entry counts only while its server holds a lease and has heard of no later retirement: whoever uses it asks
//! [`Entry::holds`]. Bounded: two generations of entries, of which the older one goes when the younger is full.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::BootTime;
use split::{Cover, SplitId};

/// Entries of a generation.
const GENERATION: usize = 8_192;
/// What is not completed is looked at again after so long.
const UNSPLIT_FOR: Duration = Duration::from_secs(5);

/// What the record of a split said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Whose it is.
    pub(crate) id: SplitId,
    /// What its targets hold; none where there is nothing to read from.
    pub(crate) cover: Option<Cover>,
    /// The last retirement in the namespace that was known before the record was read.
    pub(crate) retired: u64,
    /// When it was read.
    pub(crate) loaded: BootTime,
}

impl Entry {
    /// Whether it may still be used: `retired` is the last retirement that is known now.
    pub(crate) fn holds(&self, retired: u64, now: BootTime) -> bool {
        self.retired == retired && (self.cover.is_some() || now.since(self.loaded) < UNSPLIT_FOR)
    }
}

/// All entries of a server.
#[derive(Default)]
pub(crate) struct Cache {
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: BTreeMap<SplitId, Arc<Entry>>,
    old: BTreeMap<SplitId, Arc<Entry>>,
}

impl Cache {
    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a partition.
    pub(crate) fn get(&self, id: &SplitId) -> Option<Arc<Entry>> {
        let mut generations = self.generations();
        if let Some(found) = generations.young.get(id) {
            return Some(Arc::clone(found));
        }
        let found = generations.old.remove(id)?;
        generations.put(Arc::clone(&found));
        Some(found)
    }

    /// Keeps an entry, in place of what was known before.
    pub(crate) fn put(&self, entry: Arc<Entry>) {
        let mut generations = self.generations();
        generations.old.remove(&entry.id);
        generations.put(entry);
    }

    /// Forgets a partition.
    pub(crate) fn forget(&self, id: &SplitId) {
        let mut generations = self.generations();
        generations.young.remove(id);
        generations.old.remove(id);
    }

    /// Entries in it.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> usize {
        let generations = self.generations();
        generations.young.len() + generations.old.len()
    }
}

impl Generations {
    fn put(&mut self, entry: Arc<Entry>) {
        if self.young.len() >= GENERATION && !self.young.contains_key(&entry.id) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(entry.id.clone(), entry);
    }
}

#[cfg(test)]
mod tests {
    use model::{NamespaceName, PartitionKey, SeriesId};
    use split::Strategy;

    use super::*;

    fn entry(number: u32, is_split: bool, retired: u64) -> Arc<Entry> {
        let series = SeriesId::new("s").unwrap();
        let id = SplitId {
            namespace: NamespaceName::new("n").unwrap(),
            incarnation: 1,
            time_slice: "data_20260328".to_owned(),
            partition: PartitionKey { series, time_bucket: number, event_bucket: 0 },
        };
        let strategy = Strategy::EventBucket { target_event_buckets: 2 };
        let cover = is_split.then_some(Cover {
            strategy,
            start_event_bucket: 0,
            covered_until: 9,
            layout: split::CoverLayout::Rows,
        });
        Arc::new(Entry { id, cover, retired, loaded: at(100) })
    }

    fn at(seconds: u64) -> BootTime {
        BootTime::from_boot(Duration::from_secs(seconds))
    }

    #[test]
    fn an_entry_holds_until_a_retirement_is_heard_of() {
        assert!(entry(0, true, 7).holds(7, at(9_999)));
        assert!(!entry(0, true, 7).holds(8, at(100)));
        assert!(entry(0, false, 7).holds(7, at(104)) && !entry(0, false, 7).holds(7, at(105)));
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let cache = Cache::default();
        let used = entry(0, true, 0);
        cache.put(Arc::clone(&used));
        for number in 1..100_000 {
            cache.put(entry(number, false, 0));
            if number % 1_000 == 0 {
                assert_eq!(cache.get(&used.id), Some(Arc::clone(&used)));
            }
        }
        assert!(cache.entries() <= 2 * GENERATION);
        assert_eq!(cache.get(&entry(1, false, 0).id), None);
        cache.forget(&used.id);
        assert_eq!(cache.get(&used.id), None);
    }
}
