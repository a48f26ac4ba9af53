//! A page as the bytes of its message, written straight from what was read.
//!
//! Making messages first cost more than reading: a string per id and key, a list per event, and two walks over all of it. The
//! events are written once, here; the few fields around them are an ordinary message.

use bytes::{BufMut, Bytes};
use engine::{Error, Event, Item, Reason, Result};
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};

use crate::v1;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Bytes that an event takes beside its value, about; a guess for the first allocation.
const EVENT_BYTES_ABOUT: usize = 128;

/// Tags: the number of a field and how it is written.
const RECORDS: u8 = 0x0A;
const SERIES: u8 = 0x0A;
const TIME: u8 = 0x12;
const EVENT_ID: u8 = 0x1A;
const ITEMS: u8 = 0x22;
const CONTINUES: u8 = 0x28;
const SECONDS: u8 = 0x08;
const NANOS: u8 = 0x10;
const KEY: u8 = 0x0A;
const VALUE: u8 = 0x12;
const METADATA: u8 = 0x1A;

/// A `ReadEventRecordsResponse` whose records are encoded already. Only for sending: it decodes like the message without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedPage {
    /// The field `records`, every one with its tag.
    records: Bytes,
    /// All other fields.
    rest: v1::ReadEventRecordsResponse,
}

impl EncodedPage {
    /// The events, and the fields around them.
    pub(super) fn new(events: &[Event], rest: v1::ReadEventRecordsResponse) -> Result<Self> {
        let values =
            events.iter().flat_map(|event| &event.items).map(|item| item.value.len() + item.key.len());
        let mut out = Vec::with_capacity(values.sum::<usize>() + events.len() * EVENT_BYTES_ABOUT);
        for event in events {
            put_event(&mut out, event)?;
        }
        Ok(Self { records: out.into(), rest })
    }
}

