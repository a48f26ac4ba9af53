//! What several ways of doing the same things take beside each other: a line for each thing, a column for each way. Pure.
//!
//! The first way is the control. Where another one is slower than it, beyond what rounds differ by themselves, the table says
//! so: what a change costs belongs beside what it gains.

use super::stats::Spread;
use super::table::table;

/// Ratios between this and its inverse are no difference.
const EVEN: f64 = 0.95;

/// The table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Beside {
    /// The ways, the control first.
    pub(crate) ways: Vec<&'static str>,
    /// What they did.
    pub(crate) lines: Vec<Line>,
}

/// One thing that all ways did, or some.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// What, with its unit; less is better.
    pub(crate) what: String,
    /// Of each way one figure a round; none where a way does not do it.
    pub(crate) rounds: Vec<Vec<f64>>,
}

impl Line {
    /// How fast a way is, where the control has one: the median of the rounds. None for ways that do not do it.
    pub(crate) fn speed(&self, way: usize) -> Option<f64> {
        let (control, rounds) = (self.rounds.first()?, self.rounds.get(way)?);
        Spread::of_ratios(control, rounds).map(|spread| spread.median)
    }
}

impl Beside {
    /// The table as text.
    pub(crate) fn text(&self) -> String {
        let header: Vec<&str> =
            std::iter::once("before and after").chain(self.ways.iter().copied()).collect();
        let rows: Vec<Vec<String>> = self.lines.iter().map(|line| self.row(line)).collect();
        table(&header, &rows)
    }

    fn row(&self, line: &Line) -> Vec<String> {
        let cell = |way: usize| {
            let rounds = line.rounds.get(way).and_then(|rounds| Spread::of(rounds.iter().copied()));
            let Some(spread) = rounds else { return "-".to_owned() };
            let figure = shown(spread.median);
            match line.speed(way).filter(|_| way > 0) {
                None => figure,
                Some(speed) => format!("{figure} ({speed:.2}x{})", word(speed)),
            }
        };
        std::iter::once(line.what.clone()).chain((0..self.ways.len()).map(cell)).collect()
    }
}

/// What a ratio of speeds comes to.
fn word(speed: f64) -> &'static str {
    if speed < EVEN { " LOSES" } else { "" }
}

/// Three digits that count, or all before the point.
fn shown(figure: f64) -> String {
    match figure {
        figure if figure >= 100.0 => format!("{figure:.0}"),
        figure if figure >= 10.0 => format!("{figure:.1}"),
        figure => format!("{figure:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_is_slower_than_the_control_is_said_to_lose() {
        let line = |what: &str, rounds: [&[f64]; 3]| Line {
            what: what.to_owned(),
            rounds: rounds.iter().map(|rounds| rounds.to_vec()).collect(),
        };
        let beside = Beside {
            ways: vec!["off", "event_bucket", "time_range"],
            lines: vec![
                line("first page, us", [&[100.0, 120.0, 90.0], &[200.0, 200.0, 200.0], &[98.0, 118.0, 93.0]]),
                line("drain, ms", [&[8.0, 8.0, 8.0], &[4.0, 5.0, 4.0], &[]]),
            ],
        };
        let expect = concat!(
            "  before and after   off       event_bucket    time_range\n",
            "  first page, us     100  200 (0.50x LOSES)  98.0 (1.02x)\n",
            "  drain, ms         8.00       4.00 (2.00x)             -\n",
        );
        assert_eq!(beside.text(), expect);
        assert_eq!(beside.lines[1].speed(2), None);
    }
}
