//! What was seen of reads in the present mode, by every server, as it is kept in the metadata.
//!
//! Each server counts for itself and writes its counts down now and then, under the change that began the mode: what was seen
//! before that does not count. JSON with a version; `docs/formats/splits.md` describes it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::NamespaceName;
use serde::{Deserialize, Serialize};
use store::{CasOutcome, MetaChange, MetaKey, MetaVersion};

use crate::Result;
use crate::catalog::record::{decode, encode};
use crate::catalog::{Catalog, Dataset};
use crate::view::Standing;

const VERSION: u32 = 1;

/// An incarnation of a namespace.
type Incarnation = (NamespaceName, u32);

/// Counts of one server, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evidence {
    /// Reads that were compared, whatever came of it.
    pub compared: u64,
    /// Logical bytes that were the same both ways.
    pub match_bytes: u64,
    /// Reads that differed, and differed again at a second look.
    pub differ: u64,
    /// Logical bytes in which they did.
    pub differ_bytes: u64,
    /// Reads that differed at the first look only.
    pub unconfirmed: u64,
    /// Reads of split partitions that were not compared.
    pub skipped: u64,
    /// Pages that were served from targets.
    pub target_pages: u64,
    /// Pages that should have been and were not.
    pub fallback_pages: u64,
    /// Pages that were timed both ways, and how long they took in all.
    pub timed: u64,
    /// From the origin.
    pub origin_nanos: u64,
    /// From targets.
    pub target_nanos: u64,
}

impl Evidence {
    /// Both together.
    pub(crate) fn and(self, other: &Self) -> Self {
        Self {
            compared: self.compared + other.compared,
            match_bytes: self.match_bytes + other.match_bytes,
            differ: self.differ + other.differ,
            differ_bytes: self.differ_bytes + other.differ_bytes,
            unconfirmed: self.unconfirmed + other.unconfirmed,
            skipped: self.skipped + other.skipped,
            target_pages: self.target_pages + other.target_pages,
            fallback_pages: self.fallback_pages + other.fallback_pages,
            timed: self.timed + other.timed,
            origin_nanos: self.origin_nanos.saturating_add(other.origin_nanos),
            target_nanos: self.target_nanos.saturating_add(other.target_nanos),
        }
    }

    /// Fallbacks among the pages that should come from targets.
    pub fn fallback_share(&self) -> f64 {
        let all = self.target_pages + self.fallback_pages;
        if all == 0 { 0.0 } else { self.fallback_pages as f64 / all as f64 }
    }

    /// How long targets take, where the origin takes one; none where nothing was timed.
    pub fn latency_ratio(&self) -> Option<f64> {
        (self.timed > 0 && self.origin_nanos > 0).then(|| self.target_nanos as f64 / self.origin_nanos as f64)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    evidence: Evidence,
}

/// What this server has seen of one namespace.
#[derive(Default)]
struct Own {
    /// The change that began the mode.
    epoch: u64,
    evidence: Evidence,
    written: Evidence,
    version: Option<MetaVersion>,
}

/// What this server has seen.
#[derive(Default)]
pub(crate) struct Notes {
    own: Mutex<BTreeMap<Incarnation, Own>>,
}

impl Notes {
    fn own(&self) -> MutexGuard<'_, BTreeMap<Incarnation, Own>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts something seen in the present mode of a namespace.
    pub(crate) fn add(&self, dataset: &Dataset, seen: &Evidence) {
        let (which, epoch) = (incarnation(dataset), dataset.record.mode.epoch);
        let mut own = self.own();
        let own = own.entry(which).or_default();
        if own.epoch > epoch {
            return;
        }
        if own.epoch < epoch {
            *own = Own { epoch, ..Own::default() };
        }
        own.evidence = own.evidence.and(seen);
    }

