//! How much do small reads suffer while a wide partition is split?
//!
//! One reader asks for the first page of one small series after the other, at random: once while nothing else runs, and once
//! while workers split a wide partition of the same slice over and over, with the limits that servers have by default. All in
//! one process over the embedded store, as in a server, without the wire, which would hide the most.

use std::sync::Arc;

use anyhow::Result;
use engine::SplitLimits;
use model::SeriesId;
use store::Store;
use tokio::runtime::Runtime;

use super::Question;
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Percentile, Process, Sample, Setting, Side, Unit, interleave};
use crate::meanwhile::meanwhile;
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
            splitting.write_small(workload::series(number)?, rows).await?;
        }
        Ok::<_, anyhow::Error>(Arc::new(splitting))
    })?;
    let asked = small::asked(SERIES, setting.size(READS, READS_QUICK))?;
    let sides = vec![
        Side::new(CONTROL, || read(runtime, &splitting, &asked)),
        Side::new(SUBJECT, || {
            let wide = Arc::clone(&splitting);
            let again = move || {
                let wide = Arc::clone(&wide);
                async move { wide.split().await.map(|_| 1) }
            };
            Ok(meanwhile(runtime, again, || read(runtime, &splitting, &asked))?.0)
        }),
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

fn read(runtime: &Runtime, splitting: &Splitting, asked: &[SeriesId]) -> Result<Sample> {
    small::timed(Process::This, || runtime.block_on(splitting.read_small(asked)))
}
