//! What do reads of a split series pay while they are compared?
//!
//! One reader asks for pages at random places of a wide series that was split, over the embedded store: with reads off, and in shadow,
//! where the origin is served all the same and the targets are read after the answer, within a budget, on the same two
//! cores. How much was compared and how much was skipped is told, because a page that is not compared costs nothing.

use std::cell::RefCell;

use anyhow::{Context, Result, ensure};
use engine::{Evidence, ReadMode, SplitLayout, SplitStrategy};
use tokio::runtime::Runtime;

use super::Question;
use super::split::opened;
use crate::divided::{Data, Divided};
use crate::harness::{
    Answer, Beside, Latency, Line, Percentile, Sample, Setting, Side, Unit, interleave, measure, micros_of,
};
use crate::kind::Kind;
use crate::progress;
use crate::splitting::{open, without_throttle};

pub(crate) const QUESTION: Question = Question {
    name: "shadow",
    asks: "pages of a split series in mode shadow, against the same in mode off",
    answer,
};

const BYTES: u64 = 64_000_000;
const BYTES_QUICK: u64 = 20_000_000;

/// Pages of one size, and what their sides are called.
struct Pages {
    records: usize,
    reads: u64,
    what: &'static str,
    off: &'static str,
    shadow: &'static str,
}

const PAGES: [Pages; 2] = [
    Pages {
        records: 100,
        reads: 4_000,
        what: "pages of 100",
        off: "off, pages of 100",
        shadow: "shadow, pages of 100",
    },
    Pages {
        records: 1_000,
        reads: 800,
        what: "pages of 1,000",
        off: "off, pages of 1,000",
        shadow: "shadow, pages of 1,000",
    },
];
const QUICK_PART: u64 = 8;

fn answer(setting: &Setting) -> Result<Answer> {
    opened(setting, |store, runtime| {
        let divided = runtime.block_on(async {
            let engine = open(&store, without_throttle()).await?;
            let bytes = setting.size(BYTES, BYTES_QUICK);
            let data = Data { kind: Kind::Marked, bytes, small_series: 0 };
            let how = (SplitStrategy::Auto, SplitLayout::Rows);
            Divided::write((engine, store), "shadow", how, data).await
        })?;
        measured(setting, runtime, &divided)
    })
}

fn measured(setting: &Setting, runtime: &Runtime, divided: &Divided) -> Result<Answer> {
    let kept = PAGES.each_ref().map(|_| RefCell::new(Evidence::default()));
    let side = |pages: &'static Pages, mode, kept: Option<&'_ RefCell<Evidence>>| {
        let reads = setting.size(pages.reads, pages.reads / QUICK_PART);
        let (sample, seen) = run(runtime, divided, pages.records, reads, mode)?;
        if let Some(kept) = kept {
            let mut kept = kept.borrow_mut();
            kept.compared += seen.compared;
            kept.skipped += seen.skipped;
            kept.differ += seen.differ;
        }
        Ok(sample)
    };
    let side = &side;
    for pages in &PAGES {
        side(pages, ReadMode::Off, None).context("warming up")?;
    }
    let sides = PAGES.iter().zip(&kept).flat_map(|(pages, kept)| {
        [
            Side::new(pages.off, move || side(pages, ReadMode::Off, None)),
            Side::new(pages.shadow, move || side(pages, ReadMode::Shadow, Some(kept))),
        ]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Events))?;
    let lines = PAGES.iter().flat_map(|pages| {
        let line = |what: &str, percentile: Percentile| {
            let of = |side: &str| micros_of(&runs, side, percentile);
            Line { what: format!("{}, {what}", pages.what), rounds: vec![of(pages.off), of(pages.shadow)] }
        };
        [line("p50 us", Percentile::P50), line("p99 us", Percentile::P99)]
    });
    let beside = Beside { ways: vec!["off", "shadow"], lines: lines.collect() };
    let mut answer = Answer::new(QUESTION.name, Unit::Events, runs, &[])?.beside(beside).note(format!(
        "{} events in {} targets; pages at random places, one after the other",
        divided.events, divided.targets
    ));
    for (pages, kept) in PAGES.iter().zip(&kept) {
        let seen = kept.borrow();
        ensure!(seen.compared > 0, "nothing was compared in shadow");
        answer = answer.note(format!(
            "{}: in all rounds {} pages were compared, {} differed, {} were skipped for want of budget or room",
            pages.shadow, seen.compared, seen.differ, seen.skipped
        ));
    }
    Ok(answer.note("reader and comparisons share the process and its two cores; CPU is that of both"))
}

/// Reads so many pages in a mode; with what was compared.
fn run(
    runtime: &Runtime,
    divided: &Divided,
    records: usize,
    reads: u64,
    mode: ReadMode,
) -> Result<(Sample, Evidence)> {
    let stretches = divided.stretches(reads, records as u64)?;
    // From off, so that only what this run compares is counted.
    runtime.block_on(async {
        divided.go(ReadMode::Off).await?;
        divided.go(mode).await
    })?;
    let mut calls = Vec::new();
    let sample = measure(|| {
        let given = runtime.block_on(divided.series.pages(&stretches, records))?.routed(mode)?;
        calls = given.calls;
        Ok(given.events)
    })?;
    divided.leased()?;
    let seen = runtime.block_on(divided.evidence())?;
    Ok((Sample { latency: Latency::of(calls), ..sample }, seen))
}
