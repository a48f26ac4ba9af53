//! A page as it came, whose records are looked at where they lie: the other end of what `page` writes.
//!
//! A message of its own for each event is most of what a reader of many spends: a string for every id and key, a list for every
//! event. Nothing is decoded here before it is asked for, and nothing is copied.

use prost::bytes::Bytes;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};

use crate::v1;

/// Numbers of fields.
const RECORDS: u32 = 1;
const SERIES: u32 = 1;
const TIME: u32 = 2;
const EVENT_ID: u32 = 3;
const ITEMS: u32 = 4;
const CONTINUES: u32 = 5;
const KEY: u32 = 1;
const VALUE: u32 = 2;
const METADATA: u32 = 3;

/// Bytes that are no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not a ReadEventRecordsResponse: {0}")]
pub struct NoPage(String);

impl NoPage {
    fn short() -> Self {
        Self("it ends inside of a field".to_owned())
    }
}

impl From<DecodeError> for NoPage {
    fn from(error: DecodeError) -> Self {
        Self(error.to_string())
    }
}

type Result<T> = std::result::Result<T, NoPage>;

/// A `ReadEventRecordsResponse` on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageReceived {
    bytes: Bytes,
}

impl PageReceived {
    /// What came; whether it is a page shows when it is looked at.
    pub const fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }

    /// How many bytes came.
    pub const fn wire_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The records, in the order of the read.
    pub fn records(&self) -> Records<'_> {
        Records { fields: Fields(&self.bytes) }
    }

    /// All other fields.
    pub fn rest(&self) -> Result<v1::ReadEventRecordsResponse> {
        let (mut rest, mut others) = (Fields(&self.bytes), Vec::new());
        loop {
            let before = rest.0;
            let Some(field) = rest.take()? else { break };
            if !matches!(field, Field::Bytes(RECORDS, _)) {
                others.extend_from_slice(before.get(..before.len() - rest.0.len()).unwrap_or_default());
            }
        }
        Ok(v1::ReadEventRecordsResponse::decode(others.as_slice())?)
    }
}

/// One field.
enum Field<'a> {
    Bytes(u32, &'a [u8]),
    Number(u32, u64),
    /// Of a kind that no field here has.
    Other,
}

/// Fields of a message that are left.
#[derive(Clone, Copy, Debug)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Which field comes, and of which kind. Nearly all of these and most lengths are one byte.
    #[inline]
    fn key(&mut self) -> Result<(u32, WireType)> {
        match self.0.split_first() {
            Some((key @ 8..0x80, rest)) => {
                self.0 = rest;
                Ok((u32::from(key >> 3), WireType::try_from(u64::from(key & 7))?))
            }
            _ => Ok(decode_key(&mut self.0)?),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<u64> {
        match self.0.split_first() {
            Some((number @ ..0x80, rest)) => {
                self.0 = rest;
                Ok(u64::from(*number))
            }
            _ => Ok(decode_varint(&mut self.0)?),
        }
    }

    /// The next one.
    #[inline]
    fn take(&mut self) -> Result<Option<Field<'a>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (number, kind) = self.key()?;
        Ok(Some(match kind {
            WireType::LengthDelimited => {
                let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
                let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(NoPage::short)?;
                self.0 = rest;
                Field::Bytes(number, bytes)
            }
            WireType::Varint => Field::Number(number, self.number()?),
            other => {
                skip_field(other, number, &mut self.0, DecodeContext::default())?;
                Field::Other
            }
        }))
    }

    /// The next one that has bytes and this number.
    fn next_of(&mut self, wanted: u32) -> Option<Result<&'a [u8]>> {
        loop {
            match self.take() {
                Ok(Some(Field::Bytes(number, bytes))) if number == wanted => return Some(Ok(bytes)),
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => {
                    self.0 = &[];
                    return Some(Err(error));
                }
            }
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| NoPage("a text is not UTF-8".to_owned()))
}

/// Records of a page, one after the other. Ends behind the first that cannot be read.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    fields: Fields<'a>,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.fields.next_of(RECORDS)?.and_then(Record::read);
        if record.is_err() {
            self.fields.0 = &[];
        }
        Some(record)
    }
}

/// An event of a page.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Whose event.
    pub time_series_id: &'a str,
    /// When it happened: seconds since 1970, and nanoseconds.
    pub event_time: (i64, i32),
    /// Which event.
    pub event_id: &'a str,
    /// It is larger than a page and goes on in the next one.
    pub continues: bool,
    fields: Fields<'a>,
}

impl<'a> Record<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let (mut fields, mut first_item) = (Fields(bytes), None);
        let mut record =
            Self { time_series_id: "", event_time: (0, 0), event_id: "", continues: false, fields };
        loop {
            let before = fields;
            match fields.take()? {
                None => break,
                Some(Field::Bytes(SERIES, bytes)) => record.time_series_id = text(bytes)?,
                Some(Field::Bytes(TIME, bytes)) => record.event_time = time(bytes)?,
                Some(Field::Bytes(EVENT_ID, bytes)) => record.event_id = text(bytes)?,
                Some(Field::Bytes(ITEMS, _)) => first_item = first_item.or(Some(before)),
                Some(Field::Number(CONTINUES, number)) => record.continues = number != 0,
                Some(_) => {}
            }
        }
        // What lies before is not walked over again.
        record.fields = first_item.unwrap_or(fields);
        Ok(record)
    }

    /// What it says.
    pub const fn items(&self) -> Items<'a> {
        Items { fields: self.fields }
    }
}

