//! How fast does a series leave Cassandra through Braid, against the driver that reads the same rows?
//!
//! One partition is written once, through a server, and read to its end by four ways: as a stream, by pages of 1,000 events that
//! follow their tokens, and by the driver in this process with pages of as many rows as each of these asks of the node at a
//! time. Each beside the driver in its own manner: a stream reads ahead and so does its control; who follows tokens has to
//! have a page before he can ask for the next, and so has the control. Both are full drains and both are held to the same
//! goal. Server and session live as long as the question does, and everything is read once before the first round.

use anyhow::{Context, Result, ensure};
use model::{Order, PartitionKey, SeriesId};
use rpc::client::Client;

use super::Question;
use crate::cassandra::{Driver, Home, beside};
use crate::filled::{self, Batch};
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure, measure_in};
use crate::remote::{Remote, Threads};
use crate::{progress, remote, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-drain",
    asks: "reading a series over Cassandra through gRPC, by pages and as a stream, against the driver",
    answer: |setting| {
        beside(QUESTION.name, Unit::Bytes, || Home::with(setting, |home| answer(setting, home)))
    },
};

const SERIES_BYTES: u64 = 64_000_000;
const SERIES_BYTES_QUICK: u64 = 16_000_000;
const SERIES: u64 = 7;
const WRITE_EVENTS: u64 = 1_000;
const PAGE_EVENTS: i32 = 1_000;
/// The server chooses, as for a client that names no size.
const STREAM_PAGE_EVENTS: i32 = 0;
/// What it chooses. It asks for one row more than a page has, to know whether there is another page.
const STREAM_ROWS: i32 = 4_001;
const PAGE_ROWS: i32 = PAGE_EVENTS + 1;
const RATIO_MIN: f64 = 0.8;

/// The sides of one order: subjects with their controls.
struct Names {
    order: Order,
    stream: [&'static str; 2],
    pages: [&'static str; 2],
}

const ORDERS: [Names; 2] = [
    Names {
        order: Order::OldestFirst,
        stream: ["stream, oldest first", "driver ahead, oldest first"],
        pages: ["pages, oldest first", "driver in turn, oldest first"],
    },
    Names {
        order: Order::NewestFirst,
        stream: ["stream, newest first", "driver ahead, newest first"],
        pages: ["pages, newest first", "driver in turn, newest first"],
    },
];

fn answer(setting: &Setting, home: &Home) -> Result<Answer> {
    let events = setting.size(SERIES_BYTES, SERIES_BYTES_QUICK) / workload::ROW_LOGICAL_BYTES;
    let remote = home.serve(Threads::One)?;
    let table = home.create_table(&remote)?;
    filled::fill(&remote, batches(events), wire::write).context("cannot write the series")?;
    let series = workload::series(SERIES)?;
    let source = &Source {
        client: remote.client()?,
        driver: remote.run(Driver::connect(&table))?,
        partition: wire::partition(&series)?,
        series,
        events,
        remote,
    };
    let sides = || ORDERS.iter().flat_map(|names| source.sides(names)).collect::<Vec<_>>();
    for mut side in sides() {
        (side.run)().with_context(|| format!("warming up, side `{}`", side.name))?;
    }
    let runs = interleave(setting.rounds, sides(), progress::run(QUESTION.name, Unit::Bytes))?;
    let goal = |[subject, control]: [&'static str; 2]| Goal::Rate { subject, control, at_least: RATIO_MIN };
    let goals: Vec<Goal> = ORDERS.iter().flat_map(|names| [goal(names.stream), goal(names.pages)]).collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(format!("{events} events of {} B in one partition", workload::VALUE_BYTES))
        .note(format!(
            "stream: the server's page; pages: {PAGE_EVENTS} events; driver: pages of as many rows as these ask of the node, \
             the next asked for ahead, or in turn"
        ))
        .note("bytes are logical (time, ids, value) on all sides; the node has the same cores, and its CPU is counted on no side")
        .note("one client on one thread of this process; CPU and memory of stream and pages are the server's"))
}

/// The series, cut into requests.
fn batches(events: u64) -> Vec<Batch> {
    let batch = |first| Batch { series: SERIES, first, count: WRITE_EVENTS.min(events - first) };
    (0..events.div_ceil(WRITE_EVENTS)).map(|number| batch(number * WRITE_EVENTS)).collect()
}

/// The series and who reads it.
struct Source {
    client: Client,
    driver: Driver,
    partition: PartitionKey,
    series: SeriesId,
    events: u64,
    /// Last: the others live on its runtime.
    remote: Remote,
}

impl Source {
    fn sides(&self, names: &Names) -> [Side<'_>; 4] {
        let order = names.order;
        let ([stream, by_stream], [pages, by_page]) = (names.stream, names.pages);
        [
            Side::new(by_stream, move || {
                self.through_driver(self.driver.drain(&self.partition, order, STREAM_ROWS))
            }),
            Side::new(stream, move || {
                let request = wire::read(&self.series, order, STREAM_PAGE_EVENTS)?;
                self.through_server(remote::read_stream(&self.client, request))
            }),
            Side::new(by_page, move || {
                self.through_driver(self.driver.drain_in_turn(&self.partition, order, PAGE_ROWS))
            }),
            Side::new(pages, move || {
                let request = wire::read(&self.series, order, PAGE_EVENTS)?;
                self.through_server(async { Ok(remote::read_pages(&self.client, request).await?.events) })
            }),
        ]
    }

    fn through_driver(&self, read: impl Future<Output = Result<u64>>) -> Result<Sample> {
        measure(|| self.bytes(self.remote.run(read)?))
    }

    fn through_server(&self, read: impl Future<Output = Result<u64>>) -> Result<Sample> {
        measure_in(self.remote.process(), || self.bytes(self.remote.run(read)?))
    }

    /// Logical bytes, once it is sure that all of it was read.
    fn bytes(&self, events: u64) -> Result<u64> {
        ensure!(events == self.events, "read {events} of {} events", self.events);
        Ok(events * workload::ROW_LOGICAL_BYTES)
    }
}
