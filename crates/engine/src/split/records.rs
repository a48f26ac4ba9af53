//! Records of splits, where they lie, and the list of what is due.
//!
//! Records of a slice lie in up to 64 groups; one small record a slice says which of them are used. Whatever somebody has to
//! look at is also in one list, in the order of when. An entry is made before the record that it is for says so, and removed
//! after: so nothing is ever forgotten, and an entry that no record agrees with is of no use and goes.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use split::{Record, SplitId};
use store::{CasOutcome, ErrorKind, MetaChange, MetaKey, MetaVersion};

use crate::catalog::record::{decode, encode};
use crate::catalog::{Catalog, incarnation_of};
use crate::{Error, Reason, Result};

const DUE: &str = "splits/due";
/// A version for every slice that has splits.
const CHANGED: &str = "splits/changed";
/// An entry that no record agrees with is removed when it is due for so long.
pub(super) const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// Entries of the list that are read at once.
const DUE_PAGE: usize = 64;
/// How often the record of a slice is changed anew because somebody else was faster.
const TRIES: u32 = 16;

/// A record, and the version that the next change has to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) record: Record,
    pub(crate) version: MetaVersion,
}

/// What is due, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) time: i64,
    /// None where the entry is unreadable.
    pub(crate) id: Option<SplitId>,
    name: Bytes,
}

/// Which groups of a slice hold records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shards {
    /// One bit a group.
    shards: u64,
}

/// How often the splits of a slice have changed so that filters have to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) which: (model::NamespaceName, u32),
    pub(crate) table: String,
    pub(crate) version: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    version: u64,
}

fn changed_key(which: &(model::NamespaceName, u32), table: &str) -> MetaKey {
    MetaKey::new(CHANGED, format!("{}.{}/{table}", which.0.as_str(), which.1))
}

fn record_key(id: &SplitId) -> MetaKey {
    MetaKey::new(id.group(), id.name())
}

fn due_key(time: i64, id: &SplitId) -> MetaKey {
    MetaKey::new(DUE, format!("{time:020}/{}", id.full()))
}

/// Where the used groups of the slices of one incarnation are.
fn shards_group(which: &(model::NamespaceName, u32)) -> String {
    format!("splits/{}.{}", which.0.as_str(), which.1)
}

impl Catalog {
    /// Reads the record of a split; none where there is none, or a newer version has written it.
    pub(crate) async fn split_record(&self, id: &SplitId) -> Result<Option<Stored>> {
        let found = self.store.meta_get(&record_key(id)).await?;
        found.map(|found| Ok(Stored { record: decode(&found.value)?, version: found.version })).transpose()
    }

    /// Makes a record that does not exist; the one that does where somebody else was faster.
    pub(crate) async fn make_split(&self, id: &SplitId, record: Record) -> Result<Stored> {
        self.use_shard(id).await?;
        match self.put_split(id, None, &record).await? {
            Some(version) => Ok(Stored { record, version }),
            None => self.split_record(id).await?.ok_or_else(|| changed(id)),
        }
    }

    /// Puts a record in place of `before`; the new version, or none where somebody else has changed it.
    pub(crate) async fn put_split(
        &self,
        id: &SplitId,
        before: Option<&Stored>,
        record: &Record,
    ) -> Result<Option<MetaVersion>> {
        let (was, due) = (before.and_then(|before| before.record.due()), record.due());
        let (fresh, begun) = (due.filter(|due| Some(*due) != was), self.env.clock.boot());
        if let Some(due) = fresh {
            self.add_due(&due_key(due, id)).await?;
        }
        let applied = self.swap_split(id, before.map(|before| before.version), record).await?;
        // Whoever was that slow may find it forgotten.
        let is_slow = self.env.clock.boot().since(begun) >= FORGOTTEN_AFTER / 2;
        if let Some(due) = fresh.filter(|_| applied.is_some() && is_slow) {
            self.add_due(&due_key(due, id)).await?;
        }
        if let Some(was) = was.filter(|was| applied.is_some() && Some(*was) != due) {
            self.remove_record(&due_key(was, id)).await?;
        }
        Ok(applied)
    }

