//! How long does the first page of a small partition take through gRPC, against the scan of the same rows?
//!
//! Many series with a few hundred events each; one client asks for the newest hundred of one after the other, at random.
//! The control scans the same rows of the same files with the store in this process. Each run reads everything that it
//! will time once before, so caches are as warm as their size allows.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use env::{Clock, Random, SeededRandom, SystemClock};
use model::{Order, SeriesId};
use rpc::client::Client;
use store::{Scan, Store};

use super::Question;
use crate::embedded::Embedded;
use crate::filled::{Batch, Filled};
use crate::harness::{Answer, Goal, Latency, Process, Sample, Setting, Side, Unit, interleave, measure_in};
use crate::remote::{Remote, Threads};
use crate::{progress, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "first-page",
    asks: "the first page of a small partition through gRPC, against the store's scan of the same rows",
    answer,
};

const SERIES: u64 = 5_000;
const SERIES_QUICK: u64 = 1_000;
const EVENTS_PER_SERIES: u64 = 300;
const READS: u64 = 10_000;
const READS_QUICK: u64 = 2_000;
const PAGE_EVENTS: usize = 100;
/// Never what ends a page here.
const PAGE_BYTES: u64 = 1 << 20;
/// The same series in the same order on both sides and in every round.
const SEED: u64 = 20_260_328;
const CONTROL: &str = "store";
const SUBJECT: &str = "gRPC";
const TIMES_MAX: f64 = 5.0;
const PLUS_MAX: Duration = Duration::from_micros(300);

fn answer(setting: &Setting) -> Result<Answer> {
    let series = setting.size(SERIES, SERIES_QUICK);
    let batch =
        |number| Batch { series: number, first: number * EVENTS_PER_SERIES, count: EVENTS_PER_SERIES };
    let filled = Filled::write(setting, (0..series).map(batch).collect())?;
    let asked = asked(series, setting.size(READS, READS_QUICK))?;
    let sides = vec![
        Side::new(CONTROL, || through_store(&filled, &asked)),
        Side::new(SUBJECT, || through_server(&filled, &asked)),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let goals = [Goal::Latency { subject: SUBJECT, control: CONTROL, times: TIMES_MAX, plus: PLUS_MAX }];
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!(
            "{series} series with {EVENTS_PER_SERIES} events of {} B each, {} MB on disk",
            workload::VALUE_BYTES,
            filled.disk_bytes / 1_000_000
        ))
        .note(format!(
            "{} reads of the newest {PAGE_EVENTS} events of a random series, one after the other; warm caches",
            asked.len()
        ))
        .note(format!("{SUBJECT}: one client on one thread of this process; CPU and memory are the server's")))
}

/// Whose events are asked for, in order.
fn asked(series: u64, reads: u64) -> Result<Vec<SeriesId>> {
    let random = SeededRandom::new(SEED);
    (0..reads).map(|_| workload::series(random.below(series))).collect()
}

fn through_store(filled: &Filled, asked: &[SeriesId]) -> Result<Sample> {
    let embedded = Embedded::open(filled.path())?;
    let scan = |series| filled.scan(series, Order::NewestFirst, PAGE_EVENTS, PAGE_BYTES);
    let scans = asked.iter().map(scan).collect::<Result<Vec<Scan>>>()?;
    let pass = || {
        embedded.run(async |store| {
            let mut times = Times::with_capacity(scans.len());
            for scan in scans.clone() {
                times.add(async { Ok(store.scan(scan).await?.rows.len()) }).await?;
            }
            Ok(times.calls)
        })
    };
    pass().context("warming up")?;
    let sample = timed(Process::This, pass)?;
    embedded.close();
    Ok(sample)
}

fn through_server(filled: &Filled, asked: &[SeriesId]) -> Result<Sample> {
    let remote = Remote::serve(filled.path(), Threads::One)?;
    let client = remote.client()?;
    let pass = || remote.run(read_all(&client, asked));
    pass().context("warming up")?;
    let sample = timed(remote.process(), pass)?;
    drop(client);
    remote.stop()?;
    Ok(sample)
}

async fn read_all(client: &Client, asked: &[SeriesId]) -> Result<Vec<Duration>> {
    let page_size = i32::try_from(PAGE_EVENTS)?;
    let mut times = Times::with_capacity(asked.len());
    for series in asked {
        let request = wire::read(series, Order::NewestFirst, page_size)?;
        times.add(async { Ok(client.read(request).await?.records.len()) }).await?;
    }
    Ok(times.calls)
}

/// How long each call took.
struct Times {
    calls: Vec<Duration>,
}

impl Times {
    fn with_capacity(calls: usize) -> Self {
        Self { calls: Vec::with_capacity(calls) }
    }

    /// Times a call, which has to give a full page.
    async fn add(&mut self, call: impl Future<Output = Result<usize>>) -> Result<()> {
        let start = SystemClock.boot();
        let events = call.await?;
        self.calls.push(SystemClock.boot().since(start));
        ensure!(events == PAGE_EVENTS, "a page has {events} events instead of {PAGE_EVENTS}");
        Ok(())
    }
}

/// Measures a pass with its calls.
fn timed(process: Process, pass: impl Fn() -> Result<Vec<Duration>>) -> Result<Sample> {
    let mut calls = Vec::new();
    let sample = measure_in(process, || {
        calls = pass()?;
        Ok((calls.len() * PAGE_EVENTS) as u64)
    })?;
    Ok(Sample { latency: Latency::of(calls), ..sample })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_series_are_asked_for_every_time() {
        let (once, again) = (asked(50, 200).unwrap(), asked(50, 200).unwrap());
        assert_eq!(once, again);
        assert!(once.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
