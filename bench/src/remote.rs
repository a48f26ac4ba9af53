//! A served data directory and clients for it: the binary in its own process, and a runtime for the clients here.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::convert::PageReceived;
use api::v1::{AggregateEventRecordsRequest, ReadEventRecordsRequest, WriteEventRecordsRequest};
use env::{Clock, SystemClock, TokioSpawn};
use model::SeriesId;
use rpc::client::Client;
use tokio::runtime::{Builder, Runtime};

use crate::braid::{Braid, Variable};
use crate::harness::Process;
use crate::wire;

const RUNTIME_WORKERS: usize = 2;

/// What the clients run on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Threads {
    /// One thread, for one client that asks one thing after the other: nothing is handed from thread to thread here.
    One,
    /// Two, for many clients.
    Two,
}

/// A server and the runtime of its clients.
pub(crate) struct Remote {
    runtime: Runtime,
    braid: Braid,
}

impl Remote {
    /// Serves the data directory.
    pub(crate) fn serve(path: &Path, threads: Threads) -> Result<Self> {
        Self::serve_with(path, &[], threads)
    }

    /// The same with settings of the server.
    pub(crate) fn serve_with(path: &Path, settings: &[Variable], threads: Threads) -> Result<Self> {
        let mut builder = match threads {
            Threads::One => Builder::new_current_thread(),
            Threads::Two => Builder::new_multi_thread(),
        };
        // Means nothing to the first of them.
        let runtime = builder.worker_threads(RUNTIME_WORKERS).enable_all().build()?;
        let spawn = {
            let _inside = runtime.enter();
            TokioSpawn::current()
        };
        let braid = Braid::serve(path, settings, &spawn).context("cannot serve")?;
        Ok(Self { runtime, braid })
    }

    /// Where the server listens, for a client that does not run on this runtime.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.braid.address()
    }

    /// A client with a connection of its own.
    pub(crate) fn client(&self) -> Result<Client> {
        let _inside = self.runtime.enter();
        Ok(Client::new(&self.braid.address().to_string())?)
    }

    /// Makes the namespace; returns its incarnation.
    pub(crate) fn create_namespace(&self) -> Result<u32> {
        let client = self.client()?;
        self.run(async move { Ok(client.create_namespace(wire::create_namespace()).await?.incarnation) })
    }

    /// Runs `work` on this runtime.
    pub(crate) fn run<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(work)
    }

    /// The process of the server.
    pub(crate) fn process(&self) -> Process {
        self.braid.process()
    }

    /// What the server tells about itself.
    pub(crate) fn metrics(&self) -> Result<String> {
        self.braid.metrics()
    }

    /// Stops the server: then its directory is free.
    pub(crate) fn stop(self) -> Result<()> {
        // Closes the connections, for which the server would wait.
        drop(self.runtime);
        self.braid.stop()
    }
}

/// Writes events `first` and following to a series in one request; durable when this returns. Returns how many.
pub(crate) async fn write(client: &Client, series: &SeriesId, first: u64, count: u64) -> Result<u64> {
    send(client, wire::write(series, first, count)?).await
}

/// Writes the events of a request, all of them; durable when this returns. Returns how many.
pub(crate) async fn send(client: &Client, request: WriteEventRecordsRequest) -> Result<u64> {
    let count = request.events.len() as u64;
    let answer = client.write_synced(request).await?;
    let accepted = u64::from(answer.accepted);
    let why = || answer.results.first().map(|refused| refused.message.as_str()).unwrap_or("no reason given");
    ensure!(accepted == count, "the server took {accepted} of {count} events: {}", why());
    Ok(accepted)
}

/// What a client had once it was at the end.
#[derive(Debug, Default)]
pub(crate) struct Drained {
    /// How many events.
    pub(crate) events: u64,
    /// How long each page took.
    pub(crate) pages: Vec<Duration>,
}

/// Reads page after page to the end, following tokens.
pub(crate) async fn read_pages(client: &Client, mut request: ReadEventRecordsRequest) -> Result<Drained> {
    let mut drained = Drained::default();
    loop {
        let start = SystemClock.boot();
        let page = client.read_in_place(request.clone()).await?;
        drained.pages.push(SystemClock.boot().since(start));
        drained.events += look_at(&page)?;
        let rest = page.rest()?;
        if rest.next_page_token.is_empty() {
            return Ok(drained);
        }
        request.page_token = rest.next_page_token;
    }
}

/// Looks at every event where it lies, as the driver's rows are looked at; how many there are.
fn look_at(page: &PageReceived) -> Result<u64> {
    let mut events = 0;
    for record in page.records() {
        for item in record?.items() {
            ensure!(!item?.event_item_value.is_empty(), "an item has no value");
        }
        events += 1;
    }
    Ok(events)
}

/// Reads to the end as one stream; returns how many events.
pub(crate) async fn read_stream(client: &Client, request: ReadEventRecordsRequest) -> Result<u64> {
    let mut pages = client.stream_in_place(request).await?;
    let mut events = 0;
    while let Some(page) = pages.next().await? {
        events += look_at(&page)?;
    }
    Ok(events)
}

/// Asks to the end for how many events there are, and adds it up.
pub(crate) async fn add_up(client: &Client, mut request: AggregateEventRecordsRequest) -> Result<u64> {
    let mut events = 0;
    loop {
        let answer = client.aggregate(request.clone()).await?;
        events += u64::try_from(answer.count)?;
        if answer.next_page_token.is_empty() {
            return Ok(events);
        }
        request.page_token = answer.next_page_token;
    }
}
