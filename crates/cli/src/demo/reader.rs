//! Reads whole series back, page by page or as a stream, and takes the time of it.

use std::time::Duration;

use api::v1;
use env::Clock;
use rpc::client::{CallError, Client};

use super::digest::Digest;

/// Reads series of one namespace over one interval, newest first.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// The server.
    pub(crate) client: &'a Client,
    /// Takes the time.
    pub(crate) clock: &'a dyn Clock,
    /// Where the series are.
    pub(crate) namespace: &'a str,
    /// When.
    pub(crate) interval: v1::TimeInterval,
}

/// A series as it was read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Its events.
    pub(crate) digest: Digest,
    /// Events that came after one that is not newer.
    pub(crate) unordered: u64,
    /// How long each page took; of a stream, how long it was waited for.
    pub(crate) pages: Vec<Duration>,
    /// How long it took together, with adding up the checksum.
    pub(crate) took: Duration,
    /// What the server says that it cost.
    pub(crate) cost: Cost,
    last: Option<(i64, i32, String)>,
}

/// What answers cost, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Bytes that the store read.
    pub(crate) bytes: u64,
    /// Partitions that were asked.
    pub(crate) partitions: u64,
    /// Answers of which something came from the targets of a split.
    pub(crate) target_pages: u64,
    /// Partitions that should have been read from targets and were not.
    pub(crate) fallbacks: u64,
}

impl Cost {
    fn add(&mut self, page: &v1::ReadEventRecordsResponse) {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        for context in &page.response_context {
            self.bytes += count(context.bytes_read);
            self.partitions += count(context.partitions);
            self.fallbacks += count(context.fallbacks);
            self.target_pages += u64::from(context.routes.is_some_and(|routes| routes.target > 0));
        }
    }
}

impl Read {
    fn take(&mut self, page: &v1::ReadEventRecordsResponse) {
        self.cost.add(page);
        for event in &page.records {
            self.digest.add(event);
            let time = event.event_time.unwrap_or_default();
            let key = (time.seconds, time.nanos, event.event_id.clone());
            if self.last.as_ref().is_some_and(|last| *last <= key) {
                self.unordered += 1;
            }
            self.last = Some(key);
        }
    }
}

impl Reader<'_> {
    /// Reads a series page by page.
    pub(crate) async fn pages(&self, series: &str, page_size: i32) -> Result<Read, CallError> {
        let started = self.clock.boot();
        let mut read = Read::default();
        let mut request = self.request(series, page_size);
        loop {
            let asked = self.clock.boot();
            let page = self.client.read(request.clone()).await?;
            read.pages.push(self.clock.boot().since(asked));
            read.take(&page);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        read.took = self.clock.boot().since(started);
        Ok(read)
    }

    /// Reads the newest events of a series, so often.
    pub(crate) async fn newest(
        &self,
        series: &str,
        page_size: i32,
        times: usize,
    ) -> Result<Vec<Duration>, CallError> {
        let mut took = Vec::with_capacity(times);
        for _ in 0..times {
            let asked = self.clock.boot();
            self.client.read(self.request(series, page_size)).await?;
            took.push(self.clock.boot().since(asked));
        }
        Ok(took)
    }

    /// Reads a series as a stream of pages.
    pub(crate) async fn stream(&self, series: &str, page_size: i32) -> Result<Read, CallError> {
        let started = self.clock.boot();
        let mut read = Read::default();
        let mut pages = self.client.stream(self.request(series, page_size)).await?;
        loop {
            let asked = self.clock.boot();
            let Some(page) = pages.next().await? else { break };
            read.pages.push(self.clock.boot().since(asked));
            read.take(&page);
        }
        read.took = self.clock.boot().since(started);
        Ok(read)
    }

    /// The request for a series.
    pub(crate) fn request(&self, series: &str, page_size: i32) -> v1::ReadEventRecordsRequest {
        v1::ReadEventRecordsRequest {
            namespace: self.namespace.to_owned(),
            time_series_id: series.to_owned(),
            time_interval: Some(self.interval),
            page_size,
            ..v1::ReadEventRecordsRequest::default()
        }
    }
}

/// The time within which `percent` of `times` lie; zero of none.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_not_older_than_the_one_before_are_out_of_order() {
        let event = |seconds: i64, id: &str| v1::Event {
            event_time: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            event_id: id.to_owned(),
            ..v1::Event::default()
        };
        let unordered = |pages: &[&[(i64, &str)]]| {
            let mut read = Read::default();
            for page in pages {
                let records = page.iter().map(|(seconds, id)| event(*seconds, id)).collect();
                read.take(&v1::ReadEventRecordsResponse { records, ..Default::default() });
            }
            (read.digest.events, read.unordered)
        };
        assert_eq!(unordered(&[&[(3, "a"), (2, "b"), (2, "a")], &[], &[(1, "z")]]), (4, 0));
        // Twice the same, and newer ones across the border of pages.
        assert_eq!(unordered(&[&[(3, "a"), (3, "a")], &[(4, "a"), (4, "b")]]), (4, 3));
    }

    #[test]
    fn what_pages_cost_is_added_up() {
        let context = |bytes_read, target| v1::ResponseContext {
            bytes_read,
            partitions: 2,
            routes: Some(v1::Routes { origin: 0, target }),
            ..v1::ResponseContext::default()
        };
        let mut read = Read::default();
        for context in [context(10, 2), context(5, 0)] {
            read.take(&v1::ReadEventRecordsResponse {
                response_context: vec![context],
                ..Default::default()
            });
        }
        assert_eq!(read.cost, Cost { bytes: 15, partitions: 4, target_pages: 1, fallbacks: 0 });
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let found = [1, 50, 99, 100].map(|percent| percentile(&times, percent).as_millis());
        assert_eq!(found, [2, 100, 198, 200]);
        assert_eq!(percentile(&[], 50), Duration::ZERO);
        assert_eq!(percentile(&[Duration::from_secs(7)], 99), Duration::from_secs(7));
    }
}
