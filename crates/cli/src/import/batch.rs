//! Events in the portions that a request can carry: so many of them, and so many bytes. Pure.

use api::limits::REQUEST_BYTES_MAX;
use api::v1;
use prost::Message;

use super::source::Place;

/// Events that a request may have.
pub(crate) const EVENTS_MAX: usize = 1_000;
/// Where a batch of several events is cut: well below what a request may have.
pub(crate) const BATCH_BYTES_MAX: usize = REQUEST_BYTES_MAX - (512 << 10);
/// What an event alone may have: a request less the namespace and the lengths around it.
pub(crate) const EVENT_BYTES_MAX: usize = REQUEST_BYTES_MAX - 64;
/// What stands before an event in a request: a tag, and a length that 32 bits hold.
const EVENT_HEAD_BYTES: usize = 6;

/// Events for one request, and where each of them came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Batch {
    /// The events.
    pub(crate) events: Vec<v1::Event>,
    /// Their places, in the same order.
    pub(crate) places: Vec<Place>,
}

impl Batch {
    /// How many events it has.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Only the events with these indexes, which are in ascending order.
    pub(crate) fn only(self, indexes: &[usize]) -> Self {
        let mut wanted = indexes.iter().copied().peekable();
        let all = self.events.into_iter().zip(self.places).enumerate();
        let kept = all.filter(|(index, _)| wanted.next_if_eq(index).is_some());
        let (events, places) = kept.map(|(_, pair)| pair).unzip();
        Self { events, places }
    }

    /// Its first and its second half.
    pub(crate) fn halves(mut self) -> (Self, Self) {
        let middle = self.len() / 2;
        let second = Self { events: self.events.split_off(middle), places: self.places.split_off(middle) };
        (self, second)
    }
}

/// Collects events until a batch is full.
#[derive(Debug)]
pub(crate) struct Batcher {
    events_max: usize,
    bytes_max: usize,
    open: Batch,
    open_bytes: usize,
}

/// An event that fits into no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    /// Its size.
    pub(crate) bytes: usize,
}

impl Batcher {
    /// Makes batches of at most `events_max` events.
    pub(crate) fn new(events_max: usize) -> Self {
        let events_max = events_max.clamp(1, EVENTS_MAX);
        Self { events_max, bytes_max: BATCH_BYTES_MAX, open: Batch::default(), open_bytes: 0 }
    }

    /// Adds an event; gives back the batch that is complete because of it.
    pub(crate) fn push(&mut self, place: Place, event: v1::Event) -> Result<Option<Batch>, TooLarge> {
        let bytes = event.encoded_len() + EVENT_HEAD_BYTES;
        if bytes > EVENT_BYTES_MAX {
            return Err(TooLarge { bytes });
        }
        let overfull = self.open_bytes + bytes > self.bytes_max;
        let full = if overfull { self.finish() } else { None };
        self.open.events.push(event);
        self.open.places.push(place);
        self.open_bytes += bytes;
        // After a cut by bytes the batch holds one event, so that never two are complete at once; unless one event is
        // all a batch may have, and then the cut by bytes never comes.
        if full.is_none() && self.open.len() >= self.events_max {
            return Ok(self.finish());
        }
        Ok(full)
    }

    /// What is left.
    pub(crate) fn finish(&mut self) -> Option<Batch> {
        self.open_bytes = 0;
        Some(std::mem::take(&mut self.open)).filter(|batch| batch.len() > 0)
    }
}

#[cfg(test)]
mod tests {
    use env::{Random, SeededRandom};

    use super::*;