fn time(bytes: &[u8]) -> Result<(i64, i32)> {
    let (mut fields, mut time) = (Fields(bytes), (0, 0));
    while let Some(field) = fields.take()? {
        match field {
            Field::Number(1, seconds) => time.0 = seconds.cast_signed(),
            // Nanoseconds of a second need no more than 30 bits.
            Field::Number(2, nanos) => time.1 = i32::try_from(nanos).unwrap_or(i32::MAX),
            _ => {}
        }
    }
    Ok(time)
}

/// Items of an event, one after the other. Ends behind the first that cannot be read.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    fields: Fields<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<ItemReceived<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.fields.next_of(ITEMS)?.and_then(ItemReceived::read);
        if item.is_err() {
            self.fields.0 = &[];
        }
        Some(item)
    }
}

/// An item of an event.
#[derive(Clone, Copy, Debug)]
pub struct ItemReceived<'a> {
    /// Its key.
    pub event_item_key: &'a str,
    /// Its value.
    pub event_item_value: &'a [u8],
    fields: Fields<'a>,
}

impl<'a> ItemReceived<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut fields = Fields(bytes);
        let mut item = Self { event_item_key: "", event_item_value: &[], fields };
        while let Some(field) = fields.take()? {
            match field {
                Field::Bytes(KEY, bytes) => item.event_item_key = text(bytes)?,
                Field::Bytes(VALUE, bytes) => item.event_item_value = bytes,
                _ => {}
            }
        }
        Ok(item)
    }

    /// Small facts about the value, by name.
    pub fn value_metadata(&self) -> Result<Vec<(&'a str, &'a str)>> {
        let (mut fields, mut pairs) = (self.fields, Vec::new());
        while let Some(pair) = fields.next_of(METADATA) {
            let (mut parts, mut found) = (Fields(pair?), ("", ""));
            while let Some(part) = parts.take()? {
                match part {
                    Field::Bytes(KEY, bytes) => found.0 = text(bytes)?,
                    Field::Bytes(VALUE, bytes) => found.1 = text(bytes)?,
                    _ => {}
                }
            }
            pairs.push(found);
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::super::page::tests::events;
    use super::*;

    fn as_message(record: Record<'_>) -> Result<v1::Event> {
        let (seconds, nanos) = record.event_time;
        let item = |item: Result<ItemReceived<'_>>| {
            let item = item?;
            let pairs = item.value_metadata()?.into_iter();
            Ok(v1::EventItem {
                event_item_key: item.event_item_key.to_owned(),
                event_item_value: Bytes::copy_from_slice(item.event_item_value),
                value_metadata: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            })
        };
        Ok(v1::Event {
            time_series_id: record.time_series_id.to_owned(),
            event_time: Some(prost_types::Timestamp { seconds, nanos }),
            event_id: record.event_id.to_owned(),
            event_items: record.items().map(item).collect::<Result<_>>()?,
            continues: record.continues,
        })
    }

    proptest! {
        #[test]
        fn a_page_reads_as_its_message(records in prop::collection::vec(events(), 0..5), token in "[a-z]{0,9}") {
            let rest = v1::ReadEventRecordsResponse {
                next_page_token: token,
                retention_truncated: true,
                ..Default::default()
            };
            let message = v1::ReadEventRecordsResponse { records: records.clone(), ..rest.clone() };
            let page = PageReceived::new(message.encode_to_vec().into());
            prop_assert_eq!(page.rest().unwrap(), rest);
            let read: Result<Vec<v1::Event>> = page.records().map(|record| as_message(record?)).collect();
            prop_assert_eq!(read.unwrap(), records);
        }

        /// It ends, with as many records as it has or with an error; and whatever is a message can be read in place.
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let page = PageReceived::new(bytes.clone().into());
            let read: Result<Vec<v1::Event>> = page.records().map(|record| as_message(record?)).collect();
            if let Ok(message) = v1::ReadEventRecordsResponse::decode(bytes.as_slice()) {
                prop_assert!(page.rest().is_ok());
                prop_assert_eq!(read.unwrap().len(), message.records.len());
            }
        }
    }

    #[test]
    fn a_page_that_was_cut_is_refused() {
        let event = v1::Event { event_id: "e".repeat(20), ..Default::default() };
        let message = v1::ReadEventRecordsResponse { records: vec![event], ..Default::default() };
        let whole = message.encode_to_vec();
        let page = PageReceived::new(Bytes::copy_from_slice(&whole[..whole.len() - 1]));
        assert!(page.records().next().unwrap().is_err());
        assert!(page.records().nth(1).is_none(), "nothing is read behind it");
        assert!(page.rest().is_err());
    }
}
