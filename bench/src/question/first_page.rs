//! How long does the first page of a small partition take through gRPC, against the scan of the same rows?
//!
//! Many series with a few hundred events each; one client asks for the newest hundred of one after the other, at random.
//! The control scans the same rows of the same files with the store in this process. Each run reads everything that it
//! will time once before, so caches are as warm as their size allows.

use std::time::Duration;

use anyhow::{Context, Result};
use model::{Order, SeriesId};
use store::{Scan, Store};

use super::Question;
use crate::embedded::Embedded;
use crate::filled::Filled;
use crate::harness::{Answer, Goal, Process, Sample, Setting, Side, Unit, interleave};
use crate::remote::{Remote, Threads};
use crate::small::{self, EVENTS_PER_SERIES, PAGE_EVENTS, Times};
use crate::{progress, workload};

pub(crate) const QUESTION: Question = Question {
    name: "first-page",
    asks: "the first page of a small partition through gRPC, against the store's scan of the same rows",
    answer,
};

const SERIES: u64 = 5_000;
const SERIES_QUICK: u64 = 1_000;
const READS: u64 = 10_000;
const READS_QUICK: u64 = 2_000;
/// Never what ends a page here.
const PAGE_BYTES: u64 = 1 << 20;
const CONTROL: &str = "store";
const SUBJECT: &str = "gRPC";
const TIMES_MAX: f64 = 5.0;
const PLUS_MAX: Duration = Duration::from_micros(300);

fn answer(setting: &Setting) -> Result<Answer> {
    let series = setting.size(SERIES, SERIES_QUICK);
    let filled = Filled::write(setting, small::batches(series))?;
    let asked = small::asked(series, setting.size(READS, READS_QUICK))?;
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
    let sample = small::timed(Process::This, pass)?;
    embedded.close();
    Ok(sample)
}

fn through_server(filled: &Filled, asked: &[SeriesId]) -> Result<Sample> {
    let remote = Remote::serve(filled.path(), Threads::One)?;
    let client = remote.client()?;
    let pass = || remote.run(small::read_all(&client, asked));
    pass().context("warming up")?;
    let sample = small::timed(remote.process(), pass)?;
    drop(client);
    remote.stop()?;
    Ok(sample)
}
