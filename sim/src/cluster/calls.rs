//! Calls in the trace: each has a line when it begins and one when it ends, or is dropped.

use std::fmt::{Arguments, Debug};
use std::sync::atomic::Ordering;

use store::{MetaRecord, Result, ScanPage};
use xxhash_rust::xxh3::Xxh3;

use super::Cluster;

/// A call under way. Dropped before its end, the trace says so.
pub(super) struct Call<'a> {
    cluster: &'a Cluster,
    number: u64,
    ended: bool,
}

impl Cluster {
    pub(super) fn begin(&self, what: Arguments<'_>) -> Call<'_> {
        let number = self.shared.calls.fetch_add(1, Ordering::Relaxed);
        self.note(format_args!("store #{number} {what}"));
        Call { cluster: self, number, ended: false }
    }
}

impl Call<'_> {
    /// Ends with what the caller gets.
    pub(super) fn end<T: Debug>(self, result: Result<T>) -> Result<T> {
        match &result {
            Ok(answer) => self.note(format_args!("{answer:?}")),
            Err(error) => self.note(format_args!("{:?}", error.kind())),
        }
        result
    }

    /// Ends with a page, of which only the digest is noted.
    pub(super) fn end_scan(self, result: Result<ScanPage>) -> Result<ScanPage> {
        match &result {
            Ok(page) => {
                let (rows, more) = (page.rows.len(), page.more);
                self.note(format_args!("{rows} rows, more: {more}, {:016x}", digest(page)));
            }
            Err(error) => self.note(format_args!("{:?}", error.kind())),
        }
        result
    }

    /// Ends with records, of which only the digest is noted.
    pub(super) fn end_records<T>(self, result: Result<T>, of: impl Fn(&T) -> &[MetaRecord]) -> Result<T> {
        match &result {
            Ok(answer) => {
                let records = of(answer);
                self.note(format_args!("{} records, {:016x}", records.len(), digest_of_records(records)));
            }
            Err(error) => self.note(format_args!("{:?}", error.kind())),
        }
        result
    }

    fn note(mut self, what: Arguments<'_>) {
        self.ended = true;
        self.cluster.note(format_args!("store #{} ends: {what}", self.number));
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.cluster.note(format_args!("store #{} is dropped", self.number));
        }
    }
}

fn digest_of_records(records: &[MetaRecord]) -> u64 {
    let mut hash = Xxh3::new();
    for record in records {
        hash.update(&record.version.0.to_le_bytes());
        for part in [&record.name, &record.value] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.digest()
}

fn digest(page: &ScanPage) -> u64 {
    let mut hash = Xxh3::new();
    for row in page.rows.iter() {
        hash.update(&row.event_time.nanos().to_le_bytes());
        hash.update(&row.write_time.to_le_bytes());
        for part in [row.event_id, row.item_key, row.value, row.metadata] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.digest()
}
