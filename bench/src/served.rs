//! A wide series of Cassandra read in every way that `cassandra-packed` and `cassandra-hot` compare: by the driver from its origin, and through one
//! server from targets of rows and from packed ones. CPU time is that of whoever answers, with the nodes that it asks.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::v1;
use api::v1::aggregation_query::Aggregation;
use env::BoxFuture;
use model::{Interval, Order, PartitionKey, SeriesId, TableName};
use rpc::client::Client;

use crate::arrivals::{self, Became};
use crate::cassandra::{Driver, Home};
use crate::divided::Divided;
use crate::harness::{Latency, Process, Sample, measure_in};
use crate::packed::NAMES;
use crate::remote::{Remote, Threads};
use crate::{crowd, remote, wire};

/// Events of a page.
pub(crate) const PAGE_EVENTS: i32 = 1_000;
/// Bytes of a page of who reads everything by the driver, about.
const DRAIN_BYTES: u64 = 1 << 20;
/// Readers of disjoint ranges.
const RANGES: u64 = 4;
/// So many narrow ranges are asked for, in turns.
const STRETCHES: u64 = 1_000;
/// How long somebody waits for a page that was asked for at its time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// A setting of the server: nothing is split meanwhile.
const SPLITS: &str = "BRAID__LIMITS__SPLITS";

/// Who reads, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The driver, from the origin.
    Driver,
    /// The same, four readers of disjoint ranges at once.
    Ranges,
    /// A server, from targets of rows.
    Rows,
    /// A server, from packed targets.
    Packed,
}

impl Way {
    /// What a report calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Ranges => "driver, 4 readers",
            Self::Rows => "rows",
            Self::Packed => "packed",
        }
    }

    /// The namespace that is asked, where a server is.
    fn namespace(self) -> Option<&'static str> {
        let [rows, chunks] = NAMES;
        match self {
            Self::Driver | Self::Ranges => None,
            Self::Rows => Some(rows),
            Self::Packed => Some(chunks),
        }
    }
}

/// Which page is read again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// The newest one.
    Newest,
    /// That of a narrow range, each time another one.
    Narrow,
}

/// The series, who reads it, and what that costs.
pub(crate) struct Served {
    clients: Arc<[Client]>,
    driver: Arc<Driver>,
    partition: PartitionKey,
    series: SeriesId,
    parts: Arc<[Interval]>,
    stretches: Arc<[Interval]>,
    whole: Interval,
    pub(crate) events: u64,
    bytes: u64,
    nodes: Vec<Process>,
    /// Last: the others live on its runtime.
    remote: Remote,
}

impl Served {
    /// Starts a server for so many clients over a series whose namespaces read from targets.
    pub(crate) fn start(home: &Home, divided: &Divided, clients: u64) -> Result<Self> {
        let remote = home.serve_with(&[(SPLITS, "0".to_owned())], Threads::Two)?;
        let [origin, _] = NAMES;
        let table = home.table(origin, &TableName::data(wire::slice()?));
        let served = Self {
            clients: (0..clients).map(|_| remote.client()).collect::<Result<_>>()?,
            driver: Arc::new(remote.run(home.driver(&table))?),
            partition: wire::partition(&divided.series.series)?,
            series: divided.series.series.clone(),
            parts: divided.parts(RANGES)?.into(),
            stretches: divided.stretches(STRETCHES, PAGE_EVENTS.unsigned_abs().into())?.into(),
            whole: divided.whole()?,
            events: divided.events,
            bytes: divided.bytes(),
            nodes: home.processes()?,
            remote,
        };
        for way in [Way::Rows, Way::Packed] {
            served.remote.run(served.check(way)).with_context(|| format!("reading `{}`", way.name()))?;
        }
        Ok(served)
    }

    /// Stops the server.
    pub(crate) fn stop(self) -> Result<()> {
        let Self { clients, driver, remote, .. } = self;
        drop((clients, driver));
        remote.stop()
    }