impl Message for EncodedPage {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.records);
        self.rest.encode_raw(buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> std::result::Result<(), DecodeError> {
        self.rest.merge_field(tag, wire_type, buf, context)
    }

    fn encoded_len(&self) -> usize {
        self.records.len() + self.rest.encoded_len()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl prost::Name for EncodedPage {
    const NAME: &'static str = v1::ReadEventRecordsResponse::NAME;
    const PACKAGE: &'static str = v1::ReadEventRecordsResponse::PACKAGE;
}

fn put_event(out: &mut Vec<u8>, event: &Event) -> Result<()> {
    // Measured here and again below, which is cheaper than to keep it: most events have one item and no metadata.
    let mut items_bytes = 0;
    for item in &event.items {
        text("item key", &item.key)?;
        let bytes = item_bytes(item, &metadata_of(item)?);
        items_bytes += 1 + varint_bytes(bytes) + bytes;
    }
    let id = text("event id", event.event_id.as_bytes())?;
    let (seconds, nanos) =
        (event.time.nanos().div_euclid(NANOS_PER_SECOND), event.time.nanos().rem_euclid(NANOS_PER_SECOND));
    // Times are from 1970 on, so neither is negative.
    let (seconds, nanos) = (seconds.unsigned_abs(), nanos.unsigned_abs());
    let time_bytes = number_bytes(seconds) + number_bytes(nanos);
    let series = event.series.as_str();
    let bytes = field_bytes(series.len())
        + 1
        + varint_bytes(time_bytes)
        + time_bytes
        + field_bytes(id.len())
        + items_bytes
        + if event.continues { 2 } else { 0 };
    out.push(RECORDS);
    put_varint(out, bytes as u64);
    put_field(out, SERIES, series.as_bytes());
    out.push(TIME);
    put_varint(out, time_bytes as u64);
    put_number(out, SECONDS, seconds);
    put_number(out, NANOS, nanos);
    put_field(out, EVENT_ID, id);
    for item in &event.items {
        put_item(out, item)?;
    }
    if event.continues {
        out.extend([CONTINUES, 1]);
    }
    Ok(())
}

type Metadata = std::collections::BTreeMap<String, String>;

fn metadata_of(item: &Item) -> Result<Metadata> {
    if item.metadata.is_empty() { Ok(Metadata::new()) } else { engine::metadata::decode(&item.metadata) }
}

fn item_bytes(item: &Item, metadata: &Metadata) -> usize {
    let pairs = metadata.iter().map(pair_bytes).map(|bytes| 1 + varint_bytes(bytes) + bytes);
    field_bytes(item.key.len()) + field_bytes(item.value.len()) + pairs.sum::<usize>()
}

fn put_item(out: &mut Vec<u8>, item: &Item) -> Result<()> {
    let metadata = metadata_of(item)?;
    out.push(ITEMS);
    put_varint(out, item_bytes(item, &metadata) as u64);
    put_field(out, KEY, &item.key);
    put_field(out, VALUE, &item.value);
    for (key, value) in &metadata {
        out.push(METADATA);
        put_varint(out, pair_bytes((key, value)) as u64);
        put_field(out, KEY, key.as_bytes());
        put_field(out, VALUE, value.as_bytes());
    }
    Ok(())
}

fn pair_bytes((key, value): (&String, &String)) -> usize {
    field_bytes(key.len()) + field_bytes(value.len())
}

/// Bytes of a field with text or bytes; nothing where it is empty.
const fn field_bytes(length: usize) -> usize {
    if length == 0 { 0 } else { 1 + varint_bytes(length) + length }
}

fn put_field(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    if !bytes.is_empty() {
        out.push(tag);
        put_varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
}

fn number_bytes(number: u64) -> usize {
    if number == 0 { 0 } else { 1 + prost::encoding::encoded_len_varint(number) }
}

fn put_number(out: &mut Vec<u8>, tag: u8, number: u64) {
    if number != 0 {
        out.push(tag);
        put_varint(out, number);
    }
}

const fn varint_bytes(length: usize) -> usize {
    prost::encoding::encoded_len_varint(length as u64)
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

/// Stored text was text when it was written.
fn text<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return Ok(bytes);
    }
    let message = format!("a stored {what} is not UTF-8: the record was damaged; restore it from a copy");
    Err(Error::new(Reason::ChecksumMismatch, message))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{EventId, SeriesId, Timestamp};
    use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    fn items() -> impl Strategy<Value = (String, Vec<u8>, BTreeMap<String, String>)> {
        let pairs = prop::collection::btree_map("\\PC{0,5}", "\\PC{0,200}", 0..3);
        ("\\PC{1,20}", prop::collection::vec(any::<u8>(), 0..300), pairs)
    }

    fn events() -> impl Strategy<Value = v1::Event> {
        let time = prop_oneof![Just((0, 0)), Just((0, 5)), (0_i64..9_000_000_000, 0_i32..1_000_000_000)];
        let items = prop::collection::vec(items(), 0..4);
        ("\\PC{1,50}", time, "\\PC{0,40}", items, any::<bool>()).prop_map(
            |(series, time, id, items, continues)| {
                let item = |(key, value, metadata): (String, Vec<u8>, _)| v1::EventItem {
                    event_item_key: key,
                    event_item_value: value.into(),
                    value_metadata: metadata,
                };
                v1::Event {
                    time_series_id: series,
                    event_time: Some(prost_types::Timestamp { seconds: time.0, nanos: time.1 }),
                    event_id: id,
                    event_items: items.into_iter().map(item).collect(),
                    continues,
                }
            },
        )
    }

    fn read(wire: &v1::Event) -> Event {
        let time = wire.event_time.unwrap();
        let item = |item: &v1::EventItem| Item {
            key: item.event_item_key.clone().into(),
            value: item.event_item_value.clone(),
            metadata: engine::metadata::encode(&item.value_metadata).unwrap(),
        };
        Event {
            series: SeriesId::new(&wire.time_series_id).unwrap(),
            time: Timestamp::from_parts(time.seconds, time.nanos).unwrap(),
            event_id: EventId::from_stored(wire.event_id.clone().into()),
            items: wire.event_items.iter().map(item).collect(),
            continues: wire.continues,
        }
    }

    proptest! {
        /// Byte for byte what the ordinary message would be.
        #[test]
        fn a_page_is_encoded_as_its_message(records in prop::collection::vec(events(), 0..5), token in "[a-z]{0,9}") {
            let rest = v1::ReadEventRecordsResponse { next_page_token: token, ..Default::default() };
            let page = EncodedPage::new(&records.iter().map(read).collect::<Vec<_>>(), rest.clone()).unwrap();
            let message = v1::ReadEventRecordsResponse { records, ..rest };
            prop_assert_eq!(page.encoded_len(), message.encoded_len());
            prop_assert_eq!(page.encode_to_vec(), message.encode_to_vec());
        }
    }
}
