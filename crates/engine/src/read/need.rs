//! How much of a partition a page will probably still need: what is read ahead of that is read for nothing. Pure.

use crate::PAGE_BYTES_MAX;

/// Rows that a page of the store has at most.
const PAGE_ROWS_MAX: usize = 8_192;
/// What a row takes on a page beside its logical bytes, at least.
const ROW_BYTES_BESIDE: u64 = 32;
/// Of a page that was thought full and is not, this part is asked for, and no less than so many bytes.
const SHORT_PART: u64 = 8;
const SHORT_BYTES_MIN: u64 = 64 << 10;

/// Rows to ask for where so many are wanted. Events are spread by a hash, so partitions differ; what is added is eight
/// standard deviations of that, whatever the number.
pub(super) fn rows_to_ask(wanted_rows: usize) -> usize {
    wanted_rows.saturating_add(wanted_rows / 4).saturating_add(64).min(PAGE_ROWS_MAX)
}

/// What is still needed of a partition, beyond what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    rows: usize,
    /// Bytes on the page; none where rows are read that it leaves out.
    bytes: Option<u64>,
    rows_came: usize,
    bytes_came: u64,
    /// More was needed than had been thought.
    was_short: bool,
}

impl Need {
    /// Of a page of so many rows, which also ends with its bytes if all that is read belongs on it.
    pub(super) const fn of_page(rows: usize, takes_all: bool) -> Self {
        let bytes = if takes_all { Some(PAGE_BYTES_MAX) } else { None };
        Self { rows, bytes, rows_came: 0, bytes_came: 0, was_short: false }
    }

    /// The part of one of so many partitions that are read together: they differ a little.
    pub(super) fn share(self, partitions: usize) -> Self {
        let partitions = partitions.max(1);
        let of_bytes = |bytes: u64| match partitions as u64 {
            1 => bytes,
            many => bytes / many / 4 * 5 + SHORT_BYTES_MIN,
        };
        Self { rows: self.rows.div_ceil(partitions), bytes: self.bytes.map(of_bytes), ..self }
    }

    /// So many rows and logical bytes came.
    pub(super) fn came(&mut self, rows: usize, bytes: u64) {
        let on_page = bytes + ROW_BYTES_BESIDE * rows as u64;
        self.rows_came += rows;
        self.bytes_came += on_page;
        self.rows = self.rows.saturating_sub(rows);
        self.bytes = self.bytes.map(|left| left.saturating_sub(on_page));
        if self.was_short && self.bytes.is_none() {
            // How much a filter leaves out nobody knows; where it was more than the page has room for, more will be.
            self.rows = self.rows.max(self.rows_came);
        }
    }

    /// All of that was used, and it was not enough. What has gone on so long is guessed to go on as long again; a page that
    /// ends with its bytes lacks few.
    pub(super) fn fell_short(&mut self) {
        self.was_short = true;
        self.rows = self.rows_came;
        self.bytes = self.bytes.map(|_| (self.bytes_came / SHORT_PART).max(SHORT_BYTES_MIN));
    }

    /// Whether anything more is needed.
    pub(super) fn is_open(&self) -> bool {
        self.rows > 0 && self.bytes != Some(0)
    }

    /// Rows that are needed.
    pub(super) fn rows(&self) -> usize {
        self.rows.min(self.rows_of_bytes().unwrap_or(usize::MAX))
    }

    /// Rows to ask the store for.
    pub(super) fn rows_to_ask(&self) -> usize {
        let by_rows = rows_to_ask(self.rows);
        // Those of bytes are known from what came, and each partition's part of them has its room already.
        self.rows_of_bytes().map_or(by_rows, |by_bytes| by_bytes.min(by_rows))
    }

    /// As many as fill the bytes, as large as those that came.
    fn rows_of_bytes(&self) -> Option<usize> {
        let fitting = (self.bytes? * self.rows_came as u64).checked_div(self.bytes_came)?;
        Some(usize::try_from(fitting).unwrap_or(usize::MAX).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_large_events_needs_no_more_than_its_bytes() {
        let mut need = Need::of_page(4_000, true);
        assert_eq!((need.rows(), need.rows_to_ask()), (4_000, 5_064), "how large they are nobody knows yet");
        need.came(1_800, 1_800 * 1_100);
        assert_eq!((need.rows(), need.rows_to_ask()), (1_292, 1_292));
        need.came(1_292, 1_292 * 1_100);
        assert!(!need.is_open());
        need.fell_short();
        assert!(need.is_open());
        assert_eq!(need.rows(), 387);
    }

    #[test]
    fn a_page_of_small_events_needs_as_many_as_it_has() {
        let mut need = Need::of_page(1_000, true);
        need.came(400, 400 * 20);
        assert_eq!((need.rows(), need.rows_to_ask()), (600, 814));
        need.came(814, 814 * 20);
        assert!(!need.is_open());
    }

    #[test]
    fn who_leaves_rows_out_needs_ever_more() {
        let mut need = Need::of_page(1_000, false);
        need.came(1_314, 5_000_000);
        assert!(!need.is_open());
        need.fell_short();
        for came in [1_314, 2_628, 5_256] {
            assert!(need.is_open());
            assert_eq!(need.rows(), came);
            need.came(came, 1);
        }
    }

    #[test]
    fn several_partitions_share_a_page_with_room_for_differences() {
        let page = Need::of_page(1_000, true);
        assert_eq!(page.share(1), page);
        let part = page.share(4);
        assert_eq!((part.rows, part.bytes), (250, Some(PAGE_BYTES_MAX / 16 * 5 + (64 << 10))));
    }
}
