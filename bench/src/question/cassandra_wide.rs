//! Can a partition that grew far too wide still be read over Cassandra, page by page?
//!
//! One partition of 500 MB is written once, through a server, and read to its end in pages of 1,000 events, in both orders, by a
//! server that was just started. Wanted is that it stays small, that no page takes as long as the node lets a read take,
//! and that no store call does. Beside it the driver reads the same rows by as many at a time.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use model::{Order, SeriesId};

use super::Question;
use crate::cassandra::{Driver, Home, beside, slowest_scan_seconds};
use crate::filled::{self, Batch};
use crate::harness::{Answer, Goal, Latency, Sample, Setting, Side, Unit, interleave, measure, measure_in};
use crate::remote::Threads;
use crate::{progress, remote, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-wide",
    asks: "a partition of 500 MB over Cassandra by pages of 1,000 events: memory, the slowest page and store call",
    answer: |setting| {
        beside(QUESTION.name, Unit::Bytes, || Home::with(setting, |home| answer(setting, home)))
    },
};

const PARTITION_BYTES: u64 = 500_000_000;
const PARTITION_BYTES_QUICK: u64 = 50_000_000;
const SERIES: u64 = 7;
const WRITE_EVENTS: u64 = 500;
const PAGE_EVENTS: i32 = 1_000;
/// The server asks for one row more, to know whether there is another page.
const PAGE_ROWS: i32 = PAGE_EVENTS + 1;
const GROWTH_MAX_MIB: f64 = 64.0;
/// How long Cassandra lets a read take unless it is told otherwise (`read_request_timeout`).
const NODE_TIMEOUT_SECONDS: f64 = 5.0;

/// The sides of one order.
struct Names {
    order: Order,
    driver: &'static str,
    pages: &'static str,
}

const ORDERS: [Names; 2] = [
    Names { order: Order::OldestFirst, driver: "driver, oldest first", pages: "pages, oldest first" },
    Names { order: Order::NewestFirst, driver: "driver, newest first", pages: "pages, newest first" },
];

fn answer(setting: &Setting, home: &Home) -> Result<Answer> {
    let events = setting.size(PARTITION_BYTES, PARTITION_BYTES_QUICK) / workload::LARGE_ROW_LOGICAL_BYTES;
    let wide = &Wide { home, table: write(home, events)?, series: workload::series(SERIES)?, events };
    let slowest = RefCell::new(Slowest::default());
    let sides = ORDERS.iter().flat_map(|names| {
        let (order, slowest) = (names.order, &slowest);
        [
            Side::new(names.driver, move || wide.through_driver(order)),
            Side::new(names.pages, move || wide.through_server(order, &mut slowest.borrow_mut())),
        ]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let slowest = slowest.take();
    let within = |what, seconds| Goal::Figures { what, values: vec![seconds], at_most: NODE_TIMEOUT_SECONDS };
    let pages = || ORDERS.iter().map(|names| names.pages);
    let goals: Vec<Goal> = pages()
        .map(|side| Goal::Calls { side })
        .chain(pages().map(|side| Goal::Growth { side, at_most_mib: GROWTH_MAX_MIB }))
        .chain([within("slowest page, s", slowest.page.as_secs_f64())])
        .chain([within("slowest scan of the store, s, at most", slowest.scan_seconds)])
        .collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(format!(
            "{events} events of {} B in one partition of {} MB{}",
            workload::LARGE_ROW_LOGICAL_BYTES,
            events * workload::LARGE_ROW_LOGICAL_BYTES / 1_000_000,
            if setting.quick { "; a full run has 500 MB" } else { "" }
        ))
        .note(format!("pages: {} of {PAGE_EVENTS} events each, by a server that was just started; driver: as many rows at a time", slowest.pages))
        .note("memory: growth of the server's anonymous memory from its start on; the slowest are those of all rounds")
        .note("the slowest scan is read from braid_store_call_duration_seconds: the upper edge of the highest bucket in use"))
}

/// Writes the partition; returns its table as a statement names it.
fn write(home: &Home, events: u64) -> Result<String> {
    let remote = home.serve(Threads::Two)?;
    let table = home.create_table(&remote)?;
    let batch = |first| Batch { series: SERIES, first, count: WRITE_EVENTS.min(events - first) };
    let batches = (0..events.div_ceil(WRITE_EVENTS)).map(|number| batch(number * WRITE_EVENTS));
    filled::fill(&remote, batches.collect(), wire::write_large).context("cannot write the partition")?;
    remote.stop()?;
    Ok(table)
}

/// The worst of all rounds.
#[derive(Default)]
struct Slowest {
    page: Duration,
    scan_seconds: f64,
    /// How many pages one drain had.
    pages: usize,
}

/// The partition.
struct Wide<'a> {
    home: &'a Home,
    table: String,
    series: SeriesId,
    events: u64,
}

impl Wide<'_> {
    fn through_driver(&self, order: Order) -> Result<Sample> {
        let remote = self.home.serve(Threads::One)?;
        let (driver, partition) = (remote.run(Driver::connect(&self.table))?, wire::partition(&self.series)?);
        let sample = measure(|| self.bytes(remote.run(driver.drain(&partition, order, PAGE_ROWS))?))?;
        drop(driver);
        remote.stop()?;
        Ok(sample)
    }

    fn through_server(&self, order: Order, slowest: &mut Slowest) -> Result<Sample> {
        let remote = self.home.serve(Threads::One)?;
        let client = remote.client()?;
        let (request, mut pages) = (wire::read(&self.series, order, PAGE_EVENTS)?, Vec::new());
        let sample = measure_in(remote.process(), || {
            let drained = remote.run(remote::read_pages(&client, request))?;
            pages = drained.pages;
            self.bytes(drained.events)
        })?;
        let scan_seconds = slowest_scan_seconds(&remote.metrics()?)?;
        drop(client);
        remote.stop()?;
        slowest.page = pages.iter().copied().fold(slowest.page, Duration::max);
        slowest.scan_seconds = slowest.scan_seconds.max(scan_seconds);
        slowest.pages = pages.len();
        Ok(Sample { latency: Latency::of(pages), ..sample })
    }

    /// Logical bytes, once it is sure that all of it was read.
    fn bytes(&self, events: u64) -> Result<u64> {
        ensure!(events == self.events, "read {events} of {} events", self.events);
        Ok(events * workload::LARGE_ROW_LOGICAL_BYTES)
    }
}
