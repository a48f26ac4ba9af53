//! Which events of a chunk match, found in its columns before anything is built of them.

use std::ops::Range;

use chunk::{Chunk, Error};

use crate::query::{Matcher, Seen};

/// The rows of the events that match, newest first. Keys are looked at once a chunk, and values only of items that the query asks
/// for.
pub(super) fn matching(chunk: &Chunk, matcher: &Matcher) -> Result<Vec<u32>, Error> {
    let keys = chunk.item_keys()?;
    let asked: Vec<bool> = keys.entries().map(|key| matcher.asks_for(key)).collect();
    let mut rows = Vec::new();
    if !asked.contains(&true) && !matcher.matches(Seen::default()) {
        return Ok(rows);
    }
    let (events, values) = (chunk.events()?, chunk.values()?);
    let is_asked = |row: usize| {
        let key = keys.index().get(row).and_then(|key| asked.get(*key as usize));
        key.copied().unwrap_or_default()
    };
    for event in 0..events.times().len() {
        let of_event = events.rows(event).unwrap_or_default();
        let mut seen = Seen::default();
        for row in of_event.clone().filter(|row| is_asked(*row)) {
            matcher.look(keys.get(row), values.get(row), &mut seen);
        }
        if matcher.matches(seen) {
            rows.extend(numbers(of_event));
        }
    }
    Ok(rows)
}

/// The rows of the event that comes last in the order of the read: it says how far the read has come.
pub(super) fn last_event(chunk: &Chunk, order: model::Order) -> Result<Vec<u32>, Error> {
    let events = chunk.events()?;
    let last = match order {
        model::Order::NewestFirst => events.times().len().saturating_sub(1),
        model::Order::OldestFirst => 0,
    };
    Ok(numbers(events.rows(last).unwrap_or_default()).collect())
}

fn numbers(rows: Range<usize>) -> impl Iterator<Item = u32> {
    rows.filter_map(|row| u32::try_from(row).ok())
}
