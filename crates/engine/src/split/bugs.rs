//! Faults that are put in on purpose, so that tests can show that they find them. Only with the feature `seeded-bugs`, which no
//! product is built with; without a wish nothing here does anything.

use split::{Checkpoint, PostSplit, Record, State};

use super::held::{Held, Stop};
use super::splits::Splits;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// What was copied counts as what the targets hold.
    VerifyFromMemory,
    /// An attempt goes on from the checkpoint of the one before.
    ForeignCheckpoint,
    /// A worker writes the record whatever others have made of it.
    NoFence,
    /// The origin is read while others may still write to it.
    ScanBeforeBarrier,
    /// The targets of all attempts and buckets begin side by side.
    StrideCollision,
    /// Filters say no to everything.
    FilterMisses,
    /// What is known of a split counts also without a lease, and after a retirement was heard of.
    CacheBeyondLease,
    /// A position between two pages is one of the targets, and is read as such by whoever goes on.
    PhysicalToken,
    /// Where targets fail in the middle of a page, the page goes on from the origin behind what it has.
    MixedFallback,
    /// A split is retired, and its targets are deleted, without waiting for those who read them.
    RetireWithoutBarrier,
}

impl Splits {
    /// The same with a fault.
    pub(crate) fn with(mut self, bug: Option<Bug>) -> Self {
        self.bug = bug;
        self
    }

    /// Whether this one is put in.
    pub(super) fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
}

impl Held<'_> {
    /// What a worker with a fault writes instead.
    pub(super) async fn spoilt(&mut self, next: Record) -> Result<Record, Stop> {
        match self.splits.bug {
            Some(Bug::NoFence) => {
                if let Some(found) = self.splits.catalog.split_record(&self.id).await? {
                    self.stored.version = found.version;
                }
                Ok(next)
            }
            Some(Bug::ForeignCheckpoint) => {
                let kept = self.record().checkpoint.clone().filter(|_| next.checkpoint.is_none());
                let kept = kept.map(|kept| Checkpoint { attempt: next.attempt, ..kept });
                let profile = next.profile.clone().or_else(|| self.record().profile.clone());
                Ok(Record { checkpoint: next.checkpoint.clone().or(kept), profile, ..next })
            }
            Some(Bug::StrideCollision) if next.state == State::Planned => {
                let start = next.pre_split_data.event_bucket;
                let beside = |post: PostSplit| {
                    let ((strategy, _), packing) = (post.strategy()?, post.packing());
                    Some(PostSplit::new(post.time_slice, packing, &strategy, start))
                };
                Ok(Record { post_split_data: next.post_split_data.clone().and_then(beside), ..next })
            }
            _ => Ok(next),
        }
    }
}
