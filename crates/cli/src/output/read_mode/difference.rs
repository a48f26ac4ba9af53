//! What comparing came to, and differences that were confirmed, as rows.

use api::admin::v1::{CompareReadModeResponse, Mismatch, MismatchSide};

use super::super::list::Record;
use super::super::{Json, value};
use crate::failure::Failure;

/// What a comparison of splits came to.
#[derive(Debug)]
pub(crate) struct CompareRecord<'a>(pub &'a CompareReadModeResponse);

impl Record for CompareRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SPLITS", "PAGES", "EVENTS", "SAME BYTES", "DIFFER", "DIFFER BYTES"];
    const FIELDS: &'static [&'static str] =
        &["splits", "pages", "records", "bytes", "differ", "differ_bytes"];

    fn row(&self) -> Vec<String> {
        let CompareReadModeResponse { splits, pages, records, bytes, differ, differ_bytes, .. } = self.0;
        let numbers = [splits, pages, records].map(ToString::to_string);
        let mut row = numbers.to_vec();
        row.extend([size(*bytes), differ.to_string(), size(*differ_bytes)]);
        row
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let CompareReadModeResponse { splits, pages, records, bytes, differ, differ_bytes, .. } = self.0;
        vec![[splits, pages, records, bytes, differ, differ_bytes].map(ToString::to_string).to_vec()]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// A confirmed difference in a list.
#[derive(Debug)]
pub(crate) struct MismatchRecord<'a>(pub &'a Mismatch);

impl Record for MismatchRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["TIME", "SPLIT", "ORIGIN", "TARGET", "READ"];
    const FIELDS: &'static [&'static str] = &[
        "time",
        "server",
        "split_id",
        "read",
        "origin_records",
        "origin_bytes",
        "origin_first",
        "target_records",
        "target_bytes",
        "target_first",
    ];

    fn row(&self) -> Vec<String> {
        let whole = self.0.time.map(|time| prost_types::Timestamp { nanos: 0, ..time });
        vec![
            value::time(whole),
            value::printable(&self.0.split_id).into_owned(),
            said(self.0.origin.as_ref()),
            said(self.0.target.as_ref()),
            value::printable(&self.0.read).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let mismatch = self.0;
        let mut line = vec![
            value::time(mismatch.time),
            mismatch.server.clone(),
            mismatch.split_id.clone(),
            mismatch.read.clone(),
        ];
        for side in [&mismatch.origin, &mismatch.target] {
            let MismatchSide { records, bytes, first } = side.clone().unwrap_or_default();
            line.extend([records.to_string(), bytes.to_string(), first]);
        }
        vec![line]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// What one side gave.
fn said(side: Option<&MismatchSide>) -> String {
    let Some(side) = side else { return String::new() };
    let events = value::count(u64::try_from(side.records).unwrap_or(0), "event");
    let mut text = format!("{events}, {}", size(side.bytes));
    if !side.first.is_empty() {
        text += &format!(", first {}", value::printable(&side.first));
    }
    text
}

fn size(bytes: i64) -> String {
    value::size(u64::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_on_one_line() {
        let compared = CompareReadModeResponse {
            splits: 2,
            pages: 3,
            records: 100,
            bytes: 2_048,
            differ: 1,
            differ_bytes: 9,
            next_page_token: String::new(),
        };
        let record = CompareRecord(&compared);
        assert_eq!(record.row().join(" "), "2 3 100 2.0 KiB 1 9 B");
        assert_eq!(record.lines().concat().join(","), "2,3,100,2048,1,9");
        assert_eq!(record.lines().concat().len(), CompareRecord::FIELDS.len());
        assert_eq!(record.row().len(), CompareRecord::COLUMNS.len());
    }

    #[test]
    fn a_difference_shows_both_sides() {
        let side = |records, first: &str| MismatchSide { records, bytes: 1_024, first: first.to_owned() };
        let mismatch = Mismatch {
            time: Some(prost_types::Timestamp { seconds: 1_778_457_600, nanos: 1 }),
            server: "s1".to_owned(),
            split_id: "data_20260511/7/2/a\u{1b}".to_owned(),
            read: "a, newest first".to_owned(),
            origin: Some(side(2, "e1 (15 bytes)")),
            target: Some(side(1, "")),
        };
        let record = MismatchRecord(&mismatch);
        assert_eq!(
            record.row().join("|"),
            "2026-05-11T00:00:00Z|data_20260511/7/2/a\\u{1b}|2 events, 1.0 KiB, first e1 (15 bytes)|\
             1 event, 1.0 KiB|a, newest first"
        );
        assert_eq!(
            record.lines().concat().join("|"),
            "2026-05-11T00:00:00.000000001Z|s1|data_20260511/7/2/a\u{1b}|a, newest first|2|1024|e1 (15 bytes)|1|1024|"
        );
        assert_eq!(record.lines().concat().len(), MismatchRecord::FIELDS.len());
        assert_eq!(record.row().len(), MismatchRecord::COLUMNS.len());
    }
}
