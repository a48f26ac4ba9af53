//! Where observations, proposals and looks lie. `docs/formats/tuning.md` describes them.

use ::tune::{Observation, Proposal, Unreadable};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::{CasOutcome, MetaChange, MetaKey, MetaRecord, MetaVersion};

use crate::catalog::record::{decode, encode};
use crate::catalog::{Catalog, Dataset, Incarnation};
use crate::view::Put;
use crate::{Error, Reason, Result};

const VERSION: u32 = 1;
const LOOKS: &str = "tuning";
const PROPOSALS: &str = "proposals/";
/// Observations that are kept of a namespace.
pub(super) const OBSERVATIONS_KEPT: usize = 64;
/// Proposals that are kept.
const PROPOSALS_KEPT: usize = 64;

/// Something as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    pub(super) of: T,
    pub(super) version: MetaVersion,
    /// Of the change of the view that made it so; zero where none did.
    pub(super) epoch: u64,
}

/// The last look at a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Look {
    version: u32,
    pub(super) looked: i64,
    pub(super) server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) finding: Option<LookFinding>,
}

/// Why there was nothing to propose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LookFinding {
    pub(super) code: String,
    pub(super) message: String,
}

impl Look {
    pub(super) fn new(looked: i64, server: String, finding: Option<LookFinding>) -> Self {
        Self { version: VERSION, looked, server, finding }
    }
}

/// Whether the change log may name a record of this group: it is in no view, only stored.
pub(crate) fn is_group(group: &str) -> bool {
    group.starts_with(PROPOSALS)
}

/// A put of a proposal that is settled by the change of `epoch`.
pub(super) fn put(which: &Incarnation, proposal: &Proposal, epoch: u64) -> Result<Put> {
    let text = String::from_utf8(proposal.encode(epoch).map_err(unreadable)?).map_err(|_| not_text())?;
    let raw = RawValue::from_string(text).map_err(|_| not_text())?;
    Put::new(&proposal_key(which, proposal.id), &raw)
}

impl Catalog {
    /// What is known of the slices of a namespace, oldest first.
    pub(super) async fn observations(&self, which: &Incarnation) -> Result<Vec<Kept<Observation>>> {
        let read = |stored: MetaRecord| {
            let of = Observation::decode(&stored.value).map_err(unreadable)?;
            Ok(Kept { of, version: stored.version, epoch: 0 })
        };
        self.range(observations(which).as_bytes()).await?.into_iter().map(read).collect()
    }

    /// Keeps an observation in place of the one that is known, unless somebody else was faster.
    pub(super) async fn keep_observation(
        &self,
        which: &Incarnation,
        seen: &Observation,
        expected: Option<MetaVersion>,
    ) -> Result<()> {
        let key = MetaKey::new(observations(which), format!("{:020}", seen.start));
        let put = MetaChange::Put(Bytes::from(seen.encode().map_err(unreadable)?));
        self.store.meta_cas(&key, expected, put).await?;
        Ok(())
    }

    /// Forgets observations of the oldest slices, where there are too many.
    pub(super) async fn trim_observations(&self, which: &Incarnation) -> Result<()> {
        self.forget_oldest(&observations(which), OBSERVATIONS_KEPT).await
    }

    /// The proposals of a namespace, oldest first. What was decided a moment ago is among them.
    pub(super) async fn proposals(&self, which: &Incarnation) -> Result<Vec<Kept<Proposal>>> {
        self.settle_now().await?;
        let read = |stored: MetaRecord| {
            let (of, epoch) = Proposal::decode(&stored.value).map_err(unreadable)?;
            Ok(Kept { of, version: stored.version, epoch })
        };
        self.range(proposals(which).as_bytes()).await?.into_iter().map(read).collect()
    }

