//! Two ways of reading the same, side by side. Pure.

use std::collections::BTreeMap;

use model::{Order, Position, SeriesId, Timestamp};

use super::mismatch::MismatchSide;
use crate::Event;

/// Where an event stands, for comparing: the items of an event come together.
type Key<'a> = (Timestamp, &'a [u8], &'a SeriesId);

/// What is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Logical bytes of events that the other side has not, or has with other contents.
    pub(super) bytes: u64,
    pub(super) origin: MismatchSide,
    pub(super) target: MismatchSide,
    /// The first event in the order of the read at which the sides part.
    pub(super) at: Event,
}

/// Compares what was read both ways; none where it is the same.
pub(super) fn difference(origin: &[Event], target: &[Event], order: Order) -> Option<Difference> {
    if origin == target {
        return None;
    }
    let (mine, theirs) = (by_key(origin), by_key(target));
    let lacks = |events: &[Event], other: &BTreeMap<Key<'_>, &Event>| -> (u64, Option<Event>) {
        let missing = events.iter().filter(|event| other.get(&key(event)).is_none_or(|found| found != event));
        let mut missing = missing.peekable();
        let first = missing.peek().map(|event| (*event).clone());
        (missing.map(bytes_of).sum(), first)
    };
    let (only_origin, first_origin) = lacks(origin, &theirs);
    let (only_target, first_target) = lacks(target, &mine);
    let side = |events: &[Event], first: &Option<Event>| MismatchSide {
        records: events.len() as u64,
        bytes: events.iter().map(bytes_of).sum(),
        first: first.as_ref().map(named),
    };
    let (origin_side, target_side) = (side(origin, &first_origin), side(target, &first_target));
    // The same events, but not in the same order or number: the place where they part says where.
    let parts = || {
        let apart = origin.iter().zip(target).find(|(one, other)| one != other).map(|(one, _)| one);
        let longer = if origin.len() > target.len() { origin } else { target };
        apart.or_else(|| longer.get(origin.len().min(target.len()))).cloned()
    };
    let at = match (first_origin, first_target) {
        (Some(one), Some(other)) if order.compare(&key(&one), &key(&other)).is_le() => Some(one),
        (Some(one), None) => Some(one),
        (_, Some(other)) => Some(other),
        (None, None) => parts(),
    };
    let bytes = (only_origin + only_target).max(1);
    Some(Difference { bytes, origin: origin_side, target: target_side, at: at? })
}

fn by_key(events: &[Event]) -> BTreeMap<Key<'_>, &Event> {
    events.iter().map(|event| (key(event), event)).collect()
}

fn key(event: &Event) -> Key<'_> {
    (event.time, event.event_id(), &event.series)
}

/// Logical bytes of an event: what its rows hold.
pub(super) fn bytes_of(event: &Event) -> u64 {
    let items = event.items().map(|item| item.key.len() + item.value.len() + item.metadata.len());
    (items.sum::<usize>() + event.event_id().len() + size_of::<i64>()) as u64
}

/// Whether an event lies behind a place, in the order of a read.
pub(super) fn is_beyond(event: &Event, place: &Position, order: Order) -> bool {
    order.compare(&key(event), &(place.event_time, place.event_id.as_bytes(), &place.series)).is_gt()
}

/// An event in words.
fn named(event: &Event) -> String {
    let id = String::from_utf8_lossy(event.event_id());
    format!("{} at {} ns of {} ({} bytes)", id, event.time.nanos(), event.series.as_str(), bytes_of(event))
}

#[cfg(test)]
mod tests {
    use model::{RowView, RowsBuilder};

    use super::*;

    fn event(time: i64, id: &str, value: &'static str) -> Event {
        let mut rows = RowsBuilder::default();
        rows.push(RowView {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: id.as_bytes(),
            item_key: b"k",
            write_time: 0,
            value: value.as_bytes(),
            metadata: b"",
        });
        Event::new(SeriesId::new("s").unwrap(), rows, false).unwrap()
    }

    #[test]
    fn what_differs_is_named_with_both_sides() {
        let whole = [event(3, "c", "x"), event(2, "b", "x"), event(1, "a", "x")];
        assert_eq!(difference(&whole, &whole, Order::NewestFirst), None);
        let lost = difference(&whole, &whole[..2], Order::NewestFirst).unwrap();
        assert_eq!(
            (lost.bytes, lost.at.time.nanos(), lost.origin.records, lost.target.records),
            (11, 1, 3, 2)
        );
        assert_eq!(
            (lost.origin.first.as_deref(), lost.target.first),
            (Some("a at 1 ns of s (11 bytes)"), None)
        );
        let flipped = [event(3, "c", "x"), event(2, "b", "y"), event(1, "a", "x")];
        let flipped = difference(&whole, &flipped, Order::NewestFirst).unwrap();
        assert_eq!((flipped.bytes, flipped.at.time.nanos()), (22, 2));
        let doubled = [event(3, "c", "x"), event(3, "c", "x"), event(2, "b", "x"), event(1, "a", "x")];
        let doubled = difference(&whole, &doubled, Order::NewestFirst).unwrap();
        assert_eq!((doubled.bytes, doubled.at.time.nanos()), (1, 2));
        let extra = difference(&whole[..1], &whole, Order::NewestFirst).unwrap();
        assert_eq!((extra.at.time.nanos(), extra.origin.first), (2, None));
    }

    #[test]
    fn an_edge_lies_before_the_events_of_its_time_upwards_and_behind_them_downwards() {
        let edge = crate::read::edge(Timestamp::from_nanos(2).unwrap(), &SeriesId::new("s").unwrap());
        let beyond = |time, order| is_beyond(&event(time, "e", "x"), &edge, order);
        assert_eq!([1, 2, 3].map(|time| beyond(time, Order::OldestFirst)), [false, true, true]);
        assert_eq!([1, 2, 3].map(|time| beyond(time, Order::NewestFirst)), [true, false, false]);
    }
}
