//! How much do small reads suffer while a wide partition is split?
//!
//! One reader asks for the first page of one small series after the other, at random: once while nothing else runs, and once
//! while workers split a wide partition of the same slice over and over, with the limits that servers have by default. All in
//! one process over the embedded store, as in a server, without the wire, which would hide the most.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use engine::SplitLimits;
use env::Env;
use model::SeriesId;
use store::Store;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::Question;
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Percentile, Process, Sample, Setting, Side, Unit, interleave};
use crate::small::{self, EVENTS_PER_SERIES, PAGE_EVENTS};
use crate::splitting::Splitting;
use crate::{progress, workload};

pub(crate) const QUESTION: Question = Question {
    name: "split-fairness",
    asks: "the first page of a small partition while a wide one is split, against the same when nothing else runs",
    answer,
};

const WIDE: u64 = 64_000_000;
const WIDE_QUICK: u64 = 20_000_000;
const SERIES: u64 = 200;
const READS: u64 = 20_000;
const READS_QUICK: u64 = 5_000;
const CONTROL: &str = "idle";
const SUBJECT: &str = "split";
const P50_TIMES_MAX: f64 = 2.0;

fn answer(setting: &Setting) -> Result<Answer> {
    let directory = setting.directory()?;
    let embedded = Embedded::open(directory.path())?;
    let store: Arc<dyn Store> = Arc::new(embedded.run(async |store| Ok(store))?);
    let runtime = embedded.runtime();
    let bytes = setting.size(WIDE, WIDE_QUICK);
    let splitting = runtime.block_on(async {
        let splitting = Splitting::write(store, SplitLimits::default(), bytes).await?;
        for number in 0..SERIES {
            let rows = workload::rows(number * EVENTS_PER_SERIES, EVENTS_PER_SERIES)?;
            splitting.write_small(workload::series(number + FIRST_SMALL)?, rows).await?;
        }
        Ok::<_, anyhow::Error>(Arc::new(splitting))
    })?;
    let asked = asked(setting.size(READS, READS_QUICK))?;
    let sides = vec![
        Side::new(CONTROL, || read(runtime, &splitting, &asked)),
        Side::new(SUBJECT, || beside(runtime, &splitting, || read(runtime, &splitting, &asked))),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let slowdown = Goal::Slowdown {
        subject: SUBJECT,
        control: CONTROL,
        percentile: Percentile::P50,
        times: P50_TIMES_MAX,
        plus: std::time::Duration::ZERO,
    };
    let goals = [Goal::Calls { side: CONTROL }, Goal::Calls { side: SUBJECT }, slowdown];
    let answer = Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!("wide: {} MB, split over and over with the limits of a server", bytes / 1_000_000))
        .note(format!(
            "small: {} reads of the newest {PAGE_EVENTS} of {EVENTS_PER_SERIES} events of one of {SERIES} series, one after the other",
            asked.len()
        ))
        .note("reader and workers share the process and its two cores; CPU is that of both");
    drop(splitting);
    embedded.close();
    Ok(answer)
}

/// The wide one has a smaller number.
const FIRST_SMALL: u64 = 1_000;

fn asked(reads: u64) -> Result<Vec<SeriesId>> {
    let asked = small::asked(SERIES, reads)?;
    let number = |series: &SeriesId| -> Result<u64> {
        let digits = series.as_str().rsplit('-').next().context("a series without a number")?;
        Ok(digits.parse::<u64>()?)
    };
    asked.iter().map(|series| workload::series(number(series)? + FIRST_SMALL)).collect()
}

fn read(runtime: &Runtime, splitting: &Splitting, asked: &[SeriesId]) -> Result<Sample> {
    small::timed(Process::This, || runtime.block_on(splitting.read_small(asked)))
}

/// Runs `work` while the wide partition is split over and over.
fn beside(
    runtime: &Runtime,
    splitting: &Arc<Splitting>,
    work: impl FnOnce() -> Result<Sample>,
) -> Result<Sample> {
    let over = Arc::new(AtomicBool::new(false));
    let (done, ended) = oneshot::channel();
    let (stop, wide) = (Arc::clone(&over), Arc::clone(splitting));
    let task = async move {
        let splits = async {
            while !stop.load(Ordering::Relaxed) {
                wide.split().await?;
            }
            Ok::<(), anyhow::Error>(())
        };
        // Whoever waits for it has failed already if nobody does.
        let _unheard = done.send(splits.await);
    };
    {
        let _inside = runtime.enter();
        Env::system().spawn.task("bench-split", Box::pin(task));
    }
    let sample = work();
    over.store(true, Ordering::Relaxed);
    runtime.block_on(ended).map_err(|_| anyhow!("the splits ended without a word"))??;
    sample
}
