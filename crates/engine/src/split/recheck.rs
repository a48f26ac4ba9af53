//! Comparing the origin of a completed split with its targets again: later by itself, and by hand.
//!
//! A write that was never acknowledged may still come to the origin, on a cluster hours later. Such a row, written before the
//! barrier of the split, is copied after it, a few times. Anything else that differs takes the split out of use.

use model::Row;
use split::{Digest, Reason, Recheck, Why};
use store::{Durability, PartitionBatch};

use super::attempt::{Attempt, Targets};
use super::compare::{Difference, differences};
use super::copy::shown;
use super::held::{Held, Stop};
use super::splits::Splits;
use crate::readmode::{Evidence, Mismatch, MismatchSide};

impl Splits {
    /// Compares; whether they were equal, or could be made so.
    pub(super) async fn recheck(&self, held: &mut Held<'_>) -> Result<bool, Stop> {
        let mut attempt = Attempt::of(self, held)?;
        let targets = attempt.targets(held)?;
        let (mut origin, copied) = attempt.both(held, &targets).await?;
        let mut stragglers = Vec::new();
        if copied.as_ref() != Some(&origin) {
            // A second look, row by row: what was only late is gone by now. Of what cannot be read there is none.
            let found = match differences(&mut attempt, held, &targets).await {
                Err(Stop::Failed(why)) if why.code == Reason::Misplaced => {
                    return self.differs(held, &origin, None, &[]).await;
                }
                found => found?,
            };
            match late_rows(&found, held, &origin) {
                Some(late) => stragglers = late,
                None => return self.differs(held, &origin, copied.as_ref(), &found).await,
            }
            if targets.packing.is_some() && !stragglers.is_empty() {
                return self.make_anew(held, &origin, stragglers.len()).await;
            }
            attempt.copy_after(held, &targets, &stragglers).await?;
            let (now, copied) = attempt.both(held, &targets).await?;
            if copied.as_ref() != Some(&now) {
                return self.differs(held, &now, copied.as_ref(), &found).await;
            }
            origin = now;
        }
        let server = self.catalog.me.id();
        let count = u32::try_from(stragglers.len()).unwrap_or(u32::MAX);
        let (time, closes) = (self.moment(&server).now, attempt.closes());
        let recheck = Recheck { time, origin: origin.clone(), equal: true };
        let mut next = held.record().rechecked(recheck, count, closes);
        if count > 0 {
            tracing::warn!(split = %held.id, rows = count, "rows came late to the origin of a split; they were copied after it");
        }
        // What a later comparison is about. A worker that copied late rows may not have come to write that down.
        next.pre_split_data.digest = Some(origin.clone());
        next.post_split_data =
            next.post_split_data.map(|post| split::PostSplit { digest: Some(origin), ..post });
        held.write(next).await?;
        Ok(true)
    }

    /// Rows came late to the origin of packed targets. No chunk can take them, so the targets are made anew.
    async fn make_anew(&self, held: &mut Held<'_>, origin: &Digest, late: usize) -> Result<bool, Stop> {
        let server = self.catalog.me.id();
        let at = self.moment(&server);
        let message = format!("{late} rows came late to the origin of packed targets, which are made anew");
        tracing::warn!(split = %held.id, "{message}");
        let recheck = Recheck { time: at.now, origin: origin.clone(), equal: false };
        let counted = held.record().rechecked(recheck, u32::try_from(late).unwrap_or(u32::MAX), None);
        held.write(counted.retiring_to_begin_again(None, Why::new(Reason::Straggler, message), at)).await?;
        self.finish_retiring(held).await?;
        Ok(false)
    }