    /// Keeps a proposal that no change of the view is about; whether nobody else was faster.
    pub(super) async fn keep_proposal(
        &self,
        which: &Incarnation,
        proposal: &Proposal,
        known: Option<&Kept<Proposal>>,
    ) -> Result<bool> {
        let (expected, epoch) = (known.map(|known| known.version), known.map_or(0, |known| known.epoch));
        let put = MetaChange::Put(Bytes::from(proposal.encode(epoch).map_err(unreadable)?));
        let key = proposal_key(which, proposal.id);
        let applied = matches!(self.store.meta_cas(&key, expected, put).await?, CasOutcome::Applied(_));
        if known.is_none() {
            self.forget_oldest(&proposals(which), PROPOSALS_KEPT).await?;
        }
        Ok(applied)
    }

    async fn forget_oldest(&self, group: &str, kept: usize) -> Result<()> {
        let stored = self.range(group.as_bytes()).await?;
        let too_many = stored.len().saturating_sub(kept);
        for old in stored.into_iter().take(too_many) {
            let key = MetaKey::new(group.to_owned(), old.name);
            self.store.meta_cas(&key, Some(old.version), MetaChange::Remove).await?;
        }
        Ok(())
    }

    /// The last look at a namespace.
    pub(super) async fn look(&self, which: &Incarnation) -> Result<Option<(Look, MetaVersion)>> {
        let Some(stored) = self.store.meta_get(&look_key(which)).await? else { return Ok(None) };
        let look: Look = decode(&stored.value)?;
        if look.version != VERSION {
            let message = format!(
                "a look of the tuner has version {}, this program knows {VERSION}; use a newer one",
                look.version
            );
            return Err(Error::new(Reason::ChecksumMismatch, message));
        }
        Ok(Some((look, stored.version)))
    }

    /// Writes a look down; the version it has now, none if somebody else was faster.
    pub(super) async fn keep_look(
        &self,
        which: &Incarnation,
        look: &Look,
        expected: Option<MetaVersion>,
    ) -> Result<Option<MetaVersion>> {
        let put = MetaChange::Put(encode(look)?);
        match self.store.meta_cas(&look_key(which), expected, put).await? {
            CasOutcome::Applied(version) => Ok(version.into()),
            CasOutcome::Conflict(_) => Ok(None),
        }
    }

    /// Removes all of it, of a namespace that is gone.
    pub(crate) async fn forget_tuning(&self, which: &Incarnation) -> Result<()> {
        self.forget_oldest(&observations(which), 0).await?;
        self.forget_oldest(&proposals(which), 0).await?;
        if let Some((_, version)) = self.look(which).await? {
            self.store.meta_cas(&look_key(which), Some(version), MetaChange::Remove).await?;
        }
        Ok(())
    }
}

/// Which incarnation a dataset is.
pub(super) fn incarnation(dataset: &Dataset) -> Incarnation {
    (dataset.namespace.name.clone(), dataset.namespace.incarnation)
}

fn observations(which: &Incarnation) -> String {
    format!("observations/{}.{}", which.0.as_str(), which.1)
}

fn proposals(which: &Incarnation) -> String {
    format!("{PROPOSALS}{}.{}", which.0.as_str(), which.1)
}

fn proposal_key(which: &Incarnation, id: u64) -> MetaKey {
    MetaKey::new(proposals(which), format!("{id:020}"))
}

fn look_key(which: &Incarnation) -> MetaKey {
    MetaKey::new(LOOKS, format!("{}.{}", which.0.as_str(), which.1))
}

fn unreadable(error: Unreadable) -> Error {
    Error::new(Reason::ChecksumMismatch, error.to_string())
}

fn not_text() -> Error {
    Error::field("proposal", "is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_written_and_read_as_it_always_was() {
        let finding = LookFinding { code: "IN_WINDOW".to_owned(), message: "fine".to_owned() };
        let look = Look::new(5, "s1".to_owned(), Some(finding));
        let golden = "{\"version\":1,\"looked\":5,\"server\":\"s1\",\"finding\":{\"code\":\"IN_WINDOW\",\"message\":\"fine\"}}";
        assert_eq!(encode(&look).unwrap(), golden.as_bytes());
        assert_eq!(decode::<Look>(golden.as_bytes()).unwrap(), look);
    }
}
