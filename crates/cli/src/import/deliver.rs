//! Brings one batch to the server, with as many tries as it takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::v1::{WriteEventRecordsRequest, WriteResult};
use env::Env;
use rpc::client::CallError;
use tokio::sync::watch;

use super::batch::Batch;
use super::progress::Progress;
use super::retry::{Next, judge};
use super::source::Place;
use super::target::Target;

/// Tries in a row that achieve nothing, before people are told that there is trouble.
const TROUBLE_TRIES: u32 = 3;
/// Waits are lengthened by up to one part in so many, so that batches that failed together do not come back together.
const SPREAD: u32 = 4;

/// How batches are brought to a server.
pub(crate) struct Delivery<'a> {
    /// The server.
    pub(crate) target: &'a dyn Target,
    /// The clock and the dice.
    pub(crate) env: &'a Env,
    /// Where the events belong.
    pub(crate) namespace: &'a str,
    /// Into the server's queue, or durably.
    pub(crate) queued: bool,
    /// Turns true when nothing shall be sent again.
    pub(crate) stop: watch::Receiver<bool>,
    /// Where people are told.
    pub(crate) progress: &'a Progress,
    /// Trouble is told once; all batches have the same.
    pub(crate) trouble_told: AtomicBool,
}

/// What became of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Delivered {
    /// Events that were taken.
    pub(crate) accepted: u64,
    /// Events that the server will not take.
    pub(crate) refused: Vec<(Place, WriteResult)>,
    /// Requests that were sent again.
    pub(crate) retries: u64,
    /// Why the rest was not delivered; none also where it was stopped.
    pub(crate) failure: Option<CallError>,
}

impl Delivery<'_> {
    /// Delivers `batch`.
    pub(crate) async fn deliver(&self, batch: Batch) -> Delivered {
        let mut delivered = Delivered::default();
        let mut parts = vec![batch];
        while let Some(part) = parts.pop() {
            match self.part(part, &mut delivered).await {
                Ok(None) => {}
                Ok(Some((first, second))) => parts.extend([second, first]),
                Err(Ended) => break,
            }
        }
        delivered
    }

    /// Delivers a part of a batch; gives back its halves where they must go each by itself.
    async fn part(
        &self,
        mut part: Batch,
        delivered: &mut Delivered,
    ) -> Result<Option<(Batch, Batch)>, Ended> {
        let mut idle_tries = 0;
        loop {
            let request = WriteEventRecordsRequest {
                namespace: self.namespace.to_owned(),
                events: part.events.clone(),
            };
            let answer = self.target.write(request, self.queued).await;
            let verdict = judge(answer, part.len(), idle_tries);
            delivered.accepted += u64::try_from(verdict.accepted).unwrap_or(u64::MAX);
            let placed = verdict.refused.into_iter().filter_map(|result| {
                let place = part.places.get(usize::try_from(result.index).ok()?)?;
                Some((*place, result))
            });
            delivered.refused.extend(placed);
            match verdict.next {
                Next::Done => return Ok(None),
                Next::Halve => return Ok(Some(part.halves())),
                Next::GiveUp(error) => {
                    delivered.failure = Some(error);
                    return Err(Ended);
                }
                Next::Again { indexes, wait, idle, why } => {
                    if idle >= TROUBLE_TRIES && !self.trouble_told.swap(true, Ordering::Relaxed) {
                        self.progress
                            .say(&format!("sending again until it works, or for half a minute: {why}\n"));
                    }
                    part = part.only(&indexes);
                    idle_tries = idle;
                    self.pause(wait).await?;
                    delivered.retries += 1;
                }
            }
        }
    }

    /// Waits, unless nothing shall be sent again.
    async fn pause(&self, wait: Duration) -> Result<(), Ended> {
        let nanos = u64::try_from((wait / SPREAD).as_nanos()).unwrap_or(u64::MAX);
        let more = Duration::from_nanos(self.env.random.below(nanos.max(1)));
        let mut stop = self.stop.clone();
        tokio::select! {
            biased;
            // Nobody is left who could stop it: then it is stopped.
            _stopped = stop.wait_for(|stopped| *stopped) => Err(Ended),
            () = self.env.clock.sleep(wait + more) => Ok(()),
        }
    }
}

/// There is nothing more to do for a batch.
struct Ended;
