//! Closed time: a promise to all that no older event is accepted any more; and limits that shrink only when every server has
//! said that it knows.
//!
//! Never a guess from one clock: closed time lies behind what any server could still accept by its own clock, with a lease or
//! without.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::NamespaceName;

use super::known::Known;
use super::namespaces;
use super::record::{NamespaceRecord, SliceRecord};
use super::retention::{MARGIN, is_past, nanos};
use super::{Catalog, Dataset};
use crate::Result;
use crate::view::Decided;

/// Namespaces that one change closes time of.
const NAMESPACES_PER_CHANGE: usize = 64;

impl Catalog {
    /// Closes time of a namespace as far as that can be, at most up to `wanted`; gives back up to where it is closed, once no
    /// server can act on less.
    pub(crate) async fn close_time(&self, name: &NamespaceName, wanted: i64) -> Result<i64> {
        let earliest = self.earliest_clock().await?;
        let decide = |known: &Known, epoch| {
            let dataset = known.find(name)?;
            let closed = closable(dataset, earliest).min(wanted).max(dataset.record.closed);
            if closed == dataset.record.closed {
                return Ok(Decided { puts: Vec::new(), answer: closed });
            }
            namespaces::put(name, &NamespaceRecord { epoch, closed, ..dataset.record.clone() }, closed)
        };
        let (closed, epoch) = self.change(None, decide).await?;
        self.barrier(epoch).await?;
        Ok(closed)
    }

    /// Closes time of every namespace up to the end of the last slice that nobody writes to any more; gives back of how many.
    pub(crate) async fn close_slices(&self) -> Result<usize> {
        let earliest = self.earliest_clock().await?;
        if closing(&self.known(), earliest).is_empty() {
            return Ok(0);
        }
        let decide = |known: &Known, epoch| {
            let (mut puts, closing) = (Vec::new(), closing(known, earliest));
            for (dataset, closed) in &closing {
                let record = NamespaceRecord { epoch, closed: *closed, ..dataset.record.clone() };
                puts.extend(namespaces::put(&dataset.namespace.name, &record, ())?.puts);
            }
            Ok(Decided { puts, answer: closing.len() })
        };
        Ok(self.change(None, decide).await?.0)
    }

    /// Lets limits that were narrowed count for servers without a lease too, once each has said that it knows them; gives
    /// back of how many namespaces.
    pub(crate) async fn narrow_limits(&self) -> Result<usize> {
        let wide: Vec<Arc<Dataset>> =
            self.all().into_iter().filter(|dataset| dataset.is_being_narrowed()).collect();
        let mut known_by_all = BTreeSet::new();
        for dataset in wide {
            if self.all_reported(dataset.record.epoch).await? {
                known_by_all.insert((dataset.namespace.name.clone(), dataset.record.epoch));
            }
        }
        if known_by_all.is_empty() {
            return Ok(0);
        }
        let decide = |known: &Known, epoch| {
            let mut puts = Vec::new();
            // Changed again since, it is another promise.
            let same = |dataset: &&Arc<Dataset>| {
                known_by_all.contains(&(dataset.namespace.name.clone(), dataset.record.epoch))
            };
            for dataset in known.live.values().filter(same).take(NAMESPACES_PER_CHANGE) {
                let mut record = NamespaceRecord { epoch, ..dataset.record.clone() };
                (record.base_accept, record.base_close, record.base_delete) = (None, None, None);
                record.base_future = None;
                puts.extend(namespaces::put(&dataset.namespace.name, &record, ())?.puts);
            }
            let answer = puts.len();
            Ok(Decided { puts, answer })
        };
        Ok(self.change(None, decide).await?.0)
    }
}

/// Up to where time can be closed when the earliest clock shows `earliest`.
fn closable(dataset: &Dataset, earliest: i64) -> i64 {
    let sure = earliest.saturating_sub(nanos(MARGIN));
    let accept = dataset.base_accept();
    if !accept.is_zero() {
        return sure.saturating_sub(nanos(accept)).max(0);
    }
    let close = dataset.base_close();
    let closed = dataset.slices.values().map(SliceRecord::end).filter(|end| is_past(*end, close, sure)).max();
    closed.max(dataset.dropped.end()).unwrap_or(0)
}

/// Namespaces in which another slice is closed, and up to where.
fn closing(known: &Known, earliest: i64) -> Vec<(Arc<Dataset>, i64)> {
    let closes = |dataset: &Arc<Dataset>| {
        let closable = closable(dataset, earliest);
        let ends = dataset.slices.values().map(SliceRecord::end);
        let last = ends.filter(|end| *end <= closable).max()?;
        (last > dataset.record.closed).then(|| (Arc::clone(dataset), closable))
    };
    known.live.values().filter_map(closes).take(NAMESPACES_PER_CHANGE).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::Layout;

    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::record::SliceStage;

    const DAY: i64 = 86_400_000_000_000;
    const HOUR: Duration = Duration::from_secs(3_600);

    fn dataset(accept: Duration, close: Duration) -> Dataset {
        let spec = NamespaceSpec {
            accept_limit: accept,
            close_after: close,
            delete_after: Duration::ZERO,
            ..NamespaceSpec::default()
        };
        let record = NamespaceRecord::new(1, 0, spec);
        let mut dataset = Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap();
        for day in 0..3 {
            let time = model::Timestamp::from_nanos(day * DAY).unwrap();
            let slice = dataset.timeline.slice_of(time);
            let layout = Layout { slice, shape: dataset.record.shape_at(slice.start()).unwrap() };
            let record = SliceRecord::new(&layout, store::Storage::default());
            dataset.put_slice(SliceRecord { state: SliceStage::Open, epoch: 1, ..record }).unwrap();
        }
        dataset
    }

    #[test]
    fn time_is_closed_behind_what_anybody_may_accept() {
        let mut dataset = dataset(HOUR, HOUR);
        let margin = nanos(MARGIN);
        assert_eq!(closable(&dataset, DAY), DAY - nanos(HOUR) - margin);
        assert_eq!(closable(&dataset, 5), 0);
        // A wider limit that servers without a lease may still use counts.
        dataset.record.base_accept = Some(HOUR * 5);
        assert_eq!(closable(&dataset, DAY), DAY - 5 * nanos(HOUR) - margin);
        dataset.record.base_accept = Some(Duration::ZERO);
        assert_eq!(closable(&dataset, DAY), 0);
    }

    #[test]
    fn without_an_accept_limit_whole_slices_are_closed() {
        let mut dataset = dataset(Duration::ZERO, HOUR);
        let (hour, margin) = (nanos(HOUR), nanos(MARGIN));
        assert_eq!(closable(&dataset, DAY + hour + margin - 1), 0);
        assert_eq!(closable(&dataset, DAY + hour + margin), DAY);
        assert_eq!(closable(&dataset, 3 * DAY), 2 * DAY);
        dataset.record.base_close = Some(Duration::from_secs(2 * 86_400));
        assert_eq!(closable(&dataset, 3 * DAY), 0);
        dataset.record.base_close = Some(Duration::ZERO);
        assert_eq!(closable(&dataset, 30 * DAY), 0);
    }
}
