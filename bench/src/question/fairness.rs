//! How much do small reads suffer while one client drains a wide partition?
//!
//! One client asks for the first page of one small series after the other, at random, as in question `first-page`: once
//! while nothing else runs, and once while a second client, with a thread, a runtime and a connection of its own, streams
//! the wide partition over and over. On a machine with two cores the drain's client wants one of them for itself, so the
//! reads would be slower beside the fairest server, too. How much that can be is shown as a third side: the same reads
//! while a thread of this process does nothing but keep a core busy.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use model::{Order, SeriesId};
use rpc::client::Client;
use tokio::runtime::Builder;

use super::Question;
use crate::harness::{Answer, Goal, Percentile, Sample, Setting, Side, Unit, interleave};
use crate::remote::{Remote, Threads};
use crate::small::{self, EVENTS_PER_SERIES, PAGE_EVENTS};
use crate::wide::Wide;
use crate::{progress, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "fairness",
    asks: "the first page of a small partition while a wide one is drained, against the same when nothing else runs",
    answer,
};

const SERIES: u64 = 1_000;
const READS: u64 = 10_000;
const READS_QUICK: u64 = 2_000;
/// The server chooses, as for a client that names no size.
const STREAM_PAGE_EVENTS: i32 = 0;
const CONTROL: &str = "idle";
const BUSY: &str = "one core busy";
const SUBJECT: &str = "drain";
const P50_TIMES_MAX: f64 = 2.0;
const P99_TIMES_MAX: f64 = 3.0;
const P99_PLUS_MAX: Duration = Duration::from_millis(10);

fn answer(setting: &Setting) -> Result<Answer> {
    let data = Data {
        wide: Wide::write_beside(setting, small::batches(SERIES))?,
        asked: small::asked(SERIES, setting.size(READS, READS_QUICK))?,
    };
    let drained = RefCell::new(Vec::new());
    let during_drain = || {
        let (sample, events) = data.read_beside(|address, load| drain(address, &data.wide.series, load))?;
        ensure!(events > 0, "the drain stood still while the small reads ran");
        drained.borrow_mut().push(megabytes_per_second(events, sample.wall));
        Ok(sample)
    };
    let sides = vec![
        Side::new(CONTROL, || data.read_alone()),
        Side::new(BUSY, || Ok(data.read_beside(|_, load| keep_busy(load))?.0)),
        Side::new(SUBJECT, during_drain),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let calls = [CONTROL, BUSY, SUBJECT].into_iter().map(|side| Goal::Calls { side });
    let slowdown = |percentile, times, plus| Goal::Slowdown {
        subject: SUBJECT,
        control: CONTROL,
        percentile,
        times,
        plus,
    };
    let wanted = [
        slowdown(Percentile::P50, P50_TIMES_MAX, Duration::ZERO),
        slowdown(Percentile::P99, P99_TIMES_MAX, P99_PLUS_MAX),
    ];
    let goals: Vec<Goal> = calls.chain(wanted).collect();
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!("wide: {}, with the small ones", data.wide.note()))
        .note(format!(
            "small: {} reads of the newest {PAGE_EVENTS} of {EVENTS_PER_SERIES} events of one of {SERIES} series, one after the other; read once before",
            data.asked.len()
        ))
        .note(format!("{SUBJECT}: a stream of the wide partition, over and over; it got {} MB/s meanwhile", listed(&drained.take())))
        .note("both clients are threads of this process and have the server's cores: with two, three want them")
        .note(format!("{BUSY}: a thread of this process spins; what the drain's client alone may cost; nothing is wanted of it"))
        .note("CPU and memory are the server's, those for the drain included; rates are those of the small reads"))
}

/// The directory, and whose first pages are asked for.
struct Data {
    wide: Wide,
    asked: Vec<SeriesId>,
}

/// What goes on beside the small reads.
#[derive(Default)]
struct Load {
    over: AtomicBool,
    events: AtomicU64,
}

/// A load, and whom it tells that it has begun.
struct Going<'a> {
    load: &'a Load,
    begun: SyncSender<()>,
}

