//! Positions: the one total order of rows, and the two directions in which it is walked.

use std::cmp::Ordering;

use crate::{EventId, ItemKey, SeriesId, Timestamp};

/// Identity of a row inside a partition, in the order of the store: time, then event id, then item key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// When the event happened.
    pub event_time: Timestamp,
    /// Which event.
    pub event_id: EventId,
    /// Which item of it.
    pub item_key: ItemKey,
}

/// A place in the one total order over all series: time, event id, series, item key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When the event happened.
    pub event_time: Timestamp,
    /// Which event.
    pub event_id: EventId,
    /// Of which series.
    pub series: SeriesId,
    /// Which item of it.
    pub item_key: ItemKey,
}

/// The direction of a read. Newest first is the exact reverse of oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Descending positions.
    #[default]
    NewestFirst,
    /// Ascending positions.
    OldestFirst,
}

impl Order {
    /// Compares so that what this order returns first is less.
    pub fn compare<T: Ord>(self, left: &T, right: &T) -> Ordering {
        match self {
            Self::OldestFirst => left.cmp(right),
            Self::NewestFirst => right.cmp(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(time: i64, id: &str, series: &str, item: &str) -> Position {
        Position {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new(id).unwrap(),
            series: SeriesId::new(series).unwrap(),
            item_key: ItemKey::new(item).unwrap(),
        }
    }

    #[test]
    fn the_order_is_time_then_event_then_series_then_item() {
        let ordered = [
            position(1, "b", "z", "z"),
            position(2, "a", "a", "b"),
            position(2, "a", "b", "a"),
            position(2, "aa", "a", "a"),
            position(2, "b", "a", "a"),
        ];
        for pair in ordered.windows(2) {
            assert_eq!(Order::OldestFirst.compare(&pair[0], &pair[1]), Ordering::Less);
            assert_eq!(Order::NewestFirst.compare(&pair[0], &pair[1]), Ordering::Greater);
        }
    }
}
