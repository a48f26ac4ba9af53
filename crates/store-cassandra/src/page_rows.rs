//! How many rows to ask for at once, so that an answer has about as many bytes as are wanted. Pure.
//!
//! Cassandra counts a page in rows. A page of 5,000 rows of 10 KB is 50 MB in every heap on the way, so the number
//! follows the size of the rows seen so far. Before its first answer a scan can only go by the rows of other series in
//! the table: their size counts up at once and down slowly, since a page too large does more harm than one too small.
//! From then on it goes by its own rows. So a scan is one answer where the rows of a table are alike, and two where
//! they are not or nobody has read any.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that one answer should have at most: what the engine asks for in one scan.
const ANSWER_BYTES: u64 = 2 << 20;
/// Rows that one answer has at most, however small they are: what the engine asks for in one scan.
const ANSWER_ROWS_MAX: u64 = 8_192;
/// What a row is taken for while none was seen. A first answer then has at most 33 rows, and 33 MiB if each is as
/// large as a row may be.
const UNSEEN_ROW_BYTES: u64 = 64 << 10;

/// The size of rows, as seen lately. Shared by all readers of a table.
#[derive(Debug, Default)]
pub(crate) struct RowBytes(AtomicU64);

impl RowBytes {
    /// How many rows to ask for where at most `rows` and about `bytes` are wanted; at least one.
    pub(crate) fn rows_for(&self, rows: usize, bytes: u64) -> i32 {
        match self.0.load(Ordering::Relaxed) {
            0 => rows_of(UNSEEN_ROW_BYTES, rows, bytes),
            seen => rows_of(seen, rows, bytes),
        }
    }

    /// The same, for a scan that has read rows already.
    pub(crate) fn rows_behind(&self, read: Read, rows: usize, bytes: u64) -> i32 {
        match read.mean_bytes() {
            None => self.rows_for(rows, bytes),
            Some(mean) => rows_of(mean, rows, bytes),
        }
    }

    /// Learns from rows that were read.
    pub(crate) fn learn(&self, read: Read) {
        let Some(mean) = read.mean_bytes() else { return };
        let seen = self.0.load(Ordering::Relaxed);
        let now = if mean >= seen { mean } else { seen - (seen - mean).div_ceil(4) };
        // Two that learn at once: either is as good.
        self.0.store(now, Ordering::Relaxed);
    }
}

/// Rows that were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) rows: usize,
    pub(crate) bytes: u64,
}

impl Read {
    fn mean_bytes(self) -> Option<u64> {
        self.bytes.checked_div(self.rows as u64).map(|mean| mean.max(1))
    }
}

fn rows_of(each_bytes: u64, rows: usize, bytes: u64) -> i32 {
    // One more than fit: a page is full once it has all the bytes that were wanted, not just before.
    let filling = (bytes.min(ANSWER_BYTES) / each_bytes).saturating_add(1).min(ANSWER_ROWS_MAX);
    let asked = filling.min(u64::try_from(rows).unwrap_or(u64::MAX)).max(1);
    i32::try_from(asked).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(answers: &[(usize, u64)]) -> RowBytes {
        let known = RowBytes::default();
        answers.iter().for_each(|(rows, bytes)| known.learn(Read { rows: *rows, bytes: *bytes }));
        known
    }

    #[test]
    fn the_first_answer_is_small() {
        assert_eq!(after(&[]).rows_for(10_000, u64::MAX), 33);
        assert_eq!(after(&[]).rows_for(3, u64::MAX), 3);
        assert_eq!(after(&[(0, 0)]).rows_for(10_000, u64::MAX), 33);
    }

    #[test]
    fn answers_have_about_as_many_bytes_as_wanted() {
        assert_eq!(after(&[(10, 10_240)]).rows_for(10_000, u64::MAX), 2_049);
        assert_eq!(after(&[(10, 10_240)]).rows_for(10_000, 4_096), 5);
        assert_eq!(after(&[(1, 4 << 20)]).rows_for(10_000, u64::MAX), 1);
        assert_eq!(after(&[(10, 100)]).rows_for(100_000, u64::MAX), 8_192);
        assert_eq!(after(&[(10, 100)]).rows_for(0, 0), 1);
        assert_eq!(after(&[(10, 0)]).rows_for(100, 10), 11);
    }

    #[test]
    fn large_rows_count_at_once_and_small_ones_slowly() {
        assert_eq!(after(&[(10, 100), (1, 1 << 20)]).rows_for(100, u64::MAX), 3);
        let slowly = after(&[(1, 1_000), (1, 100)]);
        assert_eq!(slowly.rows_for(10_000, 7_750), 11);
        (0..50).for_each(|_| slowly.learn(Read { rows: 1, bytes: 100 }));
        assert_eq!(slowly.rows_for(10_000, 1_000), 11);
    }

    #[test]
    fn a_scan_goes_by_its_own_rows_once_it_has_some() {
        let large = after(&[(1, 200_000)]);
        let check = |rows, bytes, expect| {
            assert_eq!(large.rows_behind(Read { rows, bytes }, 10_000, 1_000_000), expect, "{rows} {bytes}");
        };
        check(0, 0, 6);
        check(6, 600, 8_192);
        check(6, 60_000, 101);
        check(6, 6_000_000, 2);
    }
}
