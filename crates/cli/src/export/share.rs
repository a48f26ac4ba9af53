//! How far a table has come, as a share. Pure.
//!
//! Partitions that were named, and those of series, come in an order that is known here. All of a table come in the order of the store:
//! they are counted, and how many there are is only about known. Inside of a partition rows come newest first, so time says how much of it
//! is left.

use api::admin::v1 as admin;
use export::TableEntry;

use super::choice::Choice;
use super::wire::nanos;

/// All of a table.
pub(super) const WHOLE: u64 = 1_000;

/// How far a table has come.
pub(super) struct Share<'a> {
    choice: &'a Choice,
    /// How many partitions there are, with rows or without; 0 where nobody knows.
    partitions: u64,
    /// Time buckets of the table that may be asked for: the first one, and how many.
    time_buckets: (u64, u64),
    event_buckets: u64,
    slice_start: i64,
    nanos_per_bucket: i64,
    /// Partitions with rows so far, and the last one of them.
    seen: u64,
    last: Option<admin::ExportPartition>,
}

impl<'a> Share<'a> {
    /// Of `table`, of which rows from `start` to `end` are exported and which has about `known` partitions.
    pub(super) fn of(choice: &'a Choice, table: &TableEntry, (start, end): (i64, i64), known: u64) -> Self {
        let nanos_per_bucket = i64::from(table.seconds_per_bucket).saturating_mul(1_000_000_000).max(1);
        let bucket = |time: i64| u64::try_from((time - table.slice_start) / nanos_per_bucket).unwrap_or(0);
        let first = bucket(start.max(table.slice_start));
        let behind = bucket(end.min(table.slice_end).saturating_sub(1).max(table.slice_start)) + 1;
        let time_buckets = (first, behind.saturating_sub(first));
        let event_buckets = u64::from(table.buckets_per_id);
        let partitions = match choice {
            Choice::All => known,
            Choice::Series(series) => series.len() as u64 * time_buckets.1 * event_buckets,
            Choice::Named(all) => all.len() as u64,
        };
        let slice_start = table.slice_start;
        Self {
            choice,
            partitions,
            time_buckets,
            event_buckets,
            slice_start,
            nanos_per_bucket,
            seen: 0,
            last: None,
        }
    }

    /// Takes a page; gives back how far the table has come with it, from 0 to [`WHOLE`].
    pub(super) fn take(&mut self, page: &admin::ExportRowsResponse) -> u64 {
        for rows in &page.rows {
            if rows.partition != self.last {
                self.seen += 1;
                self.last.clone_from(&rows.partition);
            }
        }
        let Some(next) = &page.next else { return WHOLE };
        let Some(partition) = &next.partition else { return 0 };
        let inside = match next.row.as_ref() {
            None => WHOLE,
            Some(row) => self.inside(partition, nanos(row.event_time)),
        };
        let behind = self.before(partition).saturating_mul(WHOLE).saturating_add(inside);
        // Only the last page says that it is the last.
        behind.checked_div(self.partitions).unwrap_or(0).min(WHOLE - 1)
    }

    /// How many partitions come before one.
    fn before(&self, partition: &admin::ExportPartition) -> u64 {
        match self.choice {
            Choice::All => self.seen.saturating_sub(1),
            Choice::Named(all) => all.iter().position(|one| one == partition).unwrap_or(0) as u64,
            Choice::Series(series) => {
                let series = series.iter().position(|one| *one == partition.time_series_id).unwrap_or(0);
                let (first, count) = self.time_buckets;
                let time = u64::from(partition.time_bucket).saturating_sub(first);
                (series as u64 * count + time) * self.event_buckets + u64::from(partition.event_bucket)
            }
        }
    }

    /// How much of a partition is behind a row of it.
    fn inside(&self, partition: &admin::ExportPartition, time: i64) -> u64 {
        let number = i64::from(partition.time_bucket).saturating_add(1);
        let end = self.slice_start.saturating_add(number.saturating_mul(self.nanos_per_bucket));
        let behind = u128::from(u64::try_from(end.saturating_sub(time)).unwrap_or(0)) * u128::from(WHOLE);
        let share = behind / u128::from(self.nanos_per_bucket.unsigned_abs());
        u64::try_from(share).unwrap_or(WHOLE).min(WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use api::convert::timestamp_to_wire;

    use super::super::testing::{page, partition, table};
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    /// A page that ends behind a partition, or behind a row of it so long after its time bucket begins.
    fn until(series: &str, time_bucket: u32, after: Option<i64>) -> admin::ExportRowsResponse {
        let mut page = page(partition(series, time_bucket), &["e"], false);
        let time = table().slice_start + i64::from(time_bucket) * HOUR;
        let row = after.map(|after| admin::SplitRowKey {
            event_time: Some(timestamp_to_wire(time + after)),
            ..Default::default()
        });
        page.next = Some(admin::ExportPosition { partition: Some(partition(series, time_bucket)), row });
        page
    }

    #[test]
    fn partitions_that_were_named_are_shares_and_time_moves_inside_of_them() {
        let named = Choice::Named([3, 4, 5, 6].map(|hour| partition("s", hour)).to_vec());
        let mut share = Share::of(&named, &table(), (0, i64::MAX), 0);
        assert_eq!(share.take(&until("s", 3, Some(HOUR / 2))), 125);
        assert_eq!(share.take(&until("s", 3, None)), 250);
        assert_eq!(share.take(&until("s", 6, Some(HOUR / 4))), 937);
        // Behind the last partition is the last page still to come, which says that there is nothing else.
        assert_eq!(share.take(&until("s", 6, None)), WHOLE - 1);
        assert_eq!(share.take(&admin::ExportRowsResponse::default()), WHOLE);
    }

    #[test]
    fn series_are_gone_through_time_bucket_by_time_bucket() {
        let series = Choice::Series(vec!["a".to_owned(), "b".to_owned()]);
        let (table, from) = (table(), table().slice_start + 5 * HOUR);
        let mut share = Share::of(&series, &table, (from, from + 5 * HOUR), 0);
        // Two series, five hours, four event buckets.
        assert_eq!(share.take(&until("a", 5, None)), 1_000 / 40);
        assert_eq!(share.take(&until("b", 5, None)), 1_000 * 21 / 40);
        assert_eq!(share.take(&until("b", 9, Some(0))), 1_000 * 37 / 40);
    }

    #[test]
    fn partitions_of_a_whole_table_are_counted() {
        let mut share = Share::of(&Choice::All, &table(), (0, i64::MAX), 4);
        assert_eq!(share.take(&until("b", 9, Some(HOUR / 2))), 125);
        assert_eq!(share.take(&until("b", 9, None)), 250);
        assert_eq!(share.take(&until("a", 2, None)), 500);
        // More than were known, or nobody knows how many.
        let count = |share: &mut Share<'_>| (10..16).map(|hour| share.take(&until("c", hour, None))).last();
        assert_eq!(count(&mut share), Some(WHOLE - 1));
        assert_eq!(count(&mut Share::of(&Choice::All, &table(), (0, i64::MAX), 0)), Some(0));
    }
}
