//! How long does a wide partition take from being asked for to being completed, and what does that cost?
//!
//! A split reads the origin, copies it, reads the targets back and the origin again: four passes over the data, one of which
//! writes. Its control for time is what moves the same rows by hand, a page read and written back after the other, without a
//! digest, a plan or a proof; for the processor it is one drain. How long it takes is measured with the limits that servers have
//! by default; how fast it copies, without a throttle.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use engine::SplitLimits;
use store::Store;
use tokio::runtime::Runtime;

use super::Question;
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Runs, Sample, Setting, Side, Unit, interleave, measure};
use crate::progress;
use crate::splitting::{Splitting, without_throttle};

pub(crate) const QUESTION: Question = Question {
    name: "split",
    asks: "splitting a wide partition of the embedded store, against reading it and writing it back",
    answer,
};

/// What a store is asked to do.
pub(crate) struct Wanted {
    /// The smaller partition and how long it may take, then the larger one.
    pub(crate) sizes: [(&'static str, u64, f64); 2],
    /// Bytes of the partition of the controls.
    pub(crate) compared: u64,
}

const SMALL: u64 = 64_000_000;
const LARGE: u64 = 500_000_000;
const SMALL_QUICK: u64 = 20_000_000;
const LARGE_QUICK: u64 = 40_000_000;
const SMALL_MAX_SECONDS: f64 = 5.0;
const LARGE_MAX_SECONDS: f64 = 30.0;
const COPY_RATIO_MIN: f64 = 0.5;
const BY_HAND: &str = "read and write back";
const COPY: &str = "copy of a split";
const DRAIN: &str = "drain";
const SPLIT: &str = "split";

impl Wanted {
    /// What is wanted, of partitions as large as the setting allows.
    pub(crate) fn of(setting: &Setting, large_max_seconds: f64) -> Self {
        let (small, large) = (setting.size(SMALL, SMALL_QUICK), setting.size(LARGE, LARGE_QUICK));
        Self {
            sizes: [
                ("64 MB, asked to completed, s", small, SMALL_MAX_SECONDS),
                ("500 MB, asked to completed, s", large, large_max_seconds),
            ],
            compared: small,
        }
    }
}

fn answer(setting: &Setting) -> Result<Answer> {
    let wanted = Wanted::of(setting, LARGE_MAX_SECONDS);
    let mut goals = Vec::new();
    for (what, bytes, at_most) in wanted.sizes {
        let values = opened(setting, |store, runtime| runtime.block_on(timed(setting, store, bytes)))?;
        goals.push(Goal::Figures { what, values, at_most });
    }
    let runs = opened(setting, |store, runtime| compared(setting, store, wanted.compared, runtime))?;
    concluded(QUESTION.name, runs, goals)
}

/// Does `work` with an empty store.
pub(super) fn opened<T>(
    setting: &Setting,
    work: impl FnOnce(Arc<dyn Store>, &Runtime) -> Result<T>,
) -> Result<T> {
    let directory = setting.directory()?;
    let embedded = Embedded::open(directory.path())?;
    let store: Arc<dyn Store> = Arc::new(embedded.run(async |store| Ok(store))?);
    let done = work(store, embedded.runtime());
    embedded.close();
    done
}

/// How many seconds splits take with the limits of a server.
pub(crate) async fn timed(setting: &Setting, store: Arc<dyn Store>, bytes: u64) -> Result<Vec<f64>> {
    let splitting = Splitting::write(store, SplitLimits::default(), bytes).await?;
    let mut seconds = Vec::new();
    for _ in 0..setting.rounds {
        seconds.push(splitting.split().await?.all.as_secs_f64());
    }
    Ok(seconds)
}

/// The sides, in turns, without a throttle.
pub(crate) fn compared(
    setting: &Setting,
    store: Arc<dyn Store>,
    bytes: u64,
    runtime: &Runtime,
) -> Result<Vec<Runs>> {
    let splitting = &runtime.block_on(Splitting::write(store, without_throttle(), bytes))?;
    let copy = Cell::new(Duration::ZERO);
    let split = || {
        measure(|| {
            copy.set(runtime.block_on(splitting.split())?.copy);
            Ok(splitting.bytes)
        })
    };
    let number = Cell::new(0);
    let by_hand = || {
        number.set(number.get() + 1);
        measure(|| runtime.block_on(splitting.write_back(number.get())))
    };
    let sides = vec![
        Side::new(DRAIN, || measure(|| runtime.block_on(splitting.drain()))),
        Side::new(BY_HAND, by_hand),
        Side::new(SPLIT, split),
        Side::new(COPY, || {
            let sample = split()?;
            Ok(Sample { wall: copy.get(), ..sample })
        }),
    ];
    interleave(setting.rounds, sides, progress::run(SPLIT, Unit::Bytes))
}

/// The answer.
pub(crate) fn concluded(name: &'static str, runs: Vec<Runs>, mut goals: Vec<Goal>) -> Result<Answer> {
    goals.push(Goal::Rate { subject: COPY, control: BY_HAND, at_least: COPY_RATIO_MIN });
    goals.push(Goal::Rate { subject: SPLIT, control: DRAIN, at_least: 0.0 });
    Ok(Answer::new(name, Unit::Bytes, runs, &goals)?
        .note("asked to completed: limits of a server, 64 MiB/s copied and four times that read; the median of the rounds")
        .note(format!("{COPY}: the time is that of its state COPYING alone, the CPU that of the whole split"))
        .note(format!("{BY_HAND}: pages and batches as large as those of a split, four batches at once, no digest"))
        .note(format!("{SPLIT} against {DRAIN}: nothing is wanted; the CPU is what a split costs in drains")))
}
