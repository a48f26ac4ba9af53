//! What a server without a lease can be sure of. Pure.
//!
//! Others may have made slices that it does not know of. So it gives what lies in slices that it knows, from the beginning of
//! the read up to the first time that could be in another one.

use model::{Interval, Order};

use super::span::left_of;
use crate::ReadRequest;
use crate::catalog::{Dataset, Spans, nanos};

/// Why a page of a server without a lease is not whole. Asked again at once, it has nothing more to say.
pub const VIEW_STALE: &str = "VIEW_STALE";

/// The part of the interval of a request, from where it stands on, that can hold nothing unknown at `now`.
pub(crate) fn certain(dataset: &Dataset, request: &ReadRequest, now: i64) -> Interval {
    let mut known = Spans::default();
    dataset.layouts.iter().for_each(|layout| known.add(layout.slice.start(), layout.slice.end()));
    dataset.dropped.iter().for_each(|(start, end)| known.add(start, end));
    known.add(i64::MIN, 0);
    let future_limit = dataset.future_of_any();
    if !future_limit.is_zero() {
        known.add(now.saturating_add(2 * nanos(future_limit)), i64::MAX);
    }
    let (whole, left) = (request.interval, left_of(request));
    let certain = match request.order {
        Order::OldestFirst => {
            let end = known.end_from(left.start()).min(whole.end());
            Interval::new(whole.start(), end.max(whole.start()))
        }
        Order::NewestFirst => {
            let start = known.start_from(left.end()).max(whole.start());
            Interval::new(start.min(whole.end()), whole.end())
        }
    };
    certain.unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use model::{Layout, NamespaceName, SeriesId, Timestamp};

    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::NamespaceRecord;
    use crate::catalog::record::SliceRecord;

    const DAY: i64 = 86_400_000_000_000;

    /// Knows the days 10, 11 and 13.
    fn dataset() -> Dataset {
        let record = NamespaceRecord::new(1, 0, NamespaceSpec::default());
        let mut dataset = Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap();
        for day in [10, 11, 13] {
            let slice = dataset.timeline.slice_of(Timestamp::from_nanos(day * DAY).unwrap());
            let layout = Layout { slice, shape: dataset.record.shape_at(slice.start()).unwrap() };
            let record = SliceRecord::new(&layout, store::Storage::default());
            dataset.put_slice(SliceRecord { epoch: 1, ..record }).unwrap();
        }
        dataset
    }

    fn check(order: Order, interval: (i64, i64), expect: (i64, i64)) {
        let request = ReadRequest {
            namespace: NamespaceName::new("n").unwrap(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::new(interval.0, interval.1).unwrap(),
            query: None,
            page_records: 1,
            order,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        };
        let certain = certain(&dataset(), &request, 14 * DAY - 1_300_000_000_000);
        assert_eq!((certain.start(), certain.end()), expect, "{order:?} {interval:?}");
    }

    #[test]
    fn a_read_ends_before_time_that_may_have_slices_nobody_told_of() {
        let (oldest, newest) = (Order::OldestFirst, Order::NewestFirst);
        check(oldest, (10 * DAY, 11 * DAY), (10 * DAY, 11 * DAY));
        check(oldest, (10 * DAY, 14 * DAY), (10 * DAY, 12 * DAY));
        check(oldest, (0, 14 * DAY), (0, 0));
        check(newest, (0, 14 * DAY), (13 * DAY, 14 * DAY));
        check(newest, (0, 12 * DAY), (10 * DAY, 12 * DAY));
        // Nobody accepts events of so far ahead.
        check(newest, (13 * DAY, 40 * DAY), (13 * DAY, 40 * DAY));
        check(oldest, (12 * DAY, 14 * DAY), (12 * DAY, 12 * DAY));
    }
}
