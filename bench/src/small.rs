//! Many series with a few hundred events each, and the first page of one after the other, at random.

use std::time::Duration;

use anyhow::{Result, ensure};
use env::{Clock, Random, SeededRandom, SystemClock};
use model::{Order, SeriesId};
use rpc::client::Client;

use crate::filled::Batch;
use crate::harness::{Latency, Process, Sample, measure_in};
use crate::{wire, workload};

/// Events of each series.
pub(crate) const EVENTS_PER_SERIES: u64 = 300;
/// Events of a first page.
pub(crate) const PAGE_EVENTS: usize = 100;
/// The same series in the same order on all sides and in every round.
const SEED: u64 = 20_260_328;

/// What is written: so many series, a request each.
pub(crate) fn batches(series: u64) -> Vec<Batch> {
    let batch =
        |number| Batch { series: number, first: number * EVENTS_PER_SERIES, count: EVENTS_PER_SERIES };
    (0..series).map(batch).collect()
}

/// Whose events are asked for, in order.
pub(crate) fn asked(series: u64, reads: u64) -> Result<Vec<SeriesId>> {
    let random = SeededRandom::new(SEED);
    (0..reads).map(|_| workload::series(random.below(series))).collect()
}

/// Reads the newest events of each through a server; returns how long each call took.
pub(crate) async fn read_all(client: &Client, asked: &[SeriesId]) -> Result<Vec<Duration>> {
    let page_size = i32::try_from(PAGE_EVENTS)?;
    let mut times = Times::with_capacity(asked.len());
    for series in asked {
        let request = wire::read(series, Order::NewestFirst, page_size)?;
        times.add(async { Ok(client.read(request).await?.records.len()) }).await?;
    }
    Ok(times.calls)
}

/// How long each call took.
pub(crate) struct Times {
    pub(crate) calls: Vec<Duration>,
}

impl Times {
    pub(crate) fn with_capacity(calls: usize) -> Self {
        Self { calls: Vec::with_capacity(calls) }
    }

    /// Times a call, which has to give a full page.
    pub(crate) async fn add(&mut self, call: impl Future<Output = Result<usize>>) -> Result<()> {
        let start = SystemClock.boot();
        let events = call.await?;
        self.calls.push(SystemClock.boot().since(start));
        ensure!(events == PAGE_EVENTS, "a page has {events} events instead of {PAGE_EVENTS}");
        Ok(())
    }
}

/// Measures a pass with its calls.
pub(crate) fn timed(process: Process, pass: impl Fn() -> Result<Vec<Duration>>) -> Result<Sample> {
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

    #[test]
    fn no_two_series_share_an_event() {
        let firsts: Vec<(u64, u64)> = batches(3).iter().map(|batch| (batch.series, batch.first)).collect();
        assert_eq!(firsts, [(0, 0), (1, 300), (2, 600)]);
    }
}
