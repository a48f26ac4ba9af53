//! Backfills as rows.

use api::admin::v1::Backfill;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A backfill in a list.
#[derive(Debug)]
pub(crate) struct BackfillRecord<'a>(pub &'a Backfill);

impl BackfillRecord<'_> {
    fn cells(&self, open: String) -> Vec<String> {
        vec![self.0.id.to_string(), value::time(self.0.start), value::time(self.0.end), open]
    }
}

impl Record for BackfillRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["ID", "START", "END", "OPEN"];
    const FIELDS: &'static [&'static str] = &["id", "start", "end", "open"];

    fn row(&self) -> Vec<String> {
        self.cells(if self.0.open { "yes" } else { "no" }.to_owned())
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![self.cells(self.0.open.to_string())]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backfill_says_which_time_it_opens() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let backfill = Backfill { id: 7, start: at(0), end: at(1_778_457_600), open: true };
        let record = BackfillRecord(&backfill);
        assert_eq!(record.row().join(" "), "7 1970-01-01T00:00:00Z 2026-05-11T00:00:00Z yes");
        assert_eq!(record.lines().concat()[3], "true");
        assert_eq!(record.row().len(), BackfillRecord::COLUMNS.len());
    }
}
