//! Before an attempt: is it wanted, may it be, and can the origin change no more?

use std::time::Duration;

use model::{Interval, Layout};
use split::{DigestKey, Reason, Why};
use store::Consistency;

use super::held::{Held, Stop};
use super::splits::{Splits, layout_of};
use crate::block::Access;
use crate::catalog::{Dataset, MARGIN, nanos};
use crate::namespace::SplitPolicy;

/// What is not wanted now is looked at again after so long.
const UNWANTED: Duration = Duration::from_secs(600);
/// The same where something is in the way that passes.
const IN_THE_WAY: Duration = Duration::from_secs(30);

/// Why an attempt does not begin now.
enum Not {
    Ever(Why),
    Until(i64, Why),
}

impl Splits {
    /// Whether an attempt may begin; if not, the record says why and when to look again.
    pub(super) async fn may_begin(&self, held: &mut Held<'_>) -> Result<bool, Stop> {
        let server = self.catalog.me.id();
        match self.what_is_against(held).await? {
            None => Ok(true),
            Some(Not::Ever(why)) => Err(Stop::Rejected(why)),
            Some(Not::Until(next, why)) => {
                let at = self.moment(&server);
                let later = held
                    .record()
                    .put_off(next.max(at.now.saturating_add(nanos(Duration::from_secs(1)))), Some(why));
                held.write(later).await?;
                Ok(false)
            }
        }
    }

    async fn what_is_against(&self, held: &Held<'_>) -> Result<Option<Not>, Stop> {
        let (id, record) = (&held.id, held.record());
        let dataset = self.catalog.find_same(&id.namespace, id.incarnation)?;
        let now = self.env.clock.wall();
        let later = |wait: Duration| now.saturating_add(nanos(wait));
        let policy = dataset.namespace.spec.split.policy;
        if dataset.record.splits_paused {
            return Ok(Some(Not::Until(later(IN_THE_WAY), paused())));
        }
        if policy != SplitPolicy::Auto && !record.by_hand {
            let message = "the namespace splits only what somebody asks for; ask with `braid split create`";
            return Ok(Some(Not::Until(later(UNWANTED), Why::new(Reason::PolicyOff, message))));
        }
        if dataset.namespace.spec.consistency == Consistency::LocalOne {
            let message = "the namespace writes with less than a quorum, so no copy could be proven equal";
            return Ok(Some(Not::Ever(Why::new(Reason::Consistency, message))));
        }
        if dataset.check_access(&id.partition.series, now, Access::Read).is_err() {
            let why = Why::new(Reason::Blocked, "the series is blocked; remove the block to split it");
            return Ok(Some(Not::Until(later(UNWANTED), why)));
        }
        if let Some(why) = self.disk_over(self.limits.disk_stop).await? {
            return Ok(Some(Not::Until(later(IN_THE_WAY), why)));
        }
        self.what_is_open(held, &dataset, now).await
    }

    /// Closes time up to the end of the partition, if that can be.
    async fn what_is_open(&self, held: &Held<'_>, dataset: &Dataset, now: i64) -> Result<Option<Not>, Stop> {
        let (id, until) = (&held.id, held.record().covered_until);
        if dataset.is_to_be_written(covered(held, dataset)?.1) {
            let why = Why::new(Reason::NotClosed, "a backfill is open there; end it first");
            return Ok(Some(Not::Until(now.saturating_add(nanos(IN_THE_WAY)), why)));
        }
        if dataset.record.closed >= until || self.catalog.close_time(&id.namespace, until).await? >= until {
            return Ok(None);
        }
        let Some(closes) = closes(dataset, &id.time_slice, until, now) else {
            let message =
                "the namespace accepts events of any age; set accept_limit or retention.close_after";
            return Ok(Some(Not::Until(
                now.saturating_add(nanos(UNWANTED)),
                Why::new(Reason::NotClosed, message),
            )));
        };
        let why = Why::new(Reason::NotClosed, "events of its time may still be accepted");
        Ok(Some(Not::Until(closes.saturating_add(nanos(MARGIN)).max(now.saturating_add(nanos(MARGIN))), why)))
    }

