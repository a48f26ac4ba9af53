//! Records in any format, batch by batch, as text: the same rows whether they come at once or page by page.

use super::{Format, Json, Table};
use crate::failure::Failure;

/// Something that is listed.
pub(crate) trait Record {
    /// The header of its table.
    const COLUMNS: &'static [&'static str];
    /// The header of its CSV.
    const FIELDS: &'static [&'static str];

    /// Its row in a table; printable.
    fn row(&self) -> Vec<String>;

    /// Its lines in CSV, as they are.
    fn lines(&self) -> Vec<Vec<String>>;

    /// Itself as JSON, on one line.
    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure>;
}

/// A list that is being written.
#[derive(Debug)]
pub(crate) struct Listing {
    format: Format,
    table: Table,
    json: Option<Json>,
    /// Whether anything was written: the header stands before the first record, commas before all others.
    begun: bool,
}

impl Listing {
    /// An empty list; tables are cut to `width` characters.
    pub(crate) fn new(format: Format, width: Option<usize>) -> Result<Self, Failure> {
        let json = match format {
            Format::Json | Format::Ndjson => Some(Json::new()?),
            Format::Table | Format::Csv => None,
        };
        Ok(Self { format, table: Table::new(width), json, begun: false })
    }

    /// The text of further records. As JSON they are the elements of an array whose brackets are the caller's.
    pub(crate) fn batch<R: Record>(&mut self, records: &[R]) -> Result<Vec<u8>, Failure> {
        let first = !self.begun;
        match (self.format, &self.json) {
            (Format::Table, _) => {
                let header = R::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
                // A table of nothing is nothing.
                let rows: Vec<Vec<String>> = (first && !records.is_empty())
                    .then_some(header)
                    .into_iter()
                    .chain(records.iter().map(R::row))
                    .collect();
                self.begun |= !records.is_empty();
                let mut text = String::new();
                self.table.rows(&rows, &mut text);
                Ok(text.into_bytes())
            }
            (Format::Csv, _) => {
                self.begun = true;
                csv_lines::<R>(first, records)
            }
            (format, Some(json)) => {
                let mut text = Vec::new();
                for record in records {
                    if format == Format::Json && self.begun {
                        text.push(b',');
                    }
                    self.begun = true;
                    text.extend(record.json(json)?);
                    if format == Format::Ndjson {
                        text.push(b'\n');
                    }
                }
                Ok(text)
            }
            (Format::Json | Format::Ndjson, None) => Ok(Vec::new()),
        }
    }

    /// What shows messages, where the format is JSON.
    pub(crate) fn json(&self) -> Option<&Json> {
        self.json.as_ref()
    }
}

fn csv_lines<R: Record>(header: bool, records: &[R]) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::Other(format!("a record is no CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    if header {
        writer.write_record(R::FIELDS).map_err(|error| failed(&error))?;
    }
    for line in records.iter().flat_map(R::lines) {
        writer.write_record(line).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(error.error()))
}

#[cfg(test)]
mod tests {
    use super::super::EventRecord;
    use super::super::event::tests::event;
    use super::*;

    /// Two batches and an empty one between.
    #[track_caller]
    fn check(format: Format, text: bool, expect: &str) {
        let mut listing = Listing::new(format, None).unwrap();
        let events = [event("1", &[("k", b"a,b")]), event("200", &[("k", b""), ("j", b"\"q\"")])];
        let records = events.each_ref().map(|event| EventRecord { event, text });
        let mut written = listing.batch(&records[..1]).unwrap();
        written.extend(listing.batch::<EventRecord<'_>>(&[]).unwrap());
        written.extend(listing.batch(&records[1..]).unwrap());
        assert_eq!(String::from_utf8(written).unwrap(), expect);
    }

    #[test]
    fn a_table_has_one_header() {
        check(
            Format::Table,
            false,
            "\
TIME                      EVENT  ITEMS
2026-05-11T23:42:00.500Z  1      k=a,b
2026-05-11T23:42:00.500Z  200    k= j=\"q\"
",
        );
    }

    #[test]
    fn csv_has_one_header_and_quotes_what_needs_it() {
        check(
            Format::Csv,
            true,
            "\
time_series_id,event_time,event_id,event_item_key,event_item_value
s,2026-05-11T23:42:00.500Z,1,k,\"a,b\"
s,2026-05-11T23:42:00.500Z,200,k,
s,2026-05-11T23:42:00.500Z,200,j,\"\"\"q\"\"\"
",
        );
    }

    #[test]
    fn json_has_commas_and_ndjson_lines() {
        let one = r#"{"time_series_id":"s","event_time":"2026-05-11T23:42:00.500Z","event_id":"1","event_items":[{"event_item_key":"k","event_item_value":"a,b"}]}"#;
        let two = r#"{"time_series_id":"s","event_time":"2026-05-11T23:42:00.500Z","event_id":"200","event_items":[{"event_item_key":"k","event_item_value":""},{"event_item_key":"j","event_item_value":"\"q\""}]}"#;
        check(Format::Ndjson, true, &format!("{one}\n{two}\n"));
        check(Format::Json, true, &format!("{one},{two}"));
    }

    #[test]
    fn nothing_is_a_csv_header_and_no_table() {
        let nothing = |format| Listing::new(format, None).unwrap().batch::<EventRecord<'_>>(&[]).unwrap();
        assert_eq!(nothing(Format::Table), b"");
        assert_eq!(nothing(Format::Json), b"");
        assert_eq!(nothing(Format::Ndjson), b"");
        let header = "time_series_id,event_time,event_id,event_item_key,event_item_value\n";
        assert_eq!(nothing(Format::Csv), header.as_bytes());
    }
}
