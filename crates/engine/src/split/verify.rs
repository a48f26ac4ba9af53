//! The last step: read the targets back from the store, and beside them the origin again. Completed only if all are equal.

use split::{CoverLayout, Digest, Digester, Phase, Reason, TargetPartition, Why};
use store::ErrorKind;

use super::attempt::{Attempt, READS_PER_WRITE, Targets};
use super::compare::first_difference;
use super::copy::{changed, shown};
use super::held::{Held, Stop};
use super::plan::misplaced;
use super::scan::{Pages, Part};

/// What a target holds.
#[derive(Default)]
pub(super) struct ReadBack {
    pub(super) digest: Digest,
    /// As the store has it.
    stored_rows: u64,
    stored_bytes: u64,
}

/// A target that is damaged does not hold what it should; any other failure says nothing of it.
pub(super) fn unreadable(error: store::Error) -> Stop {
    if error.kind() != ErrorKind::Corrupt {
        return error.into();
    }
    Stop::Failed(Why::new(Reason::Misplaced, format!("a target cannot be read: {error}")))
}

impl<'a> Attempt<'a> {
    /// Verifies and completes.
    pub(super) async fn verify(&mut self, held: &mut Held<'_>) -> Result<(), Stop> {
        let targets = self.targets(held)?;
        let copied = match held.record().resume(Phase::VerifyOrigin) {
            // They were read back before.
            Some(_) => held.record().post_split_data.as_ref().and_then(|post| post.digest.clone()),
            None => None,
        };
        #[cfg(feature = "seeded-bugs")]
        let from_memory = self.splits.has(super::bugs::Bug::VerifyFromMemory);
        #[cfg(feature = "seeded-bugs")]
        let copied = if from_memory { held.record().pre_split_data.digest.clone() } else { copied };
        let (copied, again) = match copied {
            Some(copied) => (copied, self.origin_again(held).await?),
            None => {
                let beside = self.origin_beside(held);
                tokio::try_join!(self.read_back(held, &targets), beside)?
            }
        };
        let planned = held.record().pre_split_data.digest.clone();
        if planned.as_ref() != Some(&again) {
            return Err(Stop::Failed(changed(planned.as_ref(), &again)));
        }
        if copied != again {
            self.splits.metrics.mismatched();
            let message = format!(
                "the targets differ from the origin: origin {}, targets {}",
                shown(&again),
                shown(&copied)
            );
            let key = first_difference(self, held, &targets).await?;
            return Err(Stop::Failed(Why { key, ..Why::new(Reason::Mismatch, message) }));
        }
        let server = self.splits.catalog.me.id();
        let (at, closes) = (self.splits.moment(&server), self.closes());
        held.write(held.record().completed(closes, at)).await?;
        self.splits.router.forget(&held.id);
        let largest = held.record().post_split_data.iter().flat_map(|post| &post.partitions);
        self.splits.metrics.completed(again.bytes, largest.map(|target| target.bytes));
        tracing::info!(split = %held.id, bytes = again.bytes, targets = targets.strategy.targets(), "split completed");
        Ok(())
    }

    /// When the slice takes no writes any more.
    pub(super) fn closes(&self) -> Option<i64> {
        let close = self.dataset.namespace.spec.close_after;
        (!close.is_zero()).then(|| self.layout.slice.end().saturating_add(crate::catalog::nanos(close)))
    }

    /// Reads every target; what they hold together.
    async fn read_back(&mut self, held: &mut Held<'_>, targets: &Targets) -> Result<Digest, Stop> {
        let resumed = held.record().resume(Phase::VerifyTargets).cloned();
        let done = held.record().post_split_data.clone().filter(|_| resumed.is_some());
        let mut partitions = done.as_ref().map(|post| post.partitions.clone()).unwrap_or_default();
        let mut total = done.and_then(|post| post.digest).unwrap_or_default();
        let first = resumed.as_ref().map_or(0, |found| found.target as usize);
        // How many chunks were read before is not known, so a packed target is read from its beginning.
        let begun = resumed.map(|found| found.digest).filter(|_| targets.packing.is_none());
        let mut begun = begun.unwrap_or_default();
        for target in first..targets.strategy.targets() {
            let read = self.read_target(held, targets, target, std::mem::take(&mut begun)).await?;
            partitions.push(TargetPartition {
                event_bucket: targets.partition(&held.id.partition, target).event_bucket,
                rows: read.digest.rows,
                bytes: read.digest.bytes,
                stored_rows: read.stored_rows,
                stored_bytes: read.stored_bytes,
            });
            total = total.and(&read.digest);
            // Together with the checkpoint that says which target comes next.
            let read_back = held.record().read_back(total.clone(), partitions.clone());
            let next = (Phase::VerifyTargets, target + 1);
            held.write(self.marked(&read_back, next, Digest::default(), None)).await?;
        }
        let mark = self.marked(held.record(), (Phase::VerifyOrigin, 0), Digest::default(), None);
        held.write(mark).await?;
        Ok(total)
    }

