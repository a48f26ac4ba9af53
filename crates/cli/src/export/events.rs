//! Rows as events, in the shapes that `braid import` reads: a line of JSON an event, or a record of CSV an item.

use std::io::{self, Write};

use api::convert::{timestamp_to_wire, value_metadata};
use api::v1;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use export::{HashedFile, Row};

use crate::output::{Json, value};

/// Items of an event on one line: what a request takes.
const ITEMS_MAX: usize = 64;
/// Bytes of the items on one line: less than a request takes, also as base64.
const LINE_BYTES_MAX: usize = 2 << 20;
/// The columns, as `get -o csv` writes them.
const HEADER: [&str; 5] = ["time_series_id", "event_time", "event_id", "event_item_key", "event_item_value"];

/// Events as lines of JSON.
pub(super) struct NdjsonFile {
    file: HashedFile,
    json: Json,
    /// An event whose items are still coming, and their bytes.
    open: Option<(v1::Event, usize)>,
    lines: u64,
}

impl NdjsonFile {
    pub(super) fn new(file: HashedFile) -> io::Result<Self> {
        let json = Json::new().map_err(|_| io::Error::other("the contract does not load; report this"))?;
        Ok(Self { file, json, open: None, lines: 0 })
    }

    pub(super) fn push(&mut self, row: &Row) -> io::Result<()> {
        let time = timestamp_to_wire(row.event_time);
        let goes_on = self.open.as_ref().is_some_and(|(event, bytes)| {
            event.event_time == Some(time)
                && event.event_id.as_bytes() == row.event_id
                && event.time_series_id.as_bytes() == row.time_series_id
                && event.event_items.len() < ITEMS_MAX
                && bytes + row.bytes() <= LINE_BYTES_MAX
        });
        if !goes_on {
            self.write_open()?;
        }
        let (event, bytes) = self.open.get_or_insert_with(|| {
            let event = v1::Event {
                time_series_id: text(&row.time_series_id),
                event_time: Some(time),
                event_id: text(&row.event_id),
                ..v1::Event::default()
            };
            (event, 0)
        });
        let damaged =
            |error| io::Error::other(format!("an item of event `{}`: {error}", text(&row.event_id)));
        event.event_items.push(v1::EventItem {
            event_item_key: text(&row.event_item_key),
            event_item_value: row.event_item_value.clone(),
            value_metadata: value_metadata(&row.value_metadata).map_err(damaged)?,
        });
        *bytes += row.bytes();
        Ok(())
    }

    fn write_open(&mut self) -> io::Result<()> {
        let Some((mut event, _)) = self.open.take() else { return Ok(()) };
        // Rows come newest first, which is the reverse of how an event is shown.
        event.event_items.reverse();
        let line = self
            .json
            .message(&event)
            .map_err(|_| io::Error::other("an event cannot be shown; report this"))?;
        self.file.write_all(&line)?;
        self.file.write_all(b"\n")?;
        self.lines += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<(HashedFile, u64)> {
        self.write_open()?;
        Ok((self.file, self.lines))
    }
}

/// Items as records of CSV.
pub(super) struct CsvFile {
    file: ::csv::Writer<HashedFile>,
    records: u64,
    /// Items whose metadata has no place here.
    pub(super) without_metadata: u64,
}

impl CsvFile {
    pub(super) fn new(file: HashedFile) -> io::Result<Self> {
        let mut file = ::csv::Writer::from_writer(file);
        file.write_record(HEADER)?;
        Ok(Self { file, records: 0, without_metadata: 0 })
    }

    pub(super) fn push(&mut self, row: &Row) -> io::Result<()> {
        let time = value::time(Some(timestamp_to_wire(row.event_time)));
        let value = STANDARD.encode(&row.event_item_value);
        self.file.write_record([
            &row.time_series_id[..],
            time.as_bytes(),
            &row.event_id[..],
            &row.event_item_key[..],
            value.as_bytes(),
        ])?;
        self.records += 1;
        self.without_metadata += u64::from(!row.value_metadata.is_empty());
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<(HashedFile, u64)> {
        let file = self.file.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        Ok((file, self.records))
    }
}

/// Ids are UTF-8 when they are written, and stay so.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
