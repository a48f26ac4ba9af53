//! How long does a small read over Cassandra take through Braid, against the driver's select of the same rows?
//!
//! Many series with ten events each, a partition each. One client asks for one after the other, at random; the driver asks
//! for the same ones in the same order, by the same statement. Both run on one thread of this process and both are there
//! all the time, so the sides of a round follow each other at once.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use env::{Clock, SystemClock};
use model::{Order, SeriesId};

use super::Question;
use crate::cassandra::{Driver, Home, beside};
use crate::filled::{self, Batch};
use crate::harness::{Answer, Goal, Latency, Process, Sample, Setting, Side, Unit, interleave, measure_in};
use crate::remote::{Remote, Threads};
use crate::{progress, small, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-read",
    asks: "ten events of one partition over Cassandra through gRPC, against the driver's select",
    answer: |setting| {
        beside(QUESTION.name, Unit::Events, || Home::with(setting, |home| answer(setting, home)))
    },
};

const SERIES: u64 = 1_000;
const PAGE_EVENTS: i32 = 10;
const EVENTS: u64 = PAGE_EVENTS.unsigned_abs() as u64;
/// The server asks for one row more, to know whether there is another page.
const PAGE_ROWS: i32 = PAGE_EVENTS + 1;
const READS: u64 = 4_000;
const READS_QUICK: u64 = 1_000;
const ORDER: Order = Order::NewestFirst;
const CONTROL: &str = "driver";
const SUBJECT: &str = "gRPC";
const PLUS_MAX: Duration = Duration::from_micros(400);

fn answer(setting: &Setting, home: &Home) -> Result<Answer> {
    let remote = home.serve(Threads::One)?;
    let table = home.create_table(&remote)?;
    let batch = |series| Batch { series, first: series * EVENTS, count: EVENTS };
    filled::fill(&remote, (0..SERIES).map(batch).collect(), wire::write)
        .context("cannot write the series")?;
    let (client, driver) = (remote.client()?, remote.run(Driver::connect(&table))?);
    let asked = small::asked(SERIES, setting.size(READS, READS_QUICK))?;
    let through_driver = || {
        timed(&remote, Process::This, &asked, async |series| {
            driver.read(&wire::partition(series)?, ORDER, PAGE_ROWS).await
        })
    };
    let through_server = || {
        timed(&remote, remote.process(), &asked, async |series| {
            Ok(client.read(wire::read(series, ORDER, PAGE_EVENTS)?).await?.records.len() as u64)
        })
    };
    through_driver().and_then(|_| through_server()).context("warming up")?;
    let sides = vec![Side::new(CONTROL, through_driver), Side::new(SUBJECT, through_server)];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let goals = [Goal::Latency { subject: SUBJECT, control: CONTROL, times: 1.0, plus: PLUS_MAX }];
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!(
            "{SERIES} series with {EVENTS} events of {} B, a partition each",
            workload::VALUE_BYTES
        ))
        .note(format!(
            "{} reads of all events of a random series, one after the other; all were read before",
            asked.len()
        ))
        .note("client and driver: one thread of this process; CPU and memory of gRPC are the server's"))
}

/// Reads one series after the other; every read has to give all events.
fn timed(
    remote: &Remote,
    process: Process,
    asked: &[SeriesId],
    read: impl AsyncFn(&SeriesId) -> Result<u64>,
) -> Result<Sample> {
    let mut calls = Vec::with_capacity(asked.len());
    let pass = async {
        for series in asked {
            let start = SystemClock.boot();
            let events = read(series).await?;
            calls.push(SystemClock.boot().since(start));
            ensure!(events == EVENTS, "a read gave {events} events instead of {EVENTS}");
        }
        Ok(asked.len() as u64 * EVENTS)
    };
    let sample = measure_in(process, || remote.run(pass))?;
    Ok(Sample { latency: Latency::of(calls), ..sample })
}