    /// Reads one target, from where `digest` stands.
    pub(super) async fn read_target(
        &mut self,
        held: &mut Held<'_>,
        targets: &Targets,
        target: usize,
        digest: Digest,
    ) -> Result<ReadBack, Stop> {
        let mut pages = self.target(held, targets, target, &digest);
        let mut read =
            ReadBack { stored_rows: digest.rows, stored_bytes: digest.bytes, ..ReadBack::default() };
        let mut digester = Digester::new(self.key, digest);
        while let Some(page) = pages.next().await.map_err(unreadable)? {
            read.stored_rows += page.stored_rows;
            read.stored_bytes += page.bytes;
            for row in page.rows.iter() {
                let (time, buckets) = (row.event_time.nanos(), self.layout.shape.buckets_per_id);
                let belongs = targets.strategy.target_of(time, row.event_id, buckets) == target
                    && self.is_of_origin(&row, &held.id.partition);
                if !digester.add(&row) || !belongs {
                    self.splits.metrics.mismatched();
                    return Err(misplaced("a target", &row));
                }
            }
            self.read(page.bytes).await?;
            if held.record().state.is_attempt() {
                self.checkpoint(held, (Phase::VerifyTargets, target), || (digester.digest(), None)).await?;
            }
        }
        Ok(ReadBack { digest: digester.digest(), ..read })
    }

    /// One target, from where `digest` stands. All of it, whatever time its rows have: none may be there that does not belong.
    pub(super) fn target(&self, held: &Held<'_>, targets: &Targets, target: usize, digest: &Digest) -> Pages {
        let part = Part {
            table: targets.table.clone(),
            partition: targets.partition(&held.id.partition, target),
            interval: model::Interval::ALL,
            consistency: self.dataset.namespace.spec.consistency,
            layout: match targets.packing {
                None => CoverLayout::Rows,
                // As many chunks at once as there may be.
                Some(_) => CoverLayout::Packed { rows_per_chunk: 1 },
            },
        };
        Pages::behind(&self.splits.store, part, digest, self.splits.limits.page_bytes)
    }

    /// Reads the origin again while the targets are read. Whoever takes over in between reads it by [`Self::origin_again`].
    fn origin_beside(&self, held: &Held<'_>) -> impl Future<Output = Result<Digest, Stop>> + use<'a> {
        let (mut pages, splits) = (self.origin(held, &Digest::default()), self.splits);
        let mut digester = Digester::new(self.key, Digest::default());
        async move {
            while let Some(page) = pages.next().await? {
                for row in page.rows.iter() {
                    if !digester.add(&row) {
                        return Err(misplaced("the origin", &row));
                    }
                }
                splits.throttle.take(&*splits.env.clock, page.bytes / READS_PER_WRITE).await;
            }
            Ok(digester.digest())
        }
    }

    /// Reads the origin again.
    pub(super) async fn origin_again(&mut self, held: &mut Held<'_>) -> Result<Digest, Stop> {
        let resumed = held.record().resume(Phase::VerifyOrigin).map(|found| found.digest.clone());
        let digest = resumed.unwrap_or_default();
        let mut pages = self.origin(held, &digest);
        let mut digester = Digester::new(self.key, digest);
        while let Some(page) = pages.next().await? {
            for row in page.rows.iter() {
                if !digester.add(&row) {
                    return Err(misplaced("the origin", &row));
                }
            }
            self.read(page.bytes).await?;
            if held.record().state.is_attempt() {
                self.checkpoint(held, (Phase::VerifyOrigin, 0), || (digester.digest(), None)).await?;
            }
        }
        Ok(digester.digest())
    }
}
