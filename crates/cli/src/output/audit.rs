//! Changes of configuration as rows.

use api::admin::v1::AuditEntry;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A change in a list.
#[derive(Debug)]
pub(crate) struct AuditRecord<'a>(pub &'a AuditEntry);

impl AuditRecord<'_> {
    /// What was done to what, in words.
    fn what(&self) -> String {
        let done = self.0.action.to_ascii_lowercase().replace('_', " ");
        format!("{} {}: {done}", self.0.kind, self.0.name)
    }
}

impl Record for AuditRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["WHEN", "WHO", "WHAT", "WHY"];
    const FIELDS: &'static [&'static str] =
        &["time", "author", "action", "kind", "name", "reason", "server_id", "epoch", "before", "after"];

    fn row(&self) -> Vec<String> {
        vec![
            value::time(self.0.time),
            value::printable(&self.0.author).into_owned(),
            value::printable(&self.what()).into_owned(),
            value::printable(&self.0.reason).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let entry = self.0;
        vec![vec![
            value::time(entry.time),
            entry.author.clone(),
            entry.action.clone(),
            entry.kind.clone(),
            entry.name.clone(),
            entry.reason.clone(),
            entry.server_id.clone(),
            entry.epoch.to_string(),
            entry.before.clone(),
            entry.after.clone(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_when_who_what_and_why() {
        let entry = AuditEntry {
            time: Some(prost_types::Timestamp { seconds: 1_778_457_600, nanos: 0 }),
            author: "ann\u{1b}".to_owned(),
            reason: "old events".to_owned(),
            server_id: "s1".to_owned(),
            epoch: 7,
            action: "BACKFILL_BEGUN".to_owned(),
            kind: "namespace".to_owned(),
            name: "plays".to_owned(),
            before: "{}".to_owned(),
            after: "{\"a\":1}".to_owned(),
        };
        let record = AuditRecord(&entry);
        assert_eq!(
            record.row().join("|"),
            "2026-05-11T00:00:00Z|ann\\u{1b}|namespace plays: backfill begun|old events"
        );
        assert_eq!(
            record.lines().concat().join("|"),
            "2026-05-11T00:00:00Z|ann\u{1b}|BACKFILL_BEGUN|namespace|plays|old events|s1|7|{}|{\"a\":1}"
        );
        assert_eq!(record.lines().concat().len(), AuditRecord::FIELDS.len());
        assert_eq!(record.row().len(), AuditRecord::COLUMNS.len());
    }
}
