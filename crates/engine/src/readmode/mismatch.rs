//! Differences between origin and targets that a second look has confirmed, as they are kept for people: both sides of each.
//! JSON with a version; `docs/formats/splits.md` describes it.

use model::NamespaceName;
use serde::{Deserialize, Serialize};
use store::{MetaChange, MetaKey};

use crate::Result;
use crate::catalog::record::{decode, encode};
use crate::catalog::{Catalog, Dataset};

const VERSION: u32 = 1;
/// So many of a namespace are kept, the newest.
const KEPT: usize = 100;

/// A confirmed difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// Of this form.
    pub version: u32,
    /// When it was confirmed, nanoseconds since 1970.
    pub time: i64,
    /// By which server.
    pub server: String,
    /// The split whose targets differ.
    pub split: String,
    /// What was read, in words.
    pub read: String,
    /// The origin's side.
    pub origin: MismatchSide,
    /// The targets' side.
    pub target: MismatchSide,
}

/// One side of a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MismatchSide {
    /// Events that were read.
    pub records: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// The first event that the other side has not, or has with other contents; none where it has none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

impl Mismatch {
    /// One of now.
    pub(crate) fn new(time: i64, server: String, split: String, read: String) -> Self {
        let (origin, target) = (MismatchSide::default(), MismatchSide::default());
        Self { version: VERSION, time, server, split, read, origin, target }
    }
}

impl Catalog {
    /// Keeps a difference.
    pub(crate) async fn keep_mismatch(&self, dataset: &Dataset, mismatch: &Mismatch) -> Result<()> {
        let group = group(&dataset.namespace.name, dataset.namespace.incarnation);
        let newest_first = u64::MAX - u64::try_from(mismatch.time).unwrap_or(0);
        // A server may find several in the same moment.
        let own = env::fresh_id(&*self.env.random);
        let key = MetaKey::new(group.clone(), format!("{newest_first:020}/{own}"));
        self.store.meta_cas(&key, None, MetaChange::Put(encode(mismatch)?)).await?;
        for old in self.range(group.as_bytes()).await?.into_iter().skip(KEPT) {
            let key = MetaKey::new(group.clone(), old.name);
            self.store.meta_cas(&key, Some(old.version), MetaChange::Remove).await?;
        }
        Ok(())
    }

    /// The differences of a namespace, newest first.
    pub(crate) async fn mismatches(&self, dataset: &Dataset) -> Result<Vec<Mismatch>> {
        let group = group(&dataset.namespace.name, dataset.namespace.incarnation);
        self.range(group.as_bytes()).await?.iter().map(|stored| decode(&stored.value)).collect()
    }

    /// Removes those of a namespace that is gone.
    pub(crate) async fn forget_mismatches(&self, which: &(NamespaceName, u32)) -> Result<()> {
        let group = group(&which.0, which.1);
        for stored in self.range(group.as_bytes()).await? {
            let key = MetaKey::new(group.clone(), stored.name);
            self.store.meta_cas(&key, Some(stored.version), MetaChange::Remove).await?;
        }
        Ok(())
    }
}

fn group(name: &NamespaceName, incarnation: u32) -> String {
    format!("mismatches/{}.{incarnation}", name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_reads_back() {
        let mut mismatch =
            Mismatch::new(5, "s1".to_owned(), "data_20260328/7/2/a".to_owned(), "a".to_owned());
        mismatch.origin = MismatchSide { records: 2, bytes: 30, first: Some("e1 (15 bytes)".to_owned()) };
        let golden = "{\"version\":1,\"time\":5,\"server\":\"s1\",\"split\":\"data_20260328/7/2/a\",\"read\":\"a\",\
                      \"origin\":{\"records\":2,\"bytes\":30,\"first\":\"e1 (15 bytes)\"},\
                      \"target\":{\"records\":0,\"bytes\":0}}";
        assert_eq!(encode(&mismatch).unwrap(), golden.as_bytes());
        assert_eq!(decode::<Mismatch>(golden.as_bytes()).unwrap(), mismatch);
    }
}