    /// A difference that nobody expects: the targets are out of use from now on.
    async fn differs(
        &self,
        held: &mut Held<'_>,
        origin: &Digest,
        copied: Option<&Digest>,
        found: &[Difference],
    ) -> Result<bool, Stop> {
        self.metrics.mismatched();
        let both = copied;
        let copied = copied.map_or_else(|| "rows that do not belong there".to_owned(), shown);
        let message = format!(
            "the targets differ from the origin: origin {}, targets {copied}, {} differences seen",
            shown(origin),
            found.len()
        );
        tracing::error!(split = %held.id, "{message}; it is taken out of use");
        let server = self.catalog.me.id();
        let at = self.moment(&server);
        let recheck = Recheck { time: at.now, origin: origin.clone(), equal: false };
        let key = found.first().map(Difference::to_key);
        let why = Why { key, ..Why::new(Reason::Mismatch, message) };
        held.write(held.record().rechecked(recheck, 0, None).retiring(why, at)).await?;
        let mismatch = Mismatch {
            origin: side(origin, found.first().filter(|first| !matches!(first, Difference::OnlyTarget(_)))),
            target: MismatchSide {
                first: found.first().filter(|first| !matches!(first, Difference::OnlyOrigin(_))).map(named),
                ..both.map(|digest| side(digest, None)).unwrap_or_default()
            },
            ..Mismatch::new(
                at.now,
                server.clone(),
                held.id.to_string(),
                "all of it, compared by a worker".to_owned(),
            )
        };
        self.finish_retiring(held).await?;
        // Behind the change that it made: the mode that it counts against may have begun with that.
        let dataset = self.catalog.find_same(&held.id.namespace, held.id.incarnation)?;
        let lost = mismatch.origin.bytes.abs_diff(mismatch.target.bytes).max(1);
        self.notes
            .add(&dataset, &Evidence { compared: 1, differ: 1, differ_bytes: lost, ..Evidence::default() });
        self.catalog.keep_mismatch(&dataset, &mismatch).await?;
        Ok(false)
    }
}

/// What one side held.
fn side(digest: &Digest, first: Option<&Difference>) -> MismatchSide {
    MismatchSide { records: digest.rows, bytes: digest.bytes, first: first.map(named) }
}

/// The row of a difference, in words.
fn named(difference: &Difference) -> String {
    let split::Key { event_time, event_id, item_key } = difference.to_key();
    format!("item {item_key} of {event_id} at {event_time} ns")
}

/// The rows that only the origin has, if that is all that differs and they are few and were written before the barrier. No
/// more of them can be late than the origin has gained: others were in the targets once, and are lost there.
fn late_rows(found: &[Difference], held: &Held<'_>, origin: &Digest) -> Option<Vec<Row>> {
    let proven = held.record().pre_split_data.digest.as_ref().map_or(0, |digest| digest.rows);
    let barrier = held.record().barrier.map_or(0, |(_, time)| time / 1_000);
    let late = found.iter().map(|difference| match difference {
        Difference::OnlyOrigin(row) if row.write_time <= barrier => Some(row.clone()),
        _ => None,
    });
    let late: Vec<Row> = late.collect::<Option<_>>()?;
    let count = u32::try_from(late.len()).unwrap_or(u32::MAX);
    let gained = origin.rows.saturating_sub(proven);
    (held.record().bears(count) && u64::from(count) <= gained).then_some(late)
}

impl Attempt<'_> {
    /// The digests of the origin and of all targets together; none for targets that hold what does not belong there.
    async fn both(
        &mut self,
        held: &mut Held<'_>,
        targets: &Targets,
    ) -> Result<(Digest, Option<Digest>), Stop> {
        let mut total = Some(Digest::default());
        for target in 0..targets.strategy.targets() {
            match self.read_target(held, targets, target, Digest::default()).await {
                Ok(read) => total = total.map(|total| total.and(&read.digest)),
                Err(Stop::Failed(why)) if why.code == Reason::Misplaced => total = None,
                Err(stop) => return Err(stop),
            }
        }
        Ok((self.origin_again(held).await?, total))
    }

    /// Copies rows that came late.
    async fn copy_after(&self, held: &Held<'_>, targets: &Targets, late: &[Row]) -> Result<(), Stop> {
        for row in late {
            let (time, id) = (row.key.event_time.nanos(), row.key.event_id.as_bytes());
            let target = targets.strategy.target_of(time, id, self.layout.shape.buckets_per_id);
            let batch = PartitionBatch {
                table: targets.table.clone(),
                partition: targets.partition(&held.id.partition, target),
                rows: vec![row.clone()],
                consistency: self.dataset.namespace.spec.consistency,
            };
            self.splits.store.upsert(batch, Durability::Synced).await?;
        }
        Ok(())
    }
}