    /// The same for the record alone. After an unknown outcome the record itself says what became of it.
    async fn swap_split(
        &self,
        id: &SplitId,
        expected: Option<MetaVersion>,
        record: &Record,
    ) -> Result<Option<MetaVersion>> {
        let (key, value) = (record_key(id), encode(record)?);
        match self.store.meta_cas(&key, expected, MetaChange::Put(value.clone())).await {
            Ok(CasOutcome::Applied(version)) => Ok(Some(version)),
            // An earlier attempt of the same change, tried again below the store, may be what stands there.
            Ok(CasOutcome::Conflict(found)) => {
                Ok(found.filter(|found| found.value == value).map(|found| found.version))
            }
            Err(error) if error.kind() == ErrorKind::Unknown => {
                let found = self.store.meta_get(&key).await?;
                let ours = found.filter(|found| found.value == value);
                ours.map(|found| Some(found.version)).ok_or_else(|| error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What is due at `now`, the oldest first, behind an entry that was seen; some at a time.
    pub(crate) async fn due_splits(&self, now: i64, after: Option<&Due>) -> Result<Vec<Due>> {
        let after = after.map(|due| due.name.as_ref());
        let page = self.store.meta_range(DUE.as_bytes(), after, DUE_PAGE).await?;
        let read = |name: Bytes| {
            let text = String::from_utf8_lossy(&name).into_owned();
            let (time, id) = text.split_once('/').unwrap_or((&text, ""));
            Due { time: time.parse().unwrap_or(0), id: SplitId::parse_full(id), name }
        };
        let due = page.records.into_iter().map(|record| read(record.name));
        Ok(due.take_while(|due| due.time <= now).collect())
    }

    /// Removes an entry that no record agrees with.
    pub(crate) async fn forget_due(&self, due: &Due) -> Result<()> {
        self.remove_record(&MetaKey::new(DUE, due.name.clone())).await
    }

    async fn add_due(&self, key: &MetaKey) -> Result<()> {
        self.store.meta_cas(key, None, MetaChange::Put(Bytes::from_static(b"{}"))).await?;
        Ok(())
    }

    async fn remove_record(&self, key: &MetaKey) -> Result<()> {
        if let Some(found) = self.store.meta_get(key).await? {
            self.store.meta_cas(key, Some(found.version), MetaChange::Remove).await?;
        }
        Ok(())
    }

    /// Says that a group of the slice is used, before it is.
    async fn use_shard(&self, id: &SplitId) -> Result<()> {
        let group = shards_group(&(id.namespace.clone(), id.incarnation));
        let key = MetaKey::new(group, id.time_slice.clone());
        let bit = 1_u64 << (id.shard() % 64);
        for _ in 0..TRIES {
            let found = self.store.meta_get(&key).await?;
            let before: Shards =
                found.as_ref().map(|found| decode(&found.value)).transpose()?.unwrap_or_default();
            if before.shards & bit != 0 {
                return Ok(());
            }
            let put = MetaChange::Put(encode(&Shards { shards: before.shards | bit })?);
            let expected = found.map(|found| found.version);
            if let CasOutcome::Applied(_) = self.store.meta_cas(&key, expected, put).await? {
                return Ok(());
            }
        }
        Err(changed(id))
    }

    /// Says that filters of a slice have to be read anew. Made before a split that they do not know can be completed.
    pub(crate) async fn splits_changed(&self, id: &SplitId) -> Result<()> {
        let key = changed_key(&(id.namespace.clone(), id.incarnation), &id.time_slice);
        for _ in 0..TRIES {
            let found = self.store.meta_get(&key).await?;
            let before: Version =
                found.as_ref().map(|found| decode(&found.value)).transpose()?.unwrap_or_default();
            let put = MetaChange::Put(encode(&Version { version: before.version + 1 })?);
            let expected = found.map(|found| found.version);
            if let CasOutcome::Applied(_) = self.store.meta_cas(&key, expected, put).await? {
                return Ok(());
            }
        }
        Err(changed(id))
    }

    /// The versions of all slices that have splits, of all namespaces.
    pub(crate) async fn split_versions(&self) -> Result<Vec<Changed>> {
        let mut versions = Vec::new();
        for stored in self.range(CHANGED.as_bytes()).await? {
            let name = String::from_utf8_lossy(&stored.name);
            let Some((which, table)) = name.split_once('/') else { continue };
            let Version { version } = decode(&stored.value)?;
            versions.push(Changed { which: incarnation_of(which)?, table: table.to_owned(), version });
        }
        Ok(versions)
    }

    /// The groups of the records of one slice.
    pub(crate) async fn groups_of_slice(
        &self,
        which: &(model::NamespaceName, u32),
        table: &str,
    ) -> Result<Vec<String>> {
        let found = self.store.meta_get(&MetaKey::new(shards_group(which), table.to_owned())).await?;
        let used = found.map(|found| decode::<Shards>(&found.value)).transpose()?.unwrap_or_default();
        Ok(groups(which, table, &used))
    }

    /// The slices of an incarnation that have splits, with the groups of their records.
    pub(crate) async fn split_groups(
        &self,
        which: &(model::NamespaceName, u32),
    ) -> Result<Vec<(String, Vec<String>)>> {
        let mut slices = Vec::new();
        for stored in self.range(shards_group(which).as_bytes()).await? {
            let table = String::from_utf8_lossy(&stored.name).into_owned();
            let groups = groups(which, &table, &decode(&stored.value)?);
            slices.push((table, groups));
        }
        Ok(slices)
    }

    /// Removes all that is stored of the splits of a slice that is gone. What is due of them goes when it is.
    pub(crate) async fn forget_splits(&self, which: &(model::NamespaceName, u32), table: &str) -> Result<()> {
        for (_, groups) in self.split_groups(which).await?.into_iter().filter(|(slice, _)| slice == table) {
            for group in groups {
                for stored in self.range(group.as_bytes()).await? {
                    let key = MetaKey::new(group.clone(), stored.name);
                    self.store.meta_cas(&key, Some(stored.version), MetaChange::Remove).await?;
                }
            }
            self.remove_record(&MetaKey::new(shards_group(which), table.to_owned())).await?;
        }
        self.remove_record(&changed_key(which, table)).await
    }
}

/// The groups of a slice that hold records.
fn groups(which: &(model::NamespaceName, u32), table: &str, used: &Shards) -> Vec<String> {
    let used = (0..64_u8).filter(|shard| used.shards & (1 << shard) != 0);
    used.map(|shard| split::shard_group(&which.0, which.1, table, shard)).collect()
}

/// Somebody else changes the same split all the time.
pub(crate) fn changed(id: &SplitId) -> Error {
    let message = format!("the split {id} is being changed by others; try again soon");
    Error::new(Reason::BackendOverloaded, message)
}
