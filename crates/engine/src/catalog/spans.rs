//! Spans of time that do not touch each other. Pure.

use std::collections::BTreeMap;

/// Start-inclusive, end-exclusive spans; those that meet become one, so that years of dropped slices are one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans {
    by_start: BTreeMap<i64, i64>,
}

impl Spans {
    /// Adds a span.
    pub(crate) fn add(&mut self, mut start: i64, mut end: i64) {
        while let Some((from, to)) = self.touching(start, end) {
            self.by_start.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        if start < end {
            self.by_start.insert(start, end);
        }
    }

    fn touching(&self, start: i64, end: i64) -> Option<(i64, i64)> {
        let (from, to) = self.by_start.range(..=end).next_back()?;
        (*to >= start).then_some((*from, *to))
    }

    /// Whether `time` lies in one.
    pub(crate) fn contains(&self, time: i64) -> bool {
        self.by_start.range(..=time).next_back().is_some_and(|(_, end)| time < *end)
    }

    /// The end of the span that `time` lies in, or `time`.
    pub(crate) fn end_from(&self, time: i64) -> i64 {
        let at = self.by_start.range(..=time).next_back();
        at.map(|(_, end)| *end).filter(|end| time < *end).unwrap_or(time)
    }

    /// The start of the span that the times right before `time` lie in, or `time`.
    pub(crate) fn start_from(&self, time: i64) -> i64 {
        let at = self.by_start.range(..time).next_back();
        at.filter(|(_, end)| time <= **end).map_or(time, |(start, _)| *start)
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> {
        self.by_start.iter().map(|(start, end)| (*start, *end))
    }

    /// The end of the last one.
    pub(crate) fn end(&self) -> Option<i64> {
        self.by_start.values().next_back().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spans: &[(i64, i64)], expect: &[(i64, i64)]) {
        let mut all = Spans::default();
        spans.iter().for_each(|(start, end)| all.add(*start, *end));
        assert_eq!(all.iter().collect::<Vec<_>>(), expect, "{spans:?}");
        assert_eq!(all.end(), expect.last().map(|last| last.1));
        for time in -1..12 {
            let with = |from: i64, to: i64| expect.iter().find(|(start, end)| from >= *start && to <= *end);
            assert_eq!(all.end_from(time), with(time, time + 1).map_or(time, |span| span.1));
            assert_eq!(all.start_from(time), with(time - 1, time).map_or(time, |span| span.0));
            assert_eq!(all.contains(time), expect.iter().any(|(from, to)| (*from..*to).contains(&time)));
        }
    }

    #[test]
    fn spans_that_meet_become_one() {
        check(&[], &[]);
        check(&[(2, 2)], &[]);
        check(&[(0, 2), (4, 6)], &[(0, 2), (4, 6)]);
        check(&[(0, 2), (4, 6), (2, 4)], &[(0, 6)]);
        check(&[(4, 6), (2, 4)], &[(2, 6)]);
        check(&[(0, 1), (2, 3), (4, 5), (6, 7), (1, 6)], &[(0, 7)]);
        check(&[(0, 10), (3, 4)], &[(0, 10)]);
    }
}
