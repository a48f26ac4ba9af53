//! Blocked ids as rows.

use api::admin::v1::Block;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A block in a list.
#[derive(Debug)]
pub(crate) struct BlockRecord<'a>(pub &'a Block);

impl BlockRecord<'_> {
    fn access(&self) -> &'static str {
        match (self.0.reads, self.0.writes) {
            (true, true) => "reads+writes",
            (true, false) => "reads",
            (false, true) => "writes",
            (false, false) => "",
        }
    }
}

impl Record for BlockRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["ID", "REFUSED", "UNTIL", "REASON", "AUTHOR", "SINCE"];
    const FIELDS: &'static [&'static str] =
        &["time_series_id", "reads", "writes", "expire_time", "reason", "author", "create_time"];

    fn row(&self) -> Vec<String> {
        let until = self.0.expire_time.map_or_else(|| "forever".to_owned(), |time| value::time(Some(time)));
        vec![
            value::printable(&self.0.time_series_id).into_owned(),
            self.access().to_owned(),
            until,
            value::printable(&self.0.reason).into_owned(),
            value::printable(&self.0.author).into_owned(),
            value::time(self.0.create_time),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![vec![
            self.0.time_series_id.clone(),
            self.0.reads.to_string(),
            self.0.writes.to_string(),
            value::time(self.0.expire_time),
            self.0.reason.clone(),
            self.0.author.clone(),
            value::time(self.0.create_time),
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
    fn a_block_says_what_is_refused_until_when_and_why() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let block = Block {
            time_series_id: "user:7\u{1b}".to_owned(),
            reads: true,
            writes: true,
            reason: "hot".to_owned(),
            author: "ann".to_owned(),
            expire_time: at(1_778_457_600),
            create_time: at(1_778_400_000),
            etag: "e".to_owned(),
        };
        let record = BlockRecord(&block);
        let (until, since) = ("2026-05-11T00:00:00Z", "2026-05-10T08:00:00Z");
        assert_eq!(record.row().join(" "), format!("user:7\\u{{1b}} reads+writes {until} hot ann {since}"));
        assert_eq!(
            record.lines().concat().join(" "),
            format!("user:7\u{1b} true true {until} hot ann {since}")
        );
        assert_eq!(record.lines().concat().len(), BlockRecord::FIELDS.len());
        assert_eq!(record.row().len(), BlockRecord::COLUMNS.len());
        let forever = Block { expire_time: None, reads: false, ..block };
        assert_eq!(BlockRecord(&forever).row()[1..3], ["writes", "forever"]);
    }
}
