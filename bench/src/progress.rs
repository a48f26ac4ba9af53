//! What a person sees while a question runs: one line per run, apart from the report.

use crate::harness::{Sample, Unit};

/// Tells of each run on the error stream.
pub(crate) fn run(question: &str, unit: Unit) -> impl FnMut(usize, &str, &Sample) {
    move |round, side, sample| {
        let rate = unit.shown(sample.rate());
        let (wall, cpu) = (sample.wall.as_secs_f64(), sample.cpu.as_secs_f64());
        eprintln!("{question}: round {round}, {side}: {rate} {}, {wall:.2} s, {cpu:.2} CPU s", unit.label());
    }
}
