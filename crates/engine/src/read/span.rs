//! Which part of its interval a read has passed, and which is left. Pure.
//!
//! A position is behind a row, or at an edge: then its event id is empty, and no event is half done there.

use model::{Interval, Layouts, Order, Position, Timestamp};

use super::everything::no_series;
use super::take::edge;
use crate::ReadRequest;

/// The part of the interval that earlier pages have not passed.
pub(super) fn left_of(request: &ReadRequest) -> Interval {
    let Some(resume) = &request.resume else { return request.interval };
    let at = resume.after.event_time.nanos();
    // No event has an empty id: such a position lies before all that happened at its time.
    let is_edge = resume.after.event_id.as_bytes().is_empty();
    let left = match request.order {
        Order::OldestFirst => Interval::new(at, i64::MAX),
        Order::NewestFirst => Interval::new(0, if is_edge { at } else { at + 1 }),
    };
    left.map_or(request.interval, |left| left.intersect(request.interval))
}

/// Where a read begins that has not begun.
pub(super) fn beginning(request: &ReadRequest) -> Option<Position> {
    let time = match request.order {
        Order::OldestFirst => request.interval.start(),
        Order::NewestFirst => request.interval.end(),
    };
    let series = request.series.first().cloned().map_or_else(no_series, Ok).ok()?;
    Some(edge(Timestamp::from_nanos(time.clamp(0, Timestamp::MAX.nanos())).ok()?, &series))
}

/// The part of the interval of which a read that stands at `after` has given every event.
pub(super) fn passed_interval(
    request: &ReadRequest,
    layouts: &Layouts,
    after: &Position,
    event_bucket: Option<u32>,
) -> Interval {
    let (whole, mut at) = (request.interval, after.event_time.nanos());
    // Other events of the same time may be left, but not behind an edge.
    let mut is_edge = after.event_id.as_bytes().is_empty();
    // By partition nothing of a slice is complete before all of it is.
    if event_bucket.is_some() {
        let slice = layouts.find(after.event_time).map(|layout| layout.slice);
        at = slice.map_or(at, |slice| match request.order {
            Order::OldestFirst => slice.start(),
            Order::NewestFirst => slice.end(),
        });
        is_edge = true;
    }
    let passed = match request.order {
        Order::OldestFirst => Interval::new(whole.start(), at.max(whole.start())),
        Order::NewestFirst => {
            let from = if is_edge { at } else { at + 1 };
            Interval::new(from.min(whole.end()), whole.end())
        }
    };
    passed.map_or(whole, |passed| passed.intersect(whole))
}

#[cfg(test)]
mod tests {
    use model::{EventId, ItemKey, NamespaceName, SeriesId};

    use super::*;

    fn request(order: Order) -> ReadRequest {
        ReadRequest {
            namespace: NamespaceName::new("n").unwrap(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::new(100, 200).unwrap(),
            query: None,
            page_records: 1,
            order,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        }
    }

    fn behind_event(nanos: i64) -> Position {
        let at = edge(Timestamp::from_nanos(nanos).unwrap(), &SeriesId::new("s").unwrap());
        Position { event_id: EventId::new("e").unwrap(), item_key: ItemKey::new("k").unwrap(), ..at }
    }

    fn at_edge(nanos: i64) -> Position {
        edge(Timestamp::from_nanos(nanos).unwrap(), &SeriesId::new("s").unwrap())
    }

    #[test]
    fn of_the_time_of_an_event_more_may_come() {
        let passed = |order, after: Position| {
            let passed = passed_interval(&request(order), &Layouts::default(), &after, None);
            (passed.start(), passed.end())
        };
        assert_eq!(passed(Order::OldestFirst, behind_event(150)), (100, 150));
        assert_eq!(passed(Order::OldestFirst, at_edge(150)), (100, 150));
        assert_eq!(passed(Order::NewestFirst, behind_event(150)), (151, 200));
        assert_eq!(passed(Order::NewestFirst, at_edge(150)), (150, 200));
        // Groups reach beyond the interval.
        assert_eq!(passed(Order::OldestFirst, at_edge(900)), (100, 200));
        assert_eq!(passed(Order::NewestFirst, at_edge(5)), (100, 200));
    }

    #[test]
    fn a_read_that_has_not_begun_has_everything_left_and_nothing_passed() {
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let mut request = request(order);
            let start = beginning(&request).unwrap();
            assert!(passed_interval(&request, &Layouts::default(), &start, None).is_empty());
            request.resume = Some(crate::Resume {
                after: start,
                remaining: None,
                scanned_bytes: Vec::new(),
                event_bucket: None,
            });
            assert_eq!(left_of(&request), request.interval);
        }
    }
}
