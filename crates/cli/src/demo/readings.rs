//! The reads that the story does three times: before anything is split, from the origins beside their targets, and from targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use env::{Env, Random, SeededRandom};
use rpc::client::CallError;
use tokio::sync::oneshot;

use super::digest::Check;
use super::figures::{Calls, Reading, Whale};
use super::reader::Reader;
use super::workload::{WHALE, Workload, name};
use crate::failure::Failure;

/// Events of a page of the whale.
pub(super) const WHALE_PAGE: i32 = 1_000;
/// Events of a first page, as a caller without wishes gets them.
const FIRST_PAGE: i32 = 100;
/// How often the newest page of the whale is read.
const NEWEST_READS: usize = 300;
/// Small series whose first page is timed.
const SMALL_READS: u64 = 1_000;
/// Where the choice of small series starts.
const SMALL_SEED: u64 = 8;

/// Reads the whale by pages, as a stream, its newest page; and others while somebody streams the whale.
pub(super) async fn read(
    env: &Env,
    reader: Reader<'_>,
    workload: &Workload,
    check: &mut Check,
) -> Result<Reading, Failure> {
    let whale = name(WHALE);
    let pages = reader.pages(&whale, WHALE_PAGE).await?;
    check.compare(WHALE, pages.digest, pages.unordered);
    let stream = reader.stream(&whale, WHALE_PAGE).await?;
    check.compare(WHALE, stream.digest, stream.unordered);
    let newest = reader.newest(&whale, FIRST_PAGE, NEWEST_READS).await?;
    let draining = Draining::begin(env, reader, &whale);
    let others = others(reader, workload, check).await;
    draining.end().await?;
    Ok(Reading {
        whale_pages: Whale::new(&pages),
        whale_stream: Whale::new(&stream),
        whale_newest: Calls::new(&newest),
        others: Calls::new(&others?),
    })
}

async fn others(
    reader: Reader<'_>,
    workload: &Workload,
    check: &mut Check,
) -> Result<Vec<Duration>, CallError> {
    let random = SeededRandom::new(SMALL_SEED);
    let small = u64::try_from(workload.series().saturating_sub(1)).unwrap_or(0);
    let mut first_pages = Vec::new();
    for _ in 0..SMALL_READS {
        let series = 1 + usize::try_from(random.below(small.max(1))).unwrap_or(0);
        let read = reader.pages(&name(series), FIRST_PAGE).await?;
        first_pages.extend(read.pages.first());
        check.compare(series, read.digest, read.unordered);
    }
    Ok(first_pages)
}

/// Somebody else who streams the whale over and over.
struct Draining {
    over: Arc<AtomicBool>,
    ended: oneshot::Receiver<Result<(), CallError>>,
}

impl Draining {
    fn begin(env: &Env, reader: Reader<'_>, whale: &str) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (done, ended) = oneshot::channel();
        let (client, request) = (reader.client.clone(), reader.request(whale, WHALE_PAGE));
        let stop = Arc::clone(&over);
        let drain = async move {
            while !stop.load(Ordering::Relaxed) {
                let mut pages = client.stream(request.clone()).await?;
                while !stop.load(Ordering::Relaxed) && pages.next().await?.is_some() {}
            }
            Ok(())
        };
        let task = async move {
            // Whoever waits for it has failed already if nobody does.
            let _unheard = done.send(drain.await);
        };
        env.spawn.task("braid-demo-drain", Box::pin(task));
        Self { over, ended }
    }

    async fn end(self) -> Result<(), Failure> {
        self.over.store(true, Ordering::Relaxed);
        let ended = self.ended.await;
        ended.map_err(|_| Failure::Other("the stream of the whale ended without a word".to_owned()))??;
        Ok(())
    }
}