    /// A page is as good as full and comes from targets.
    async fn check(&self, way: Way) -> Result<()> {
        let page = self.client(0)?.read(self.request(way, self.whole, PAGE_EVENTS)?).await?;
        let (found, wanted) = (page.records.len(), PAGE_EVENTS.unsigned_abs() as usize);
        // A page of large events ends with its bytes before it has all of them.
        ensure!(found * 10 >= wanted * 7, "a page has {found} events instead of {wanted}");
        let context = page.response_context.first().context("a page does not say where it comes from")?;
        let targets = context.routes.as_ref().map_or(0, |routes| routes.target);
        ensure!(
            targets > 0 && context.fallbacks == 0,
            "{targets} targets and {} fallbacks",
            context.fallbacks
        );
        Ok(())
    }

    fn client(&self, number: usize) -> Result<&Client> {
        self.clients.get(number).context("no such client")
    }

    fn request(&self, way: Way, interval: Interval, page_size: i32) -> Result<v1::ReadEventRecordsRequest> {
        let namespace = way.namespace().context("nobody asks a server")?.to_owned();
        let time_interval = Some(wire::time_interval(interval)?);
        let request = wire::read(&self.series, Order::NewestFirst, page_size)?;
        Ok(v1::ReadEventRecordsRequest { namespace, time_interval, ..request })
    }

    /// Runs `work`; CPU time is the server's or the driver's, and that of the nodes.
    fn measured(&self, way: Way, work: impl FnOnce() -> Result<u64>) -> Result<Sample> {
        let process = way.namespace().map_or(Process::This, |_| self.remote.process());
        let before = cpu_of(&self.nodes)?;
        let sample = measure_in(process, work)?;
        Ok(Sample { cpu: sample.cpu + cpu_of(&self.nodes)?.saturating_sub(before), ..sample })
    }

    fn all(&self, found: u64) -> Result<u64> {
        ensure!(found == self.events, "found {found} of {} events", self.events);
        Ok(self.bytes)
    }

    /// Looks at every event; nothing is sent to a client of a server, since nothing matches.
    pub(crate) fn look(&self, way: Way) -> Result<Sample> {
        let rows = i32::try_from(DRAIN_BYTES * self.events / self.bytes)?;
        self.measured(way, || match way {
            Way::Driver => {
                let drain = self.driver.drain_in_turn(&self.partition, Order::NewestFirst, rows);
                self.all(self.remote.run(drain)?)
            }
            Way::Ranges => {
                let reader = |number: u64| {
                    let (driver, partition) = (Arc::clone(&self.driver), self.partition.clone());
                    let parts = Arc::clone(&self.parts);
                    async move {
                        let part = *parts.get(usize::try_from(number)?).context("no such part")?;
                        driver.drain_of(&partition, part, Order::NewestFirst, rows).await
                    }
                };
                self.all(self.remote.run(crowd::work(RANGES, reader))?)
            }
            Way::Rows | Way::Packed => self.remote.run(self.search(way)),
        })
    }

