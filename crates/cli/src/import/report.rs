//! What an import has done so far, and how that is told. Pure: whoever has a terminal says it.

use std::time::Duration;

use api::v1::WriteResult;

use super::source::Place;
use crate::output::value::printable;

/// Problems that are told one by one; the rest is counted.
const PROBLEMS_SHOWN_MAX: u64 = 20;

/// Counts, and tells problems with their places.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// What the inputs are called.
    names: Vec<String>,
    problems: u64,
    too_old: u64,
    /// What has been counted.
    pub(crate) counts: Counts,
}

/// How many events went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Counts {
    /// Events that were sent at least once.
    pub(crate) sent: u64,
    /// Events that the server took.
    pub(crate) accepted: u64,
    /// Lines that are no events.
    pub(crate) bad: u64,
    /// Events that the server refused.
    pub(crate) refused: u64,
    /// Requests that were sent again.
    pub(crate) retries: u64,
}

impl Report {
    /// Nothing yet, from inputs of these names.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names, ..Self::default() }
    }

    /// A line that is no event. Gives back what to say.
    pub(crate) fn bad(&mut self, place: Place, problem: &str) -> Option<String> {
        self.counts.bad += 1;
        self.problem(place, problem)
    }

    /// An event that the server refused. Gives back what to say.
    pub(crate) fn refused(&mut self, place: Place, result: &WriteResult) -> Option<String> {
        self.counts.refused += 1;
        if result.reason == "EVENT_TOO_OLD" {
            self.too_old += 1;
        }
        self.problem(place, &format!("{} ({})", result.message, result.reason))
    }

    fn problem(&mut self, place: Place, problem: &str) -> Option<String> {
        self.problems += 1;
        let name = self.names.get(place.input).map_or("input", String::as_str);
        // What is quoted from the input may hold anything.
        let told = || format!("{name}:{}: {}\n", place.line, printable(problem));
        (self.problems <= PROBLEMS_SHOWN_MAX).then(told)
    }

    /// What to say of the problems that were not told.
    pub(crate) fn more_problems(&self) -> Option<String> {
        let more = self.problems.checked_sub(PROBLEMS_SHOWN_MAX).filter(|more| *more > 0)?;
        Some(format!("... and {} more such lines\n", grouped(more)))
    }

    /// How many events were refused for their age.
    pub(crate) fn too_old(&self) -> u64 {
        self.too_old
    }
}

/// What an import did, in one object.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Summary {
    /// Where the events went.
    pub(crate) namespace: String,
    #[serde(flatten)]
    /// How many.
    pub(crate) counts: Counts,
    /// Whether they were queued only.
    pub(crate) queued: bool,
    /// Whether Ctrl-C ended it.
    pub(crate) interrupted: bool,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Accepted events per second.
    pub(crate) events_per_second: u64,
}

impl Summary {
    /// From the counts and the time.
    pub(crate) fn new(namespace: &str, counts: Counts, took: Duration) -> Self {
        Self {
            namespace: namespace.to_owned(),
            counts,
            queued: false,
            interrupted: false,
            seconds: took.as_secs_f64(),
            events_per_second: rate(counts.accepted, took),
        }
    }

    /// For people, in one line.
    pub(crate) fn line(&self) -> String {
        let Counts { sent, accepted, bad, refused, .. } = self.counts;
        let taken = if self.queued { "queued" } else { "accepted" };
        let [sent, accepted, bad, refused, rate] =
            [sent, accepted, bad, refused, self.events_per_second].map(grouped);
        let seconds = self.seconds;
        let how = if self.interrupted { " (interrupted)" } else { "" };
        format!(
            "{}: {sent} events sent, {accepted} {taken}, {bad} bad, {refused} refused in {seconds:.1} s, \
             {rate} events/s{how}\n",
            self.namespace
        )
    }
}

/// How many a second; of nothing in no time, none.
pub(crate) fn rate(count: u64, took: Duration) -> u64 {
    let nanos = took.as_nanos().max(1);
    u64::try_from(u128::from(count) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
}

/// A number with its digits in threes.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(input: usize, line: u64) -> Place {
        Place { input, line }
    }

    #[test]
    fn problems_name_file_and_line_and_are_counted_from_the_21st_on() {
        let mut report = Report::new(vec!["a.csv".to_owned(), "stdin".to_owned()]);
        assert_eq!(report.bad(at(0, 7), "no JSON").unwrap(), "a.csv:7: no JSON\n");
        let old = WriteResult { index: 0, reason: "EVENT_TOO_OLD".to_owned(), message: "too old".to_owned() };
        assert_eq!(report.refused(at(1, 9), &old).unwrap(), "stdin:9: too old (EVENT_TOO_OLD)\n");
        assert_eq!(report.bad(at(0, 8), "is `\x1b[2J`").unwrap(), "a.csv:8: is `\\u{1b}[2J`\n");
        for line in 0..17 {
            assert!(report.bad(at(0, line), "x").is_some());
        }
        assert_eq!(report.more_problems(), None);
        assert_eq!(report.bad(at(0, 99), "x"), None);
        assert_eq!(report.refused(at(0, 99), &old), None);
        assert_eq!(report.more_problems().unwrap(), "... and 2 more such lines\n");
        assert_eq!((report.counts.bad, report.counts.refused, report.too_old()), (20, 2, 2));
    }

    #[test]
    fn the_summary_is_one_line_or_one_object() {
        let counts = Counts { sent: 1_234_567, accepted: 1_000_000, bad: 1, refused: 2, retries: 3 };
        let mut summary = Summary::new("plays", counts, Duration::from_millis(2_500));
        let line =
            "plays: 1,234,567 events sent, 1,000,000 accepted, 1 bad, 2 refused in 2.5 s, 400,000 events/s\n";
        assert_eq!(summary.line(), line);
        summary.queued = true;
        summary.interrupted = true;
        assert!(summary.line().contains(" 1,000,000 queued,") && summary.line().ends_with("(interrupted)\n"));
        let json = concat!(
            r#"{"namespace":"plays","sent":1234567,"accepted":1000000,"bad":1,"refused":2,"retries":3,"#,
            r#""queued":true,"interrupted":true,"seconds":2.5,"events_per_second":400000}"#
        );
        assert_eq!(serde_json::to_string(&summary).unwrap(), json);
    }

    #[test]
    fn numbers_have_their_digits_in_threes() {
        let shown = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(rate(0, Duration::ZERO), 0);
        assert_eq!(rate(10, Duration::from_secs(4)), 2);
    }
}
