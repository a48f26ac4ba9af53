//! What changed: the same figures before, from the origin once more, and from targets. Pure.
//!
//! The figures from targets are held against those from the origin once more, which were measured when as much had been read
//! and written as then. Where they are worse, the table says so.

use super::figures::{Figures, Reading, milliseconds, seconds};
use crate::output::value::size;

/// Ratios above this are no noise any more.
const WORSE: f64 = 1.05;

/// A figure of a reading that is better when it is less, and how it is shown.
struct Measure {
    what: &'static str,
    of: fn(&Reading) -> f64,
    shown: fn(&Reading) -> String,
}

/// A figure that is shown as it is held against another.
macro_rules! measure {
    ($what:literal, $shown:ident, $($part:ident).+) => {
        Measure { what: $what, of: |read| read.$($part).+, shown: |read| $shown(read.$($part).+) }
    };
}

const MEASURES: [Measure; 9] = [
    measure!("whale, a page of 1,000, p50", milliseconds, whale_pages.page_p50_ms),
    measure!("whale, a page of 1,000, p99", milliseconds, whale_pages.page_p99_ms),
    Measure {
        what: "whale, bytes read for a page",
        of: |read| read.whale_pages.page_bytes_read as f64,
        shown: |read| size(read.whale_pages.page_bytes_read),
    },
    measure!("whale, all of it by pages", seconds, whale_pages.seconds),
    measure!("whale, all of it as a stream", seconds, whale_stream.seconds),
    measure!("whale, its newest 100, p50", milliseconds, whale_newest.p50_ms),
    measure!("whale, its newest 100, p99", milliseconds, whale_newest.p99_ms),
    measure!("others beside a stream, p50", milliseconds, others.p50_ms),
    measure!("others beside a stream, p99", milliseconds, others.p99_ms),
];

/// The table, line by line.
pub(super) fn lines(figures: &Figures) -> Vec<String> {
    let header = line("", "before", "origin", "targets", "");
    let splits = &figures.splits;
    let largest =
        [splits.largest_before_bytes, splits.largest_before_bytes, splits.largest_after_bytes].map(size);
    let wide = [splits.wide_before, splits.wide_before, splits.wide_after];
    let [before, origin, targets] = &largest;
    let mut all = vec![header, line("largest partition of the whale", before, origin, targets, "")];
    let [before, origin, targets] = &wide.map(|count| count.to_string());
    all.push(line("its partitions that are wide", before, origin, targets, ""));
    for measure in &MEASURES {
        let [before, origin, targets] =
            [&figures.before, &figures.control, &figures.after].map(measure.shown);
        let verdict = verdict((measure.of)(&figures.control), (measure.of)(&figures.after));
        all.push(line(measure.what, &before, &origin, &targets, &verdict));
    }
    let kept = format!("{} are kept twice for it", size(splits.doubled_bytes));
    all.push(kept);
    all
}

fn line(what: &str, before: &str, origin: &str, targets: &str, verdict: &str) -> String {
    format!("{what:<31} {before:>10} {origin:>10} {targets:>10}  {verdict}").trim_end().to_owned()
}

/// How targets stand against the origin.
fn verdict(origin: f64, targets: f64) -> String {
    if origin <= 0.0 || targets <= 0.0 {
        return String::new();
    }
    let ratio = targets / origin;
    let word = match ratio {
        ratio if ratio > WORSE => " MORE",
        ratio if ratio < 1.0 / WORSE => " less",
        _ => "",
    };
    format!("{ratio:.2}x{word}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::figures::Calls;

    #[test]
    fn what_is_worse_from_targets_is_said_to_be() {
        assert_eq!(verdict(10.0, 12.0), "1.20x MORE");
        assert_eq!(verdict(10.0, 5.0), "0.50x less");
        assert_eq!(verdict(10.0, 10.2), "1.02x");
        assert_eq!(verdict(0.0, 10.2), "");
    }

    #[test]
    fn the_control_is_beside_every_figure() {
        let reading = |p50_ms| Reading { others: Calls { p50_ms, ..Calls::default() }, ..Reading::default() };
        let mut figures = Figures {
            before: reading(3.0),
            control: reading(2.0),
            after: reading(1.0),
            ..Figures::default()
        };
        figures.splits.largest_before_bytes = 24 << 20;
        figures.splits.largest_after_bytes = 4 << 20;
        let shown = lines(&figures);
        assert_eq!(shown[1], "largest partition of the whale    24.0 MiB   24.0 MiB    4.0 MiB");
        let others = shown.iter().find(|line| line.starts_with("others beside a stream, p50")).unwrap();
        assert_eq!(others, "others beside a stream, p50         3.0 ms     2.0 ms     1.0 ms  0.50x less");
    }
}