    async fn search(&self, way: Way) -> Result<u64> {
        let mut request = wire::search_marked(&self.series, Order::NewestFirst, PAGE_EVENTS)?;
        request.namespace = way.namespace().context("nobody asks a server")?.to_owned();
        loop {
            let page = self.client(0)?.search(request.clone()).await?;
            ensure!(page.records.is_empty(), "something was found");
            if page.next_page_token.is_empty() {
                return Ok(self.bytes);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Streams every event to a client, which decodes it or not.
    pub(crate) fn stream(&self, way: Way, decoded: bool) -> Result<Sample> {
        let request = self.request(way, self.whole, 0)?;
        self.measured(way, || {
            self.remote.run(async {
                if decoded {
                    return self.all(remote::read_stream(self.client(0)?, request).await?);
                }
                let (mut pages, mut bytes) = (self.client(0)?.stream_in_place(request).await?, 0);
                while let Some(page) = pages.next().await? {
                    bytes += page.wire_bytes() as u64;
                }
                self.plausible(bytes, self.bytes)
            })
        })
    }

    /// Undecoded events have no number; but they have about as many bytes.
    fn plausible(&self, undecoded: u64, logical: u64) -> Result<u64> {
        ensure!(undecoded * 10 >= logical * 7, "{undecoded} bytes for {logical}");
        Ok(logical)
    }

    /// Counts every event.
    pub(crate) fn count(&self, way: Way) -> Result<Sample> {
        self.measured(way, || {
            let found = match way {
                Way::Driver | Way::Ranges => self.remote.run(self.driver.count(&self.partition)),
                Way::Rows | Way::Packed => self.remote.run(self.add_up(way)),
            };
            self.all(found?)
        })
    }

    async fn add_up(&self, way: Way) -> Result<u64> {
        let count = Aggregation::Count(v1::CountAggregation {});
        let mut request = wire::aggregate(&self.series, Order::NewestFirst, count)?;
        request.namespace = way.namespace().context("nobody asks a server")?.to_owned();
        remote::add_up(self.client(0)?, request).await
    }

    /// So many readers at once read so many pages each; nobody decodes them.
    pub(crate) fn pages(&self, way: Way, page: Page, readers: u64, each: u64) -> Result<Sample> {
        let (call, mut took) = (self.call(way, page)?, Vec::new());
        let logical = readers * each * u64::from(PAGE_EVENTS.unsigned_abs()) * self.bytes / self.events;
        let sample = self.measured(way, || {
            let one = move |reader: u64, number: u64| call(reader, reader * each + number);
            let (bytes, calls) = self.remote.run(crowd::timed(readers, each, one))?;
            took = calls;
            self.plausible(bytes, logical)
        })?;
        Ok(Sample { latency: Latency::of(took), ..sample })
    }

    /// Pages that are asked for at these times, whatever becomes of them; units are those that came.
    pub(crate) fn arrive(&self, way: Way, page: Page, times: &[Duration]) -> Result<(Sample, Became)> {
        let (call, clients, mut became) =
            (self.call(way, page)?, self.clients.len() as u64, Became::default());
        let sample = self.measured(way, || {
            let one = |number: u64| {
                let page = call(number % clients, number);
                async move { page.await.map(|_| ()) }
            };
            became = self.remote.run(arrivals::run(times, PATIENCE, one))?;
            Ok(became.took.len() as u64 - became.lost)
        })?;
        Ok((Sample { latency: Latency::of(became.took.clone()), ..sample }, became))
    }

    /// How a page is read by a client, at a call with this number; it has so many bytes.
    fn call(&self, way: Way, page: Page) -> Result<Call> {
        let intervals: Arc<[Interval]> = match page {
            Page::Newest => [self.whole].into(),
            Page::Narrow => Arc::clone(&self.stretches),
        };
        let at = move |number: u64| -> Result<Interval> {
            intervals.get(usize::try_from(number)? % intervals.len()).copied().context("no interval")
        };
        if way.namespace().is_none() {
            let (driver, partition) = (Arc::clone(&self.driver), self.partition.clone());
            return Ok(Arc::new(move |_, number| {
                let (driver, partition, interval) = (Arc::clone(&driver), partition.clone(), at(number));
                Box::pin(async move {
                    let page = driver.read_undecoded(&partition, interval?, PAGE_EVENTS).await?;
                    ensure!(
                        page.rows == u64::from(PAGE_EVENTS.unsigned_abs()),
                        "a page of {} rows",
                        page.rows
                    );
                    Ok(page.bytes)
                })
            }));
        }
        let (clients, any) = (Arc::clone(&self.clients), self.request(way, self.whole, PAGE_EVENTS)?);
        Ok(Arc::new(move |client, number| {
            let (clients, mut request, interval) = (Arc::clone(&clients), any.clone(), at(number));
            Box::pin(async move {
                request.time_interval = Some(wire::time_interval(interval?)?);
                let client = clients.get(usize::try_from(client)?).context("no such client")?;
                Ok(client.read_in_place(request).await?.wire_bytes() as u64)
            })
        }))
    }
}

/// Reads a page by a client of this number, at a call of this number.
type Call = Arc<dyn Fn(u64, u64) -> BoxFuture<'static, Result<u64>> + Send + Sync>;

/// CPU time of all of them so far.
pub(crate) fn cpu_of(processes: &[Process]) -> Result<Duration> {
    processes.iter().map(|process| process.cpu_time()).sum()
}
