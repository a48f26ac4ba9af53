//! Events as CSV with a header: who, when, which event, and every other column an item; or one item a record, as
//! `get -o csv` writes them, because keys differ from event to event.
//!
//! A record may go over several lines where a cell is quoted; it is named by the line on which it starts. Like a line
//! of JSON, it is never held beyond a limit.

use std::io::{self, BufRead, Read};

use ::csv::ByteRecord;
use api::v1;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::header::{Header, Items};
use super::lines::LINE_BYTES_MAX;
use super::source::{Found, Place, Source};
use crate::input::{Moment, parse_moment};
use crate::session::wire_time;

/// What a message quotes of a cell.
const QUOTE_CHARS_MAX: usize = 40;

/// The events of one input.
pub(crate) struct Csv<R> {
    reader: ::csv::Reader<LineWise<R>>,
    record: ByteRecord,
    header: Option<Header>,
    /// Where a record is an item, its value is plain text and not base64.
    text: bool,
    input: usize,
    ended: bool,
}

impl<R: BufRead> Csv<R> {
    /// The events of `reader`, which is the input with the number `input`. With `text`, the value of an item that has
    /// a record of its own is taken as it is written instead of as base64.
    pub(crate) fn new(reader: R, input: usize, text: bool) -> Self {
        Self { text, ..Self::with_limit(reader, input, LINE_BYTES_MAX) }
    }

    fn with_limit(reader: R, input: usize, record_bytes_max: usize) -> Self {
        let lines = LineWise { inner: reader, line: 0, begins: true, record_bytes: 0, record_bytes_max };
        // The header is read here, and a record of another length is refused here, with its line.
        let reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(lines);
        Self { reader, record: ByteRecord::new(), header: None, text: false, input, ended: false }
    }

    /// Reads a record: the line on which it starts, and whether it could be read. None at the end.
    fn read(&mut self) -> Option<(u64, Result<(), String>)> {
        self.reader.get_mut().record_bytes = 0;
        let read = self.reader.read_byte_record(&mut self.record);
        // The reader is given line after line, so it has not seen more than the line on which the record ends.
        let last_line = self.reader.get_ref().line;
        match read {
            Ok(false) => None,
            Ok(true) => {
                let ends = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count();
                let inside = u64::try_from(ends).unwrap_or(u64::MAX);
                Some((last_line.saturating_sub(inside), Ok(())))
            }
            Err(error) => {
                self.ended = true;
                Some((last_line, Err(format!("reading stopped at this line: {error}"))))
            }
        }
    }

    /// What the record read last says, once the header is known.
    fn judge(&mut self) -> Option<Found> {
        let Some(header) = &self.header else {
            match Header::read(&self.record) {
                Ok(header) => {
                    self.header = Some(header);
                    return None;
                }
                Err(problem) => {
                    self.ended = true;
                    return Some(Found::Bad(problem));
                }
            }
        };
        Some(event(header, &self.record, self.text).map_or_else(Found::Bad, Found::Event))
    }
}

impl<R: BufRead + Send> Source for Csv<R> {
    fn next(&mut self) -> Option<(Place, Found)> {
        while !self.ended {
            let Some((line, read)) = self.read() else {
                self.ended = true;
                break;
            };
            let found = match read {
                Ok(()) => self.judge(),
                Err(problem) => Some(Found::Bad(problem)),
            };
            if let Some(found) = found {
                return Some((Place { input: self.input, line }, found));
            }
        }
        None
    }
}

/// The event in a record, or what is wrong with it.
fn event(header: &Header, record: &ByteRecord, plain: bool) -> Result<v1::Event, String> {
    if record.len() != header.columns() {
        let (cells, columns) = (record.len(), header.columns());
        return Err(format!(
            "the record has {cells} cells and the header {columns}; quote cells with commas"
        ));
    }
    let text = |column: usize, name: &str| {
        std::str::from_utf8(record.get(column).unwrap_or_default())
            .map_err(|_| format!("{name} is not UTF-8; write it as UTF-8"))
    };
    let time_series_id = text(header.series, "time_series_id")?;
    let event_time = time(text(header.time, "event_time")?)?;
    let event_items = match &header.items {
        Items::Columns(columns) => {
            columns.iter().filter_map(|(column, key)| cell(record, *column, key)).collect()
        }
        Items::One { key, value } => {
            let key = text(*key, "event_item_key")?;
            vec![item(key, one_value(record.get(*value).unwrap_or_default(), plain)?)]
        }
    };
    let mut event = v1::Event {
        time_series_id: time_series_id.to_owned(),
        event_time: Some(event_time),
        event_id: header
            .id
            .map(|column| text(column, "event_id"))
            .transpose()?
            .unwrap_or_default()
            .to_owned(),
        event_items,
        continues: false,
    };
    if header.id.is_none() {
        event.event_id = super::event_id::derived(&event);
    }
    Ok(event)
}

/// An empty cell is no item.
fn cell(record: &ByteRecord, column: usize, key: &str) -> Option<v1::EventItem> {
    let value = record.get(column).filter(|value| !value.is_empty())?;
    Some(item(key, Bytes::copy_from_slice(value)))
}

fn item(key: &str, value: Bytes) -> v1::EventItem {
    v1::EventItem { event_item_key: key.to_owned(), event_item_value: value, ..v1::EventItem::default() }
}

/// The value of an item that has a record of its own.
fn one_value(cell: &[u8], plain: bool) -> Result<Bytes, String> {
    if plain {
        return Ok(Bytes::copy_from_slice(cell));
    }
    let decoded = STANDARD.decode(cell).map_err(|error| {
        format!("event_item_value is not base64 ({error}); where values are plain text, add --text")
    })?;
    Ok(decoded.into())
}

/// A time hangs on nothing but the cell, so that the same file says the same in every run.
fn time(text: &str) -> Result<prost_types::Timestamp, String> {
    match parse_moment(text.trim()) {
        Ok(Moment::At(time)) => Ok(wire_time(time)),
        _ => {
            let text = api::clip::clip(text, QUOTE_CHARS_MAX);
            Err(format!("event_time is `{text}`; write it as 2026-03-28T14:00:00.5Z or 1774706400.5"))
        }
    }
}

/// Hands out at most one line at a time and knows which, so that a record can be found again. Stops a record that has
/// no end.
struct LineWise<R> {
    inner: R,
    /// The line of the byte handed out last, from 1.
    line: u64,
    /// The next byte is the first of a line.
    begins: bool,
    /// Handed out since the record began.
    record_bytes: usize,
    record_bytes_max: usize,
}

impl<R: BufRead> Read for LineWise<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.record_bytes > self.record_bytes_max {
            let mebibytes = self.record_bytes_max >> 20;
            let problem = format!("the record is over {mebibytes} MiB; is the end of a quoted cell missing?");
            return Err(io::Error::other(problem));
        }
        let ready = self.inner.fill_buf()?;
        let most = ready.len().min(buffer.len());
        let (ready, _) = ready.split_at(most);
        let end = ready.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(most, |at| at + 1);
        for (to, from) in buffer.iter_mut().zip(ready).take(count) {
            *to = *from;
        }
        if count > 0 && self.begins {
            self.line += 1;
        }
        if count > 0 {
            self.begins = end.is_some();
        }
        self.record_bytes += count;
        self.inner.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
