//! Events as rows.

use api::v1;

use super::json::{Json, base64, event_as_text};
use super::list::Record;
use super::value;
use crate::failure::Failure;

/// An event, and whether its values are wanted as text where a program reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRecord<'a> {
    pub event: &'a v1::Event,
    pub text: bool,
}

impl Record for EventRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["TIME", "EVENT", "ITEMS"];
    const FIELDS: &'static [&'static str] =
        &["time_series_id", "event_time", "event_id", "event_item_key", "event_item_value"];

    fn row(&self) -> Vec<String> {
        let pair = |item: &v1::EventItem| {
            format!("{}={}", value::printable(&item.event_item_key), value::value(&item.event_item_value))
        };
        let mut items: Vec<String> = self.event.event_items.iter().map(pair).collect();
        if self.event.continues {
            items.push("(goes on)".to_owned());
        }
        let id = value::printable(&self.event.event_id).into_owned();
        vec![value::time(self.event.event_time), id, items.join(" ")]
    }

    /// One line an item: keys differ from event to event, so they cannot be columns of a stream.
    fn lines(&self) -> Vec<Vec<String>> {
        let line = |item: &v1::EventItem| {
            let bytes = &item.event_item_value;
            let text = self.text.then(|| std::str::from_utf8(bytes).ok()).flatten();
            vec![
                self.event.time_series_id.clone(),
                value::time(self.event.event_time),
                self.event.event_id.clone(),
                item.event_item_key.clone(),
                text.map_or_else(|| base64(bytes), str::to_owned),
            ]
        };
        self.event.event_items.iter().map(line).collect()
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        if self.text { event_as_text(self.event) } else { json.message(self.event) }
    }
}

/// An event among those of other series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundRecord<'a>(pub EventRecord<'a>);

impl Record for FoundRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["TIME", "SERIES", "EVENT", "ITEMS"];
    const FIELDS: &'static [&'static str] = EventRecord::FIELDS;

    fn row(&self) -> Vec<String> {
        let mut row = self.0.row();
        row.insert(1, value::printable(&self.0.event.time_series_id).into_owned());
        row
    }

    fn lines(&self) -> Vec<Vec<String>> {
        self.0.lines()
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        self.0.json(json)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An event of series `s` in May.
    pub(crate) fn event(id: &str, items: &[(&str, &'static [u8])]) -> v1::Event {
        let item = |(key, value): &(&str, &'static [u8])| v1::EventItem {
            event_item_key: (*key).to_owned(),
            event_item_value: bytes::Bytes::from_static(value),
            ..v1::EventItem::default()
        };
        v1::Event {
            time_series_id: "s".to_owned(),
            event_time: Some(prost_types::Timestamp { seconds: 1_778_542_920, nanos: 500_000_000 }),
            event_id: id.to_owned(),
            event_items: items.iter().map(item).collect(),
            continues: false,
        }
    }

    #[test]
    fn a_row_shows_text_and_marks_what_goes_on() {
        let mut event = event("a\tb", &[("k", b"v 1"), ("b", b"\xff\x01")]);
        event.continues = true;
        let expect = ["2026-05-11T23:42:00.500Z", "a\\tb", "k=v 1 b=0xff01 (goes on)"];
        assert_eq!(EventRecord { event: &event, text: false }.row(), expect);
    }

    #[test]
    fn csv_has_a_line_for_each_item() {
        let event = event("7", &[("k", b"ios"), ("b", b"\xff")]);
        let values = |text| {
            EventRecord { event: &event, text }.lines().into_iter().map(|mut line| line.pop().unwrap())
        };
        assert_eq!(values(false).collect::<Vec<_>>(), ["aW9z", "/w=="]);
        assert_eq!(values(true).collect::<Vec<_>>(), ["ios", "/w=="]);
        let first = EventRecord { event: &event, text: true }.lines().remove(0);
        assert_eq!(first, ["s", "2026-05-11T23:42:00.500Z", "7", "k", "ios"]);
    }
}
