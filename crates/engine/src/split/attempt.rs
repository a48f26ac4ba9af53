//! One attempt, from where the record says that it stands to its end.

use std::sync::Arc;
use std::time::Duration;

use env::BootTime;
use model::{Interval, Layout, PartitionKey, RowView, TableRef};
use split::{
    CHECKPOINTS_EVERY_BYTES, Checkpoint, Digest, DigestKey, Packing, Phase, PostSplit, Profile, Reason,
    Record, State, Strategy, TargetLayout, Why,
};

use super::begin::covered;
use super::held::{Held, Stop};
use super::splits::{Splits, layout_of};
use crate::catalog::Dataset;

/// A step writes down how far it has come at least so often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);
/// The disk is looked at so often.
const LOOK_AT_DISK_EVERY: Duration = Duration::from_secs(5);

/// Bytes that may be read in the time in which one may be copied.
pub(super) const READS_PER_WRITE: u64 = 4;

/// What the steps of an attempt work on.
pub(super) struct Attempt<'a> {
    pub(super) splits: &'a Splits,
    pub(super) dataset: Arc<Dataset>,
    pub(super) layout: Layout,
    /// The time that is copied.
    pub(super) interval: Interval,
    pub(super) key: DigestKey,
    /// When the record was last written, and how many bytes were moved since.
    written: BootTime,
    moved: u64,
    disk_seen: BootTime,
}

/// Where the rows of an origin go.
pub(super) struct Targets {
    pub(super) table: TableRef,
    pub(super) strategy: Strategy,
    /// How they are packed; none where they keep rows.
    pub(super) packing: Option<Packing>,
    start: u32,
}

impl Targets {
    /// The partition of a target.
    pub(super) fn partition(&self, origin: &PartitionKey, target: usize) -> PartitionKey {
        let event_bucket = self.start.saturating_add(u32::try_from(target).unwrap_or(u32::MAX));
        PartitionKey { event_bucket, ..origin.clone() }
    }
}

impl Splits {
    /// Takes an attempt up and brings it to its end.
    pub(super) async fn attempt(&self, held: &mut Held<'_>) -> Result<(), Stop> {
        self.claim(held).await?;
        let mut attempt = Attempt::of(self, held)?;
        loop {
            let (state, started) = (held.record().state, self.env.clock.boot());
            match state {
                State::Planning => attempt.plan(held).await?,
                State::Planned => attempt.make_room(held).await?,
                State::Copying => attempt.copy(held).await?,
                State::Verifying => attempt.verify(held).await?,
                _ => return Ok(()),
            }
            self.metrics.stage(state, self.env.clock.boot().since(started));
        }
    }
}

impl<'a> Attempt<'a> {
    pub(super) fn of(splits: &'a Splits, held: &Held<'_>) -> Result<Self, Stop> {
        let dataset = splits.catalog.find_same(&held.id.namespace, held.id.incarnation)?;
        let (layout, interval) = covered(held, &dataset)?;
        let key = held.record().digest_key.as_deref().and_then(DigestKey::from_hex);
        let key = key.ok_or_else(|| damaged("it has no key for its digests"))?;
        let now = splits.env.clock.boot();
        Ok(Self { splits, dataset, layout, interval, key, written: now, moved: 0, disk_seen: now })
    }

    /// Whether an event lies in the origin of the split.
    pub(super) fn is_of_origin(&self, row: &RowView<'_>, origin: &PartitionKey) -> bool {
        let hash = model::hash::event_hash(row.event_id) % u64::from(self.layout.shape.buckets_per_id.max(1));
        self.interval.contains(row.event_time) && hash == u64::from(origin.event_bucket)
    }

    /// Where the rows go, by the record.
    pub(super) fn targets(&self, held: &Held<'_>) -> Result<Targets, Stop> {
        let post = held.record().post_split_data.as_ref();
        let (strategy, start) =
            post.and_then(|post| post.strategy()).ok_or_else(|| damaged("it does not say how it is cut"))?;
        let packing = post.and_then(PostSplit::packing);
        if packing.is_none() && post.is_some_and(|post| post.layout == TargetLayout::Packed) {
            return Err(damaged("it does not say how it is packed"));
        }
        Ok(Targets { table: self.dataset.wide_table(&self.layout), strategy, packing, start })
    }

    /// So much was read: waits as the throttle says, and looks whether the attempt may go on.
    pub(super) async fn read(&mut self, bytes: u64) -> Result<(), Stop> {
        self.moved(bytes, bytes / READS_PER_WRITE).await
    }

    /// The same where it was also written.
    pub(super) async fn copied(&mut self, bytes: u64) -> Result<(), Stop> {
        self.moved(bytes, bytes).await
    }

    async fn moved(&mut self, bytes: u64, cost: u64) -> Result<(), Stop> {
        let env = &self.splits.env;
        self.splits.throttle.take(&*env.clock, cost).await;
        self.moved += bytes;
        let id = (&self.dataset.namespace.name, self.dataset.namespace.incarnation);
        let now = self.splits.catalog.find_same(id.0, id.1)?;
        if layout_of(&now, self.dataset.table(&self.layout).name.as_str()).is_none() {
            return Err(Stop::Failed(Why::new(Reason::SliceGone, "its slice is being dropped")));
        }
        if now.record.splits_paused {
            return Err(Stop::Left);
        }
        let boot = env.clock.boot();
        if boot.since(self.disk_seen) >= LOOK_AT_DISK_EVERY {
            self.disk_seen = boot;
            if let Some(why) = self.splits.disk_over(self.splits.limits.disk_abort).await? {
                return Err(Stop::Failed(why));
            }
        }
        Ok(())
    }

    /// Writes down how far a step has come, if it is time to.
    pub(super) async fn checkpoint(
        &mut self,
        held: &mut Held<'_>,
        (phase, target): (Phase, usize),
        progress: impl FnOnce() -> (Digest, Option<Profile>),
    ) -> Result<(), Stop> {
        let now = self.splits.env.clock.boot();
        if now.since(self.written) < CHECKPOINT_EVERY && self.moved < CHECKPOINTS_EVERY_BYTES {
            return Ok(());
        }
        let (digest, profile) = progress();
        let marked = self.marked(held.record(), (phase, target), digest, profile);
        held.write(marked).await?;
        (self.written, self.moved) = (now, 0);
        Ok(())
    }

    /// The record with a checkpoint of now.
    pub(super) fn marked(
        &self,
        record: &Record,
        (phase, target): (Phase, usize),
        digest: Digest,
        profile: Option<Profile>,
    ) -> Record {
        let checkpoint = Checkpoint {
            attempt: record.attempt,
            phase,
            target: u32::try_from(target).unwrap_or(0),
            digest,
            time: self.splits.env.clock.wall(),
        };
        record.checkpointed(checkpoint, profile)
    }
}

pub(super) fn damaged(what: &str) -> Stop {
    Stop::Failed(Why::new(Reason::Store, format!("the record of the split is damaged: {what}")))
}
