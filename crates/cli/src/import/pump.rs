//! Moves events from a source to a server: one thread reads and cuts batches, several batches are under way at once.
//!
//! Memory is bounded: a batch is at most a request, [`READ_AHEAD_BATCHES`] wait, `parallel` are under way. The first
//! Ctrl-C stops the reading and lets what is under way end; the second abandons that too.

use std::sync::atomic::AtomicBool;

use env::{BoxFuture, Env};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rpc::client::CallError;
use tokio::sync::{mpsc, watch};

use super::batch::{Batch, Batcher};
use super::deliver::{Delivered, Delivery};
use super::progress::Progress;
use super::report::Report;
use super::source::{Found, Place, Source};
use super::target::Target;

/// Batches that are read before one is asked for.
const READ_AHEAD_BATCHES: usize = 2;

/// How events are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Where the events belong.
    pub(crate) namespace: String,
    /// Events in a request.
    pub(crate) batch: usize,
    /// Requests under way at once.
    pub(crate) parallel: usize,
    /// Into the server's queue, or durably.
    pub(crate) queued: bool,
    /// Whether the namespace is opened for old events.
    pub(crate) backfill: bool,
}

/// What the reading thread says.
pub(crate) enum Message {
    /// Events to send.
    Batch(Batch),
    /// Something that is no event.
    Bad(Place, String),
    /// The source is empty.
    End,
}

/// Starts to read `source` on a thread of its own. It ends when the source does, or when nobody listens any more.
pub(crate) fn read(
    env: &Env,
    source: Box<dyn Source>,
    events_max: usize,
) -> std::io::Result<mpsc::Receiver<Message>> {
    let (to, from) = mpsc::channel(READ_AHEAD_BATCHES);
    // Not on a shared pool: a read from a terminal may never return, and the process must be able to end.
    env.spawn.thread("braid-import", Box::new(move || read_all(source, events_max, &to)))?;
    Ok(from)
}

fn read_all(mut source: Box<dyn Source>, events_max: usize, to: &mpsc::Sender<Message>) {
    let mut batcher = Batcher::new(events_max);
    while let Some((place, found)) = source.next() {
        let message = match found {
            Found::Bad(problem) => Some(Message::Bad(place, problem)),
            Found::Event(event) => match batcher.push(place, event) {
                Ok(full) => full.map(Message::Batch),
                Err(large) => {
                    let bytes = large.bytes;
                    let problem = format!("the event takes {bytes} bytes; a request takes 4 MiB, cut it up");
                    Some(Message::Bad(place, problem))
                }
            },
        };
        if message.is_some_and(|message| to.blocking_send(message).is_err()) {
            return;
        }
    }
    let rest = batcher.finish().map(Message::Batch);
    for message in rest.into_iter().chain([Message::End]) {
        if to.blocking_send(message).is_err() {
            return;
        }
    }
}

/// What sending came to.
pub(crate) struct Pumped {
    /// What was counted.
    pub(crate) report: Report,
    /// Whether Ctrl-C ended it.
    pub(crate) interrupted: bool,
    /// Why it ended early, where it did.
    pub(crate) failure: Option<CallError>,
}

/// Sends everything that comes `from` the reading thread.
pub(crate) struct Pump<'a> {
    /// The server.
    pub(crate) target: &'a dyn Target,
    /// The clock and the dice.
    pub(crate) env: &'a Env,
    /// How.
    pub(crate) settings: &'a Settings,
    /// Where people are told.
    pub(crate) progress: &'a Progress,
}

impl Pump<'_> {
    /// Runs until everything is sent, something fails for good, or Ctrl-C.
    pub(crate) async fn run(
        &self,
        mut from: mpsc::Receiver<Message>,
        report: Report,
        interrupts: &mut mpsc::Receiver<()>,
    ) -> Pumped {
        let mut pumped = Pumped { report, interrupted: false, failure: None };
        let (stop, stopped) = watch::channel(false);
        let delivery = Delivery {
            target: self.target,
            env: self.env,
            namespace: &self.settings.namespace,
            queued: self.settings.queued,
            stop: stopped,
            progress: self.progress,
            trouble_told: AtomicBool::new(false),
        };
        let mut under_way: FuturesUnordered<BoxFuture<'_, Delivered>> = FuturesUnordered::new();
        let mut reading = true;
        while reading || !under_way.is_empty() {
            let room = under_way.len() < self.settings.parallel.max(1);
            tokio::select! {
                biased;
                Some(()) = interrupts.recv() => {
                    if pumped.interrupted {
                        break;
                    }
                    pumped.interrupted = true;
                    self.progress.say("stopping: what is under way is awaited; Ctrl-C again abandons it\n");
                }
                Some(delivered) = under_way.next() => self.settle(delivered, &mut pumped),
                message = from.recv(), if reading && room => match message {
                    Some(Message::Batch(batch)) => {
                        pumped.report.counts.sent += u64::try_from(batch.len()).unwrap_or(u64::MAX);
                        under_way.push(Box::pin(delivery.deliver(batch)));
                    }
                    Some(Message::Bad(place, problem)) => self.tell(pumped.report.bad(place, &problem)),
                    Some(Message::End) => reading = false,
                    None => pumped.failure = Some(reader_gone()),
                },
            }
            if pumped.interrupted || pumped.failure.is_some() {
                reading = false;
                from.close();
                stop.send_replace(true);
            }
            self.progress.show(&pumped.report.counts);
        }
        self.tell(pumped.report.more_problems());
        pumped
    }

    fn settle(&self, delivered: Delivered, pumped: &mut Pumped) {
        pumped.report.counts.accepted += delivered.accepted;
        pumped.report.counts.retries += delivered.retries;
        for (place, result) in &delivered.refused {
            self.tell(pumped.report.refused(*place, result));
        }
        if pumped.failure.is_none() {
            pumped.failure = delivered.failure;
        }
    }

    fn tell(&self, text: Option<String>) {
        if let Some(text) = text {
            self.progress.say(&text);
        }
    }
}

/// Only a bug ends the reading thread without a word.
fn reader_gone() -> CallError {
    let message = "reading ended before the end of the input; report this".to_owned();
    CallError { code: "INTERNAL", reason: None, message, retry_after: None }
}

#[cfg(test)]
#[path = "pump_tests.rs"]
mod tests;
