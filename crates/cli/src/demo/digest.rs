//! Whether two sets of events are the same: how many, and a checksum that does not hang on their order.

use std::hash::{DefaultHasher, Hash, Hasher};

use api::v1;

use super::workload::{Workload, name};

/// Wrong series that are told one by one.
const SHOWN_MAX: usize = 10;

/// The digest of some events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    /// How many.
    pub(crate) events: u64,
    sum: u64,
}

impl Digest {
    /// Adds an event with everything that it says.
    pub(crate) fn add(&mut self, event: &v1::Event) {
        let mut hasher = DefaultHasher::new();
        let time = event.event_time.unwrap_or_default();
        (&event.time_series_id, time.seconds, time.nanos, &event.event_id, event.continues).hash(&mut hasher);
        event.event_items.len().hash(&mut hasher);
        for item in &event.event_items {
            (&item.event_item_key, &item.event_item_value, &item.value_metadata).hash(&mut hasher);
        }
        self.events += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

/// The digest of each series, from the workload itself and not from what was sent.
pub(crate) fn written(workload: &Workload) -> Vec<Digest> {
    let mut digests = vec![Digest::default(); workload.series()];
    for (series, event) in workload.iter() {
        if let Some(digest) = digests.get_mut(series) {
            digest.add(&event);
        }
    }
    digests
}

/// Compares what was read with what was written.
#[derive(Debug)]
pub(crate) struct Check {
    written: Vec<Digest>,
    /// Reads that were compared.
    pub(crate) reads: u64,
    /// Events in them.
    pub(crate) events: u64,
    /// Reads that were wrong.
    pub(crate) wrong: u64,
    /// What is wrong, of the first ones.
    pub(crate) problems: Vec<String>,
}

impl Check {
    /// Nothing is compared yet.
    pub(crate) const fn new(written: Vec<Digest>) -> Self {
        Self { written, reads: 0, events: 0, wrong: 0, problems: Vec::new() }
    }

    /// How many events of a series were written.
    pub(crate) fn events_of(&self, series: usize) -> u64 {
        self.written.get(series).map_or(0, |digest| digest.events)
    }

    /// Compares a read of a whole series. `unordered` events were not where their time puts them.
    pub(crate) fn compare(&mut self, series: usize, read: Digest, unordered: u64) {
        let written = self.written.get(series).copied().unwrap_or_default();
        self.reads += 1;
        self.events += read.events;
        let problem = if read.events != written.events {
            format!("{} events were written and {} read", written.events, read.events)
        } else if read != written {
            format!("the {} events that were read are not those that were written", read.events)
        } else if unordered > 0 {
            format!("{unordered} events came out of order")
        } else {
            return;
        };
        self.wrong += 1;
        if self.problems.len() < SHOWN_MAX {
            self.problems.push(format!("{}: {problem}", name(series)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> v1::Event {
        let item = v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: "v".into(),
            ..v1::EventItem::default()
        };
        v1::Event {
            time_series_id: "s".to_owned(),
            event_time: Some(prost_types::Timestamp { seconds: 1, nanos: 2 }),
            event_id: id.to_owned(),
            event_items: vec![item],
            continues: false,
        }
    }

    fn digest(events: &[v1::Event]) -> Digest {
        let mut digest = Digest::default();
        for event in events {
            digest.add(event);
        }
        digest
    }

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let (a, b) = (event("a"), event("b"));
        assert_eq!(digest(&[a.clone(), b.clone()]), digest(&[b.clone(), a.clone()]));
        assert_ne!(digest(&[a.clone(), a.clone()]), digest(&[a.clone(), b]));
        let changes: [fn(&mut v1::Event); 8] = [
            |event| event.time_series_id.push('x'),
            |event| event.event_time = Some(prost_types::Timestamp { seconds: 1, nanos: 3 }),
            |event| event.event_id.push('x'),
            |event| event.continues = true,
            |event| event.event_items[0].event_item_key.push('x'),
            |event| event.event_items[0].event_item_value = "w".into(),
            |event| drop(event.event_items[0].value_metadata.insert("a".to_owned(), "b".to_owned())),
            |event| event.event_items.clear(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = a.clone();
            change(&mut changed);
            assert_ne!(digest(std::slice::from_ref(&a)), digest(&[changed]), "change {number}");
        }
    }

    #[test]
    fn a_wrong_read_is_counted_and_named() {
        let mut check = Check::new(vec![digest(&[event("a")]), Digest::default()]);
        check.compare(0, digest(&[event("a")]), 0);
        check.compare(1, Digest::default(), 0);
        assert_eq!((check.reads, check.events, check.wrong), (2, 1, 0));
        check.compare(0, Digest::default(), 0);
        check.compare(0, digest(&[event("b")]), 0);
        check.compare(0, digest(&[event("a")]), 3);
        check.compare(1, digest(&[event("a")]), 0);
        assert_eq!(
            check.problems,
            [
                "profile:whale: 1 events were written and 0 read",
                "profile:whale: the 1 events that were read are not those that were written",
                "profile:whale: 3 events came out of order",
                "profile:00001: 0 events were written and 1 read",
            ]
        );
        for _ in 0..20 {
            check.compare(0, Digest::default(), 0);
        }
        assert_eq!((check.wrong, check.problems.len(), check.events_of(0)), (24, SHOWN_MAX, 1));
    }
}