    /// Writes down what is new; forgets namespaces that are gone. Only with a lease: whoever deletes a namespace waits for nobody else, and
    /// what is written after that would stay for ever.
    pub(crate) async fn write(&self, catalog: &Catalog) -> Result<()> {
        if catalog.standing() != Standing::Leased {
            return Ok(());
        }
        let live: Vec<Incarnation> = catalog.all().iter().map(|dataset| incarnation(dataset)).collect();
        self.own().retain(|which, _| live.contains(which));
        let news: Vec<(Incarnation, u64, Evidence, Option<MetaVersion>)> = {
            let own = self.own();
            let news = own.iter().filter(|(_, own)| own.evidence != own.written);
            news.map(|(which, own)| (which.clone(), own.epoch, own.evidence, own.version)).collect()
        };
        for (which, epoch, evidence, expected) in news {
            let key = key(&which, epoch, &catalog.me.id());
            let put = MetaChange::Put(encode(&Stored { version: VERSION, evidence })?);
            let version = match catalog.store.meta_cas(&key, expected, put).await? {
                CasOutcome::Applied(version) => Some(version),
                // An earlier one came through after all; or the server has another name by now.
                CasOutcome::Conflict(found) => {
                    self.written(&which, epoch, None, found.map(|found| found.version));
                    continue;
                }
            };
            self.written(&which, epoch, Some(evidence), version);
        }
        Ok(())
    }

    fn written(
        &self,
        which: &Incarnation,
        epoch: u64,
        written: Option<Evidence>,
        version: Option<MetaVersion>,
    ) {
        if let Some(own) = self.own().get_mut(which).filter(|own| own.epoch == epoch) {
            own.version = version;
            own.written = written.unwrap_or(own.written);
        }
    }

    /// What all servers have seen of a namespace in its present mode, this one up to now.
    pub(crate) async fn of(&self, catalog: &Catalog, dataset: &Dataset) -> Result<Evidence> {
        let (which, epoch) = (incarnation(dataset), dataset.record.mode.epoch);
        let (mine, mut sum) = (key(&which, epoch, &catalog.me.id()).name, Evidence::default());
        if let Some(own) = self.own().get(&which).filter(|own| own.epoch == epoch) {
            sum = own.evidence;
        }
        let present = prefix(epoch);
        for stored in catalog.range(group(&which).as_bytes()).await? {
            if stored.name != mine && stored.name.starts_with(present.as_bytes()) {
                sum = sum.and(&decode::<Stored>(&stored.value)?.evidence);
            }
        }
        Ok(sum)
    }
}

impl Catalog {
    /// Removes what was seen in earlier modes of a namespace, or all of it.
    pub(crate) async fn forget_evidence(&self, which: &Incarnation, before_epoch: u64) -> Result<()> {
        for stored in self.range(group(which).as_bytes()).await? {
            if *stored.name < *prefix(before_epoch).as_bytes() {
                let key = MetaKey::new(group(which), stored.name);
                self.store.meta_cas(&key, Some(stored.version), MetaChange::Remove).await?;
            }
        }
        Ok(())
    }
}

fn incarnation(dataset: &Dataset) -> Incarnation {
    (dataset.namespace.name.clone(), dataset.namespace.incarnation)
}

fn group(which: &Incarnation) -> String {
    format!("readmode/{}.{}", which.0.as_str(), which.1)
}

fn prefix(epoch: u64) -> String {
    format!("{epoch:020}/")
}

fn key(which: &Incarnation, epoch: u64, server: &str) -> MetaKey {
    MetaKey::new(group(which), format!("{}{server}", prefix(epoch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_servers_add_up() {
        let one = Evidence {
            compared: 3,
            match_bytes: 10,
            timed: 1,
            origin_nanos: 4,
            target_nanos: 2,
            ..Evidence::default()
        };
        let two = Evidence { target_pages: 3, fallback_pages: 1, ..one };
        let both = one.and(&two);
        assert_eq!((both.compared, both.match_bytes, both.timed), (6, 20, 2));
        assert_eq!((both.fallback_share(), both.latency_ratio()), (0.25, Some(0.5)));
        assert_eq!((Evidence::default().fallback_share(), Evidence::default().latency_ratio()), (0.0, None));
    }

    #[test]
    fn the_stored_form_reads_back_and_lacks_nothing() {
        let stored = Stored { version: VERSION, evidence: Evidence { compared: 7, ..Evidence::default() } };
        let golden = "{\"version\":1,\"evidence\":{\"compared\":7,\"match_bytes\":0,\"differ\":0,\"differ_bytes\":0,\
                      \"unconfirmed\":0,\"skipped\":0,\"target_pages\":0,\"fallback_pages\":0,\"timed\":0,\
                      \"origin_nanos\":0,\"target_nanos\":0}}";
        assert_eq!(encode(&stored).unwrap(), golden.as_bytes());
        assert_eq!(decode::<Stored>(golden.as_bytes()).unwrap(), stored);
    }
}