    /// Takes the record for this server, and makes sure that what will be read can change no more: the attempt is recorded
    /// first, then the namespace is read again, then every server has to know at least as much.
    pub(super) async fn claim(&self, held: &mut Held<'_>) -> Result<(), Stop> {
        let mut random = [0; 32];
        self.env.random.fill(&mut random);
        let server = self.catalog.me.id();
        let claimed = held.record().claimed(DigestKey::new(random), self.moment(&server));
        held.write(claimed).await?;
        self.catalog.refresh().await?;
        let (id, epoch) = (held.id.clone(), self.catalog.known().epoch);
        let dataset = self.catalog.find_same(&id.namespace, id.incarnation)?;
        let (_, interval) = covered(held, &dataset)?;
        if dataset.record.closed < held.record().covered_until || dataset.is_to_be_written(interval) {
            let message = "its time was opened again, for a backfill; tried again when that has ended";
            return Err(Stop::Failed(Why::new(Reason::NotClosed, message)));
        }
        #[cfg(feature = "seeded-bugs")]
        let epoch = if self.has(super::bugs::Bug::ScanBeforeBarrier) { 0 } else { epoch };
        self.catalog.barrier(epoch).await?;
        let behind = held.record().behind(epoch, self.moment(&server));
        held.write(behind).await
    }

    /// Whether the disk is fuller than this share.
    pub(super) async fn disk_over(&self, share: f64) -> Result<Option<Why>, Stop> {
        let used = self.store.disk_share().await?;
        Ok(used.filter(|used| *used > share).map(|used| {
            let message = format!(
                "the disk is {:.0} % full; a split needs it below {:.0} %, make room",
                used * 100.0,
                share * 100.0
            );
            Why::new(Reason::Disk, message)
        }))
    }
}

/// When time up to `until` can be closed; never where events of any age are accepted.
fn closes(dataset: &Dataset, time_slice: &str, until: i64, now: i64) -> Option<i64> {
    if dataset.is_being_narrowed() {
        // Its limits count as the wider ones until every server has said that it knows them, which takes seconds: by the wider ones
        // it would be looked at again in days, or never.
        return Some(now);
    }
    let accept = dataset.base_accept();
    if !accept.is_zero() {
        return Some(until.saturating_add(nanos(accept)));
    }
    let (layout, close) = (layout_of(dataset, time_slice), dataset.base_close());
    layout.filter(|_| !close.is_zero()).map(|layout| layout.slice.end().saturating_add(nanos(close)))
}

/// Workers were told to leave the namespace alone.
pub(super) fn paused() -> Why {
    Why::new(Reason::Paused, "splits of the namespace are paused; go on with `braid split resume`")
}

/// The slice of a split, and the time that is copied.
pub(super) fn covered(held: &Held<'_>, dataset: &Dataset) -> Result<(Layout, Interval), Stop> {
    let gone = || Stop::Failed(Why::new(Reason::SliceGone, "its slice is gone"));
    let layout = layout_of(dataset, &held.id.time_slice).ok_or_else(gone)?;
    let whole = layout.bucket_interval(held.id.partition.time_bucket);
    let until = held.record().covered_until.clamp(whole.start(), whole.end());
    Ok((layout, Interval::new(whole.start(), until).unwrap_or(whole)))
}

#[cfg(test)]
mod tests {
    use model::NamespaceName;

    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::NamespaceRecord;

    const MINUTE: Duration = Duration::from_secs(60);

    /// When a partition until minute 1 closes, asked in minute 5.
    fn check(accept: Duration, before: Option<Duration>, expect: Option<Duration>) {
        let spec = NamespaceSpec {
            accept_limit: accept,
            close_after: Duration::ZERO,
            delete_after: Duration::ZERO,
            ..NamespaceSpec::default()
        };
        let record = NamespaceRecord { base_accept: before, ..NamespaceRecord::new(1, 0, spec) };
        let dataset = Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap();
        let found = closes(&dataset, "data_19700101", nanos(MINUTE), nanos(5 * MINUTE));
        assert_eq!(found, expect.map(nanos), "{accept:?} behind {before:?}");
    }

    #[test]
    fn time_closes_behind_the_accept_limit() {
        check(2 * MINUTE, None, Some(3 * MINUTE));
        check(Duration::ZERO, None, None);
    }

    #[test]
    fn a_limit_that_is_being_narrowed_is_looked_at_again_at_once() {
        check(2 * MINUTE, Some(Duration::ZERO), Some(5 * MINUTE));
        check(2 * MINUTE, Some(1_000 * MINUTE), Some(5 * MINUTE));
    }
}
