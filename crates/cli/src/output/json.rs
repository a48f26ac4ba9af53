//! Messages of the contract as JSON, and events with their values as plain text.

use std::collections::BTreeMap;

use api::json::Codec;
use api::v1;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::{Message, Name};

use super::value;
use crate::failure::Failure;

/// Shows messages as the API itself does. Takes milliseconds to make, so it is made where JSON is asked for.
#[derive(Debug)]
pub(crate) struct Json {
    codec: Codec,
}

impl Json {
    /// From the contract's descriptors.
    pub(crate) fn new() -> Result<Self, Failure> {
        Codec::new(api::DESCRIPTORS)
            .map(|codec| Self { codec })
            .map_err(|error| Failure::Other(error.to_string()))
    }

    /// A message from proto3 JSON; the error says which field is wrong.
    pub(crate) fn read<M: Message + Name + Default>(&self, json: &str) -> Result<M, String> {
        let bytes = self.codec.message_from_json(&M::full_name(), json.as_bytes());
        let bytes = bytes.map_err(|error| error.to_string())?;
        M::decode(bytes.as_slice()).map_err(|error| error.to_string())
    }

    /// A message as proto3 JSON, on one line.
    pub(crate) fn message<M: Message + Name>(&self, message: &M) -> Result<Vec<u8>, Failure> {
        self.codec
            .message_to_json(&M::full_name(), &message.encode_to_vec())
            .map_err(|error| Failure::Other(error.to_string()))
    }
}

/// An event as JSON with the names of the contract and its values as text. A value that is not UTF-8 keeps its base64,
/// under another name, so that the two can be told apart.
pub(crate) fn event_as_text(event: &v1::Event) -> Result<Vec<u8>, Failure> {
    let items = event.event_items.iter().map(|item| {
        let text = std::str::from_utf8(&item.event_item_value).ok();
        TextItem {
            event_item_key: &item.event_item_key,
            event_item_value: text,
            event_item_value_base64: text.is_none().then(|| base64(&item.event_item_value)),
            value_metadata: item
                .value_metadata
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect(),
        }
    });
    let event = TextEvent {
        time_series_id: &event.time_series_id,
        event_time: value::time(event.event_time),
        event_id: &event.event_id,
        event_items: items.collect(),
        continues: event.continues,
    };
    serde_json::to_vec(&event).map_err(|error| Failure::Other(format!("an event cannot be shown: {error}")))
}

/// Bytes as JSON and CSV carry them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[derive(serde::Serialize)]
struct TextEvent<'a> {
    time_series_id: &'a str,
    event_time: String,
    event_id: &'a str,
    event_items: Vec<TextItem<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    continues: bool,
}

#[derive(serde::Serialize)]
struct TextItem<'a> {
    event_item_key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_item_value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_item_value_base64: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    value_metadata: BTreeMap<&'a str, &'a str>,
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::event;
    use super::*;

    #[test]
    fn a_message_is_shown_as_the_api_shows_it() {
        let json = Json::new().unwrap().message(&event("7", &[("k", b"ios")])).unwrap();
        let expect = concat!(
            r#"{"time_series_id":"s","event_time":"2026-05-11T23:42:00.500Z","event_id":"7","#,
            r#""event_items":[{"event_item_key":"k","event_item_value":"aW9z"}]}"#
        );
        assert_eq!(String::from_utf8(json).unwrap(), expect);
    }

    #[test]
    fn values_as_text_and_bytes_under_a_name_of_their_own() {
        let mut event = event("7", &[("k", b"i\"os"), ("b", b"\xff")]);
        event.continues = true;
        event.event_items[0].value_metadata.insert("encoding".to_owned(), "none".to_owned());
        let expect = concat!(
            r#"{"time_series_id":"s","event_time":"2026-05-11T23:42:00.500Z","event_id":"7","event_items":["#,
            r#"{"event_item_key":"k","event_item_value":"i\"os","value_metadata":{"encoding":"none"}},"#,
            r#"{"event_item_key":"b","event_item_value_base64":"/w=="}],"continues":true}"#
        );
        assert_eq!(String::from_utf8(event_as_text(&event).unwrap()).unwrap(), expect);
    }

    #[test]
    fn times_are_written_as_the_codec_writes_them() {
        let json = Json::new().unwrap();
        for nanos in [0, 1, 1_000, 1_000_000, 120_000_000, 999_999_999] {
            let time = prost_types::Timestamp { seconds: 1_778_542_920, nanos };
            let event = v1::Event { event_time: Some(time), ..v1::Event::default() };
            let shown = format!("{{\"event_time\":\"{}\"}}", value::time(Some(time)));
            assert_eq!(json.message(&event).unwrap(), shown.as_bytes());
        }
    }
}
