//! What the row of a record says when it is read back after an attempt without an answer. Pure.

use bytes::Bytes;
use store::{MetaRecord, MetaVersion};

/// A row as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) version: i64,
    /// Drawn by whoever wrote this version.
    pub(crate) stamp: i64,
    /// Whether it says that there is no record any more.
    pub(crate) removed: bool,
    pub(crate) value: Bytes,
}

impl Stored {
    /// The record that it is, if it is one.
    pub(crate) fn record(self, name: &Bytes) -> Option<MetaRecord> {
        let (version, value) = (MetaVersion(self.version.cast_unsigned()), self.value);
        (!self.removed).then(|| MetaRecord { name: name.clone(), version, value })
    }

    fn is(stored: Option<&Self>, expected: Option<MetaVersion>) -> bool {
        let live = stored.filter(|stored| !stored.removed);
        live.map(|live| live.version.cast_unsigned()) == expected.map(|version| version.0)
    }
}

/// What a row that was read back says about a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// We made it.
    Ours,
    /// The record is as the change wants it to be: try.
    AsExpected,
    /// Somebody else made the next version, so we did not.
    Theirs,
    /// There were several changes, and the first may have been ours.
    MovedOn,
}

/// Judges the row that was read after an attempt to make `version` of what was `expected`, under our `stamp`.
pub(crate) fn judge(
    expected: Option<MetaVersion>,
    version: MetaVersion,
    stamp: i64,
    seen: Option<&Stored>,
) -> Judgement {
    match seen {
        Some(seen) if seen.stamp == stamp => Judgement::Ours,
        seen if Stored::is(seen, expected) => Judgement::AsExpected,
        Some(seen) if seen.version.cast_unsigned() == version.0 => Judgement::Theirs,
        _ => Judgement::MovedOn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_read_back_tells_who_changed_it() {
        let check = |expected: Option<u64>, row: Option<(i64, i64, bool)>, expect: Judgement| {
            let seen =
                row.map(|(version, stamp, removed)| Stored { version, stamp, removed, value: Bytes::new() });
            let version = MetaVersion(expected.unwrap_or(0) + 1);
            assert_eq!(
                judge(expected.map(MetaVersion), version, 9, seen.as_ref()),
                expect,
                "{expected:?} {row:?}"
            );
        };
        check(Some(3), Some((4, 9, false)), Judgement::Ours);
        check(Some(3), Some((3, 1, false)), Judgement::AsExpected);
        check(Some(3), Some((4, 1, false)), Judgement::Theirs);
        check(Some(3), Some((4, 1, true)), Judgement::Theirs);
        check(Some(3), Some((5, 1, false)), Judgement::MovedOn);
        check(Some(3), None, Judgement::MovedOn);
        check(None, None, Judgement::AsExpected);
        check(None, Some((1, 1, false)), Judgement::Theirs);
        check(None, Some((2, 1, false)), Judgement::MovedOn);
    }

    #[test]
    fn a_removed_row_is_no_record() {
        let row = |removed| Stored { version: 3, stamp: 9, removed, value: Bytes::from_static(b"v") };
        let check = |stored: Option<&Stored>, expected: Option<u64>, expect: bool| {
            assert_eq!(Stored::is(stored, expected.map(MetaVersion)), expect, "{stored:?} {expected:?}");
        };
        check(None, None, true);
        check(None, Some(3), false);
        check(Some(&row(false)), Some(3), true);
        check(Some(&row(false)), Some(2), false);
        check(Some(&row(false)), None, false);
        check(Some(&row(true)), None, true);
        check(Some(&row(true)), Some(3), false);
        assert_eq!(row(true).record(&Bytes::new()), None);
        assert_eq!(row(false).record(&Bytes::new()).map(|record| record.version), Some(MetaVersion(3)));
    }
}
