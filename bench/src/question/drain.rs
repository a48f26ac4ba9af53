//! How fast does a wide partition leave the server, against the store's own scan?
//!
//! One partition is written once, flushed and left until compaction has settled. Then it is read to its end from the
//! same files: by the store in this process, page after page; through gRPC by pages of 1,000 events that follow their
//! tokens; and through gRPC as one stream. Each run opens the directory anew and reads everything once before the timed
//! pass.
//!
//! Memory is the server's: the growth of its anonymous memory during the timed pass, beyond the cache that the first pass
//! filled. A read of a partition may need some pages, and never a part of the partition.

use anyhow::{Context, Result, ensure};
use model::{Order, SeriesId};
use rpc::client::Client;

use super::Question;
use crate::embedded::{Embedded, read_pages};
use crate::filled::{Batch, Filled};
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure, measure_in};
use crate::remote::{Remote, Threads};
use crate::{progress, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "drain",
    asks: "reading a wide partition through gRPC, by pages and as a stream, against the store's scan",
    answer,
};

const PARTITION_BYTES: u64 = 500_000_000;
const PARTITION_BYTES_QUICK: u64 = 50_000_000;
const WRITE_EVENTS: u64 = 1_000;
const SERIES: u64 = 1;
/// As question `scan` reads.
const SCAN_ROWS: usize = 4_096;
const SCAN_BYTES: u64 = 1 << 20;
const PAGE_EVENTS: i32 = 1_000;
/// The server chooses, as for a client that names no size.
const STREAM_PAGE_EVENTS: i32 = 0;
const PAGES_RATIO_MIN: f64 = 0.2;
const STREAM_RATIO_MIN: f64 = 0.4;
const GROWTH_MAX_MIB: f64 = 64.0;

/// The sides of one order.
struct Names {
    order: Order,
    store: &'static str,
    pages: &'static str,
    stream: &'static str,
}

const ORDERS: [Names; 2] = [
    Names {
        order: Order::OldestFirst,
        store: "store, oldest first",
        pages: "pages, oldest first",
        stream: "stream, oldest first",
    },
    Names {
        order: Order::NewestFirst,
        store: "store, newest first",
        pages: "pages, newest first",
        stream: "stream, newest first",
    },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let events = setting.size(PARTITION_BYTES, PARTITION_BYTES_QUICK) / workload::ROW_LOGICAL_BYTES;
    let data =
        &Data { filled: Filled::write(setting, batches(events))?, series: workload::series(SERIES)?, events };
    let sides = ORDERS.iter().flat_map(|names| {
        let order = names.order;
        [
            Side::new(names.store, move || data.through_store(order)),
            Side::new(names.pages, move || data.through_server(order, How::Pages)),
            Side::new(names.stream, move || data.through_server(order, How::Stream)),
        ]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let rate = |subject, control, at_least| Goal::Rate { subject, control, at_least };
    let growth = |side| Goal::Growth { side, at_most_mib: GROWTH_MAX_MIB };
    let rates = ORDERS.iter().flat_map(|names| {
        [rate(names.pages, names.store, PAGES_RATIO_MIN), rate(names.stream, names.store, STREAM_RATIO_MIN)]
    });
    let growths = ORDERS.iter().flat_map(|names| [growth(names.pages), growth(names.stream)]);
    let goals: Vec<Goal> = rates.chain(growths).collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(format!(
            "{events} events of {} B in one partition, {} MB on disk",
            workload::VALUE_BYTES,
            data.filled.disk_bytes / 1_000_000
        ))
        .note(format!(
            "store: pages of {SCAN_ROWS} rows or {SCAN_BYTES} bytes; pages: {PAGE_EVENTS} events; stream: the server's page"
        ))
        .note("bytes are logical (time, ids, value) on all sides; the second of two passes is timed")
        .note("pages and stream: one client on one thread of this process; CPU and memory are the server's")
        .note("memory: growth of anonymous memory in the timed pass, the engine's cache being warm"))
}

/// The partition, cut into requests.
fn batches(events: u64) -> Vec<Batch> {
    let batch = |first| Batch { series: SERIES, first, count: WRITE_EVENTS.min(events - first) };
    (0..events.div_ceil(WRITE_EVENTS)).map(|number| batch(number * WRITE_EVENTS)).collect()
}

/// A data directory with one wide partition.
struct Data {
    filled: Filled,
    series: SeriesId,
    events: u64,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Pages,
    Stream,
}

impl Data {
    fn through_store(&self, order: Order) -> Result<Sample> {
        let embedded = Embedded::open(self.filled.path())?;
        let scan = self.filled.scan(&self.series, order, SCAN_ROWS, SCAN_BYTES)?;
        let pass = || embedded.run(async |store| self.bytes(read_pages(&store, scan.clone()).await?));
        pass().context("warming up")?;
        let sample = measure(pass)?;
        embedded.close();
        Ok(sample)
    }

    fn through_server(&self, order: Order, how: How) -> Result<Sample> {
        let remote = Remote::serve(self.filled.path(), Threads::One)?;
        let client = remote.client()?;
        let pass = || {
            let events = match how {
                How::Pages => remote.run(follow_tokens(&client, &self.series, order)),
                How::Stream => remote.run(follow_stream(&client, &self.series, order)),
            };
            self.bytes(events?)
        };
        pass().context("warming up")?;
        let sample = measure_in(remote.process(), pass)?;
        drop(client);
        remote.stop()?;
        Ok(sample)
    }

    /// Logical bytes, once it is sure that every event was read.
    fn bytes(&self, events: u64) -> Result<u64> {
        ensure!(events == self.events, "read {events} of {} events", self.events);
        Ok(events * workload::ROW_LOGICAL_BYTES)
    }
}

async fn follow_tokens(client: &Client, series: &SeriesId, order: Order) -> Result<u64> {
    let mut request = wire::read(series, order, PAGE_EVENTS)?;
    let mut events = 0;
    loop {
        let page = client.read(request.clone()).await?;
        events += page.records.len() as u64;
        if page.next_page_token.is_empty() {
            return Ok(events);
        }
        request.page_token = page.next_page_token;
    }
}

async fn follow_stream(client: &Client, series: &SeriesId, order: Order) -> Result<u64> {
    let mut pages = client.stream(wire::read(series, order, STREAM_PAGE_EVENTS)?).await?;
    let mut events = 0;
    while let Some(page) = pages.next().await? {
        events += page.records.len() as u64;
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_is_cut_without_a_gap() {
        let cut: Vec<(u64, u64)> = batches(2_500).iter().map(|batch| (batch.first, batch.count)).collect();
        assert_eq!(cut, [(0, 1_000), (1_000, 1_000), (2_000, 500)]);
        assert_eq!(batches(1_000).len(), 1);
    }
}
