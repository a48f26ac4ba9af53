//! What a demo measured, as an object and as text. No figure is here that the run did not give.

use std::time::Duration;

use super::moving::{Canary, Shadow};
use super::reader::{Read, percentile};
use super::splits::Splits;
use super::tuning::Tuning;
use super::workload::Scale;
use crate::import::{grouped, rate};
use crate::output::value::{size, took};

/// Everything, in the order of the steps.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Figures {
    /// How much was asked for.
    pub(crate) scale: Scale,
    /// Where the randomness started.
    pub(crate) seed: u64,
    /// Series, the whale among them.
    pub(crate) series: usize,
    /// The server, where it was our own.
    pub(crate) address: Option<String>,
    /// Its data.
    pub(crate) data: Option<String>,
    /// How it heard of what reads found wide, where it was our own.
    pub(crate) queue: Option<String>,
    /// Until it answered, where it was our own.
    pub(crate) serve_seconds: Option<f64>,
    /// The import.
    pub(crate) import: Import,
    /// Reads before anything was split.
    pub(crate) before: Reading,
    /// What was split.
    pub(crate) splits: Splits,
    /// The same reads from the origins, once there are targets: the control.
    pub(crate) control: Reading,
    /// Comparisons while origins were served.
    pub(crate) shadow: Shadow,
    /// Comparisons while a share was served from targets.
    pub(crate) canary: Canary,
    /// The same reads from targets.
    pub(crate) after: Reading,
    /// The comparison of everything with what was written.
    pub(crate) check: Checked,
    /// A namespace of too narrow buckets that was tuned.
    pub(crate) tuning: Tuning,
    /// How long all of it took.
    pub(crate) seconds: f64,
    /// Whether the data is still there.
    pub(crate) kept: bool,
}

/// The import.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Import {
    /// Events that were accepted, all durable.
    pub(crate) events: u64,
    /// Of them, those of the whale.
    pub(crate) whale_events: u64,
    /// How long it took.
    pub(crate) seconds: f64,
    /// How many a second.
    pub(crate) events_per_second: u64,
    /// Requests that had to be sent again.
    pub(crate) retries: u64,
}

/// Reads of the whale and of others.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Reading {
    /// The whale page by page.
    pub(crate) whale_pages: Whale,
    /// The whale as a stream.
    pub(crate) whale_stream: Whale,
    /// Its newest page, again and again.
    pub(crate) whale_newest: Calls,
    /// First pages of small series, while somebody streams the whale.
    pub(crate) others: Calls,
}

impl Reading {
    /// For people, a line each.
    pub(crate) fn lines(&self) -> [String; 4] {
        [
            self.whale_pages.text("by pages"),
            self.whale_stream.text("as a stream"),
            format!("its newest 100, {}", self.whale_newest.text()),
            format!(
                "others, a small series drawn at random while the whale is streamed, {}",
                self.others.text()
            ),
        ]
    }
}

/// A read of all of the whale.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Whale {
    /// Events that were read.
    pub(crate) events: u64,
    /// In so many pages.
    pub(crate) pages: usize,
    /// How long it took.
    pub(crate) seconds: f64,
    /// How many events a second.
    pub(crate) events_per_second: u64,
    /// Half of the pages came within this.
    pub(crate) page_p50_ms: f64,
    /// Nearly all of the pages came within this.
    pub(crate) page_p99_ms: f64,
    /// Bytes that the store read for a page.
    pub(crate) page_bytes_read: u64,
    /// Partitions that were asked for a page.
    pub(crate) page_partitions: f64,
    /// Pages of which something came from targets.
    pub(crate) target_pages: u64,
    /// Partitions that should have been read from targets and were not.
    pub(crate) fallbacks: u64,
}

impl Whale {
    /// From a read.
    pub(crate) fn new(read: &Read) -> Self {
        let pages = u32::try_from(read.pages.len().max(1)).unwrap_or(u32::MAX);
        Self {
            events: read.digest.events,
            pages: read.pages.len(),
            seconds: read.took.as_secs_f64(),
            events_per_second: rate(read.digest.events, read.took),
            page_p50_ms: millis(percentile(&read.pages, 50)),
            page_p99_ms: millis(percentile(&read.pages, 99)),
            page_bytes_read: read.cost.bytes / u64::from(pages),
            page_partitions: read.cost.partitions as f64 / f64::from(pages),
            target_pages: read.cost.target_pages,
            fallbacks: read.cost.fallbacks,
        }
    }

    /// For people.
    fn text(&self, how: &str) -> String {
        let [events, pages, rate] =
            [self.events, u64::try_from(self.pages).unwrap_or(u64::MAX), self.events_per_second].map(grouped);
        format!(
            "the whale {how}: {events} events in {pages} pages, {}, {rate} events/s; a page p50 {}, p99 {}, reads {} of {:.1} partitions",
            seconds(self.seconds),
            milliseconds(self.page_p50_ms),
            milliseconds(self.page_p99_ms),
            size(self.page_bytes_read),
            self.page_partitions,
        )
    }
}

/// Many calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Calls {
    /// How many.
    pub(crate) reads: usize,
    /// Half came within this.
    pub(crate) p50_ms: f64,
    /// Nearly all came within this.
    pub(crate) p99_ms: f64,
}

impl Calls {
    /// From the times of the calls.
    pub(crate) fn new(times: &[Duration]) -> Self {
        Self {
            reads: times.len(),
            p50_ms: millis(percentile(times, 50)),
            p99_ms: millis(percentile(times, 99)),
        }
    }

    fn text(&self) -> String {
        let reads = grouped(u64::try_from(self.reads).unwrap_or(u64::MAX));
        format!("{reads} times: p50 {}, p99 {}", milliseconds(self.p50_ms), milliseconds(self.p99_ms))
    }
}

/// The comparison of what was read with what was written.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Checked {
    /// Reads of whole series.
    pub(crate) reads: u64,
    /// Events in them.
    pub(crate) events: u64,
    /// Reads that were wrong.
    pub(crate) wrong: u64,
    /// What is wrong, of the first ones.
    pub(crate) problems: Vec<String>,
    /// How long it took.
    pub(crate) seconds: f64,
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// A number of seconds that was a duration.
pub(crate) fn seconds(seconds: f64) -> String {
    took(Duration::from_secs_f64(seconds.max(0.0)))
}

/// The same in milliseconds.
pub(crate) fn milliseconds(milliseconds: f64) -> String {
    seconds(milliseconds / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_told_with_what_they_took() {
        let mut read = Read::default();
        read.digest.events = 25_000;
        read.pages = (1..=25).map(Duration::from_millis).collect();
        read.took = Duration::from_millis(500);
        read.cost.bytes = 25 * 2_048;
        read.cost.partitions = 30;
        let whale = Whale::new(&read);
        assert_eq!((whale.events_per_second, whale.pages), (50_000, 25));
        assert_eq!(
            whale.text("by pages"),
            "the whale by pages: 25,000 events in 25 pages, 500.0 ms, 50,000 events/s; a page p50 13.0 ms, p99 25.0 ms, \
             reads 2.0 KiB of 1.2 partitions"
        );
        let calls = Calls::new(&[Duration::from_micros(400), Duration::from_micros(800)]);
        assert_eq!((calls.reads, calls.p50_ms), (2, 0.4));
        assert_eq!(calls.text(), "2 times: p50 400 us, p99 800 us");
    }
}