    fn event(value_bytes: usize) -> v1::Event {
        let item = v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: vec![b'v'; value_bytes].into(),
            ..v1::EventItem::default()
        };
        v1::Event { time_series_id: "s".to_owned(), event_items: vec![item], ..v1::Event::default() }
    }

    fn at(line: u64) -> Place {
        Place { input: 0, line }
    }

    /// The law: whatever comes in goes out once, in order, in requests within the limits, and no batch could have taken
    /// the event that follows it.
    #[test]
    fn batches_keep_every_event_and_both_limits() {
        for seed in 0..40 {
            let random = SeededRandom::new(seed);
            let limit = usize::try_from(1 + random.below(1_200)).unwrap();
            let sizes: Vec<usize> = (0..random.below(900))
                .map(|_| [0, 10, 1_000, 300_000, 1 << 20][usize::try_from(random.below(5)).unwrap()])
                .map(|most: usize| usize::try_from(random.below(most as u64 + 1)).unwrap())
                .collect();
            let mut batcher = Batcher::new(limit);
            let mut batches = Vec::new();
            for (line, size) in (1..).zip(&sizes) {
                batches.extend(batcher.push(at(line), event(*size)).unwrap());
            }
            batches.extend(batcher.finish());
            assert!(batcher.finish().is_none());
            let places: Vec<u64> =
                batches.iter().flat_map(|batch| &batch.places).map(|place| place.line).collect();
            assert!(places.iter().copied().eq(1..=sizes.len() as u64), "seed {seed}");
            for (number, batch) in batches.iter().enumerate() {
                let request = |events: Vec<v1::Event>| {
                    let namespace = "n".repeat(30);
                    v1::WriteEventRecordsRequest { namespace, events }.encoded_len()
                };
                let bytes = request(batch.events.clone());
                assert!(bytes <= REQUEST_BYTES_MAX, "seed {seed}: {bytes} bytes");
                assert!((1..=limit.min(EVENTS_MAX)).contains(&batch.len()), "seed {seed}: {}", batch.len());
                assert_eq!(batch.events.len(), batch.places.len());
                let Some(next) = batches.get(number + 1) else { continue };
                let joined = [batch.events.as_slice(), &next.events[..1]].concat();
                let full = batch.len() == limit.min(EVENTS_MAX);
                assert!(full || request(joined) > BATCH_BYTES_MAX - 64 * 1_024, "seed {seed}: cut too early");
            }
        }
    }

    #[test]
    fn an_event_that_fits_into_no_request_is_given_back() {
        let mut batcher = Batcher::new(500);
        batcher.push(at(1), event(1)).unwrap();
        let bytes = REQUEST_BYTES_MAX;
        assert!(batcher.push(at(2), event(bytes)).unwrap_err().bytes > bytes);
        // One that just fits travels alone, and its request is within the limit.
        let large = event(EVENT_BYTES_MAX - 60);
        assert_eq!(batcher.push(at(3), large.clone()).unwrap().unwrap().places, [at(1)]);
        assert_eq!(batcher.push(at(4), event(1)).unwrap().unwrap().places, [at(3)]);
        let request = v1::WriteEventRecordsRequest { namespace: "n".repeat(30), events: vec![large] };
        assert!(request.encoded_len() <= REQUEST_BYTES_MAX);
    }

    #[test]
    fn a_full_batch_does_not_wait_for_the_next_event() {
        let mut batcher = Batcher::new(2);
        assert!(batcher.push(at(1), event(1)).unwrap().is_none());
        assert_eq!(batcher.push(at(2), event(1)).unwrap().unwrap().len(), 2);
        assert!(batcher.finish().is_none());
        let mut ones = Batcher::new(0);
        assert_eq!(ones.push(at(1), event(3 << 20)).unwrap().unwrap().len(), 1);
        assert_eq!(ones.push(at(2), event(3 << 20)).unwrap().unwrap().len(), 1);
    }

    #[test]
    fn no_batch_has_more_events_than_a_request_may() {
        let mut batcher = Batcher::new(5_000);
        let full = (1..=1_001).find_map(|line| batcher.push(at(line), event(1)).unwrap()).unwrap();
        assert_eq!(full.len(), 1_000);
    }

    #[test]
    fn parts_of_a_batch_keep_their_places() {
        let mut batcher = Batcher::new(5);
        let batch = (1..=5).find_map(|line| batcher.push(at(line), event(1)).unwrap()).unwrap();
        assert_eq!(batch.clone().only(&[0, 3, 4]).places, [at(1), at(4), at(5)]);
        assert_eq!(batch.clone().only(&[]).len(), 0);
        let (first, second) = batch.halves();
        assert_eq!((first.places, second.places), (vec![at(1), at(2)], vec![at(3), at(4), at(5)]));
        assert_eq!((first.events.len(), second.events.len()), (2, 3));
    }
}
