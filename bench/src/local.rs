//! An engine in this process, over the embedded store or over memory, and requests to it that ask what every request asks
//! once, or more often.
//!
//! Requests are made before anything is measured, and events are of now, so that they meet the window of a namespace with
//! default limits. Nothing refreshes the view meanwhile: a run is shorter than a lease, and each begins with a new one.

use std::cell::RefCell;

use anyhow::{Context, Result, ensure};
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, Shape, WriteRequest};
use env::{Clock, Env, SystemClock};
use model::{Interval, NamespaceName, Order, Row, SeriesId, Timestamp};

use crate::harness::{Sample, Setting, measure};
use crate::place::{Home, Place};
use crate::{crowd, workload};

const NAMESPACE: &str = "bench";
/// A batch for one series is one batch of the store.
const SHAPE: Shape = Shape { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 1 };
const SERIES_PER_WRITER: u64 = 16;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_EVENT: i64 = 1_000;

/// How much is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writes {
    /// Writers at the same time.
    pub(crate) writers: u64,
    /// Requests of each.
    pub(crate) requests: u64,
    /// Events of each request.
    pub(crate) events: u64,
}

/// A request, and the times of its events.
struct Write {
    request: WriteRequest,
    times: Vec<Timestamp>,
}

/// An engine with an empty namespace.
pub(crate) struct Local {
    home: Home,
    engine: Engine,
    name: NamespaceName,
    /// The time of the first event.
    first: i64,
}

impl Local {
    /// Opens it over an empty store.
    pub(crate) fn open(setting: &Setting, place: Place) -> Result<Self> {
        let name = NamespaceName::new(NAMESPACE)?;
        let (home, store) = Home::open(setting, place)?;
        let engine = home.run(async {
            let engine = Engine::open(store, Env::system()).await?;
            engine
                .create_namespace(&name, NamespaceSpec { shape: SHAPE, ..NamespaceSpec::default() })
                .await?;
            Ok(engine)
        })?;
        Ok(Self { home, engine, name, first: SystemClock.wall() })
    }

    /// Writes as much, and asks `asks` times more often than it has to.
    pub(crate) fn write(&self, writes: Writes, asks: u32) -> Result<Sample> {
        // Makes the slice.
        let mut made = self.writes(writes.writers, Writes { writers: 1, requests: 1, events: 1 })?;
        let first = made.pop().context("nothing to write")?;
        self.home.run(write_one(&self.engine, &self.name, first, 0))?;
        let waiting = (0..writes.writers).map(|writer| self.writes(writer, writes));
        let waiting = RefCell::new(waiting.collect::<Result<Vec<_>>>()?);
        self.leased(|| {
            measure(|| {
                self.home.run(crowd::work(writes.writers, |_| {
                    let mine = waiting.borrow_mut().pop().unwrap_or_default();
                    let (engine, name) = (self.engine.clone(), self.name.clone());
                    async move {
                        let mut events = 0;
                        for write in mine {
                            events += write_one(&engine, &name, write, asks).await?;
                        }
                        Ok(events)
                    }
                }))
            })
        })
    }

    /// Reads the newest events of each of these series, one after the other, and asks `asks` times more often than it has
    /// to.
    pub(crate) fn read(&self, series: &[SeriesId], page_events: usize, asks: u32) -> Result<Sample> {
        let requests =
            series.iter().map(|series| self.page(series, page_events)).collect::<Result<Vec<_>>>()?;
        self.leased(|| {
            measure(|| {
                self.home.run(async {
                    let mut events = 0;
                    for request in requests {
                        for _ in 0..asks {
                            ensure!(self.engine.ask_as_read(&request).await?, "the lease is lost");
                        }
                        let found = self.engine.read(request).await?.events.len();
                        ensure!(found == page_events, "a page has {found} events instead of {page_events}");
                        events += found as u64;
                    }
                    Ok(events)
                })
            })
        })
    }

    /// Closes the store and removes what it held.
    pub(crate) fn close(self) {
        self.home.close();
    }

    /// Runs `work` under a new lease, which it must not outlast.
    fn leased(&self, work: impl FnOnce() -> Result<Sample>) -> Result<Sample> {
        self.home.run(async { Ok(self.engine.refresh().await?) })?;
        let sample = work()?;
        ensure!(self.engine.is_leased(), "a run took longer than a lease; make it shorter");
        Ok(sample)
    }

    /// What one writer writes: its series in turn.
    fn writes(&self, writer: u64, writes: Writes) -> Result<Vec<Write>> {
        let write = |number: u64| -> Result<Write> {
            let series = workload::series(writer * SERIES_PER_WRITER + number % SERIES_PER_WRITER)?;
            let rows = workload::rows((writer * writes.requests + number) * writes.events, writes.events)?;
            let time = |at: u64| -> Result<Timestamp> {
                let nanos = i64::try_from(number * writes.events + at)? * NANOS_PER_EVENT;
                Ok(Timestamp::from_nanos(self.first + nanos)?)
            };
            let times = (0..writes.events).map(time).collect::<Result<Vec<_>>>()?;
            let events = rows.into_iter().zip(&times).map(|(row, time)| event(&series, row, *time));
            let events = events.collect::<Result<_>>()?;
            Ok(Write { request: WriteRequest { namespace: self.name.clone(), events }, times })
        };
        (0..writes.requests).map(write).collect()
    }

    fn page(&self, series: &SeriesId, page_records: usize) -> Result<ReadRequest> {
        Ok(ReadRequest {
            namespace: self.name.clone(),
            series: vec![series.clone()],
            interval: Interval::new(self.first, self.first + NANOS_PER_SECOND)?,
            query: None,
            page_records,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        })
    }
}

async fn write_one(engine: &Engine, name: &NamespaceName, write: Write, asks: u32) -> Result<u64> {
    let events = write.times.len();
    for _ in 0..asks {
        let taken = engine.ask_as_write(name, &write.times).await?;
        ensure!(taken == events, "{taken} of {events} events would be taken");
    }
    let accepted = engine.write_synced(write.request).await?.accepted;
    ensure!(accepted == events, "{accepted} of {events} events were accepted");
    Ok(events as u64)
}

/// An event with the contents of a row, at another time.
pub(crate) fn event(series: &SeriesId, row: Row, time: Timestamp) -> Result<EventInput> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
    let nanos = time.nanos();
    let parts = (nanos.div_euclid(NANOS_PER_SECOND), i32::try_from(nanos.rem_euclid(NANOS_PER_SECOND))?);
    let key = text(row.key.item_key.as_bytes())?;
    Ok(EventInput {
        series: series.as_str().to_owned(),
        time: Some(parts),
        event_id: text(row.key.event_id.as_bytes())?,
        items: vec![ItemInput { key, value: row.value, ..ItemInput::default() }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_however_often_it_asks() {
        let local = Local::open(&Setting::for_test(1), Place::Memory).unwrap();
        let writes = Writes { writers: 2, requests: 32, events: 5 };
        assert_eq!(local.write(writes, 3).unwrap().units, 320);
        // Two requests for each series.
        let series: Vec<SeriesId> = (0..32).map(|number| workload::series(number).unwrap()).collect();
        assert_eq!(local.read(&series, 10, 2).unwrap().units, 320);
        assert!(local.read(&series, 11, 0).is_err());
        local.close();
    }
}
