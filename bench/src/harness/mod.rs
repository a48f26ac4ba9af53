//! What every question needs: fair rounds, measurements, goals, a report.
//!
//! A question runs several *sides*, a control and its subjects. Rounds interleave them, so that a slow minute of
//! the machine hits all of them, and ratios are formed inside a round before their median is taken. Timed figures
//! exist only here: a test that measures time fails on a busy machine.
//!
//! Reading order: [`Setting`] (how much), [`Process`] (what one uses), [`measure()`] (one run), [`Latency`] (its single
//! calls), [`interleave`] (the rounds), `stats`, [`Goal`] (what is wanted), [`Beside`] (ways in
//! columns), [`Answer`] (all of it), `table` and `report`
//! and `json` (how it is shown), [`Machine`] (on what).

mod answer;
mod beside;
mod goal;
mod json;
mod latency;
mod machine;
mod measure;
mod process;
mod report;
mod rounds;
mod setting;
mod stats;
mod table;

pub(crate) use answer::{Answer, Unit};
pub(crate) use beside::{Beside, Line};
pub(crate) use goal::Goal;
pub(crate) use json::json;
pub(crate) use latency::{Latency, Percentile};
pub(crate) use machine::Machine;
pub(crate) use measure::{Sample, measure, measure_in};
pub(crate) use process::Process;
pub(crate) use report::report;
pub(crate) use rounds::{Runs, Side, interleave, micros_of};
pub(crate) use setting::Setting;
pub(crate) use stats::{Spread, median_range};