impl Going<'_> {
    /// Counts events. Whether it is time to stop.
    fn add(&self, events: u64) -> bool {
        self.load.events.fetch_add(events, Ordering::Relaxed);
        // Only the first is waited for.
        let _known = self.begun.try_send(());
        self.load.over.load(Ordering::Relaxed)
    }
}

impl Data {
    fn read_alone(&self) -> Result<Sample> {
        let remote = Remote::serve(self.wide.path(), Threads::One)?;
        let sample = self.warm(&remote)?.read();
        remote.stop()?;
        sample
    }

    /// Small reads while `work` goes on in a thread of its own; with the events that it counted meanwhile.
    fn read_beside(
        &self,
        work: impl FnOnce(SocketAddr, &Going<'_>) -> Result<()> + Send,
    ) -> Result<(Sample, u64)> {
        let remote = Remote::serve(self.wide.path(), Threads::One)?;
        let reader = self.warm(&remote)?;
        let (load, address) = (&Load::default(), remote.address());
        let (begun, begins) = sync_channel(1);
        let (read, worked) = thread::scope(|scope| {
            let going = Going { load, begun };
            let worker = scope.spawn(move || work(address, &going));
            let read = begins.recv().context("the load ended before it began").and_then(|()| {
                let before = load.events.load(Ordering::Relaxed);
                let sample = reader.read()?;
                Ok((sample, load.events.load(Ordering::Relaxed) - before))
            });
            load.over.store(true, Ordering::Relaxed);
            (read, worker.join())
        });
        worked.map_err(|_| anyhow!("the load panicked"))?.context("the load failed")?;
        drop(reader);
        remote.stop()?;
        read
    }

    /// A client that has read everything once that it will time.
    fn warm<'a>(&'a self, remote: &'a Remote) -> Result<Reader<'a>> {
        let reader = Reader { remote, client: remote.client()?, asked: &self.asked };
        reader.pass().context("warming up")?;
        Ok(reader)
    }
}

/// The client of the small reads.
struct Reader<'a> {
    remote: &'a Remote,
    client: Client,
    asked: &'a [SeriesId],
}

impl Reader<'_> {
    fn pass(&self) -> Result<Vec<Duration>> {
        self.remote.run(small::read_all(&self.client, self.asked))
    }

    fn read(&self) -> Result<Sample> {
        small::timed(self.remote.process(), || self.pass())
    }
}

/// Streams the series over and over until it is time to stop.
fn drain(address: SocketAddr, series: &SeriesId, going: &Going<'_>) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Client::new(&address.to_string())?;
        loop {
            let request = wire::read(series, Order::OldestFirst, STREAM_PAGE_EVENTS)?;
            let mut pages = client.stream(request).await?;
            while let Some(page) = pages.next().await? {
                if going.add(page.records.len() as u64) {
                    return Ok(());
                }
            }
        }
    })
}

/// Keeps a core busy until it is time to stop.
fn keep_busy(going: &Going<'_>) -> Result<()> {
    while !going.add(0) {
        std::hint::spin_loop();
    }
    Ok(())
}

fn megabytes_per_second(events: u64, wall: Duration) -> f64 {
    (events * workload::ROW_LOGICAL_BYTES) as f64 / wall.as_secs_f64() / 1e6
}

/// The figures of all rounds in one line.
fn listed(figures: &[f64]) -> String {
    figures.iter().map(|figure| format!("{figure:.0}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_tells_once_that_it_began_and_learns_when_to_stop() {
        let (load, (begun, begins)) = (Load::default(), sync_channel(1));
        let going = Going { load: &load, begun };
        assert!(!going.add(2) && !going.add(3));
        assert!(begins.try_recv().is_ok() && begins.try_recv().is_err());
        load.over.store(true, Ordering::Relaxed);
        assert!(going.add(0));
        assert_eq!(load.events.into_inner(), 5);
    }

    #[test]
    fn the_rate_of_the_drain_is_logical() {
        let rate = megabytes_per_second(1_000_000, Duration::from_secs(2));
        assert!((rate - workload::ROW_LOGICAL_BYTES as f64 / 2.0).abs() < 1e-9);
        assert_eq!(listed(&[1.4, 2.6]), "1, 3");
    }
}
