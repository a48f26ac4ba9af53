//! One event of a request: is it well formed, within the limits and within the window? Pure.

use std::collections::BTreeSet;

use model::row::{METADATA_BYTES_MAX, VALUE_BYTES_MAX};
use model::{EventId, ItemKey, Row, RowKey, SeriesId, Timestamp};

use super::window::Window;
use crate::{Error, EventInput, ITEMS_MAX, ItemInput, Reason, Result, metadata};

/// An event that may be written, as rows.
#[derive(Debug)]
pub(crate) struct ValidEvent {
    pub(crate) series: SeriesId,
    pub(crate) time: Timestamp,
    pub(crate) event_id: EventId,
    pub(crate) rows: Vec<Row>,
}

/// Checks one event and turns it into rows.
pub(crate) fn validate(event: EventInput, window: Window<'_>, write_time: i64) -> Result<ValidEvent> {
    let series = SeriesId::new(&event.series).map_err(|error| sized("time_series_id", &error))?;
    let event_id = EventId::new(event.event_id).map_err(|error| sized("event_id", &error))?;
    let (seconds, nanos) = event.time.ok_or_else(|| Error::field("event_time", "is missing; send one"))?;
    if !(0..1_000_000_000).contains(&nanos) {
        return Err(Error::field("event_time", "has nanoseconds outside 0 to 999999999; send a valid time"));
    }
    let time = Timestamp::from_parts(seconds, nanos).map_err(|error| Error::field("event_time", error))?;
    window.check(time)?;
    let count = event.items.len();
    if count == 0 {
        return Err(Error::field("event_items", "is empty; send at least one item"));
    }
    if count > ITEMS_MAX {
        let message =
            format!("the event has {count} items, the limit is {ITEMS_MAX}; split it into several events");
        return Err(Error::new(Reason::EventTooLarge, message));
    }
    let mut keys = BTreeSet::new();
    let mut rows = Vec::with_capacity(count);
    for item in event.items {
        if !keys.insert(item.key.clone()) {
            let problem = format!("has the key `{}` twice; keys of one event must differ", item.key);
            return Err(Error::field("event_items", problem));
        }
        rows.push(row(item, time, &event_id, write_time)?);
    }
    Ok(ValidEvent { series, time, event_id, rows })
}

fn row(item: ItemInput, event_time: Timestamp, event_id: &EventId, write_time: i64) -> Result<Row> {
    let item_key = ItemKey::new(item.key).map_err(|error| sized("event_item_key", &error))?;
    let metadata = metadata::encode(&item.metadata)?;
    let parts = [
        ("event_item_value", item.value.len(), VALUE_BYTES_MAX),
        ("value_metadata", metadata.len(), METADATA_BYTES_MAX),
    ];
    if let Some((field, bytes, max)) = parts.into_iter().find(|(_, bytes, max)| bytes > max) {
        let message =
            format!("{field} has {bytes} bytes, the limit is {max}; store it elsewhere or cut it up");
        return Err(Error::new(Reason::EventTooLarge, message));
    }
    let key = RowKey { event_time, event_id: event_id.clone(), item_key };
    Ok(Row { key, write_time, value: item.value, metadata })
}

fn sized(field: &str, error: &model::Error) -> Error {
    Error::field(field, error)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::NamespaceName;

    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::{Dataset, NamespaceRecord};
    use crate::view::Standing;

    const NOW: i64 = 1_774_656_000_000_000_000;

    fn dataset() -> Dataset {
        let record = NamespaceRecord::new(1, NOW, NamespaceSpec::default());
        Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap()
    }

    fn checked(event: EventInput, write_time: i64) -> Result<ValidEvent> {
        validate(event, Window::of(&dataset(), Standing::Leased, NOW), write_time)
    }

    fn good() -> EventInput {
        let item = ItemInput { key: "k".to_owned(), value: Bytes::from_static(b"v"), ..ItemInput::default() };
        EventInput {
            series: "s".to_owned(),
            time: Some((NOW / 1_000_000_000, 5)),
            event_id: "e".to_owned(),
            items: vec![item],
        }
    }

    fn refusal(change: impl FnOnce(&mut EventInput)) -> (Reason, String) {
        let mut event = good();
        change(&mut event);
        let error = checked(event, 1).unwrap_err();
        (error.reason(), error.to_string())
    }

    #[test]
    fn a_good_event_becomes_rows() {
        let event = checked(good(), 7).unwrap();
        assert_eq!(event.time.nanos(), NOW + 5);
        assert_eq!(event.rows.len(), 1);
        assert_eq!(event.rows[0].write_time, 7);
    }

    #[test]
    fn every_bad_part_is_named_with_what_to_do() {
        let check = |change: fn(&mut EventInput), reason: Reason, start: &str| {
            let (found, message) = refusal(change);
            assert_eq!(found, reason, "{message}");
            assert!(message.starts_with(start), "{message}");
        };
        check(|event| event.series.clear(), Reason::FieldInvalid, "time_series_id: ");
        check(|event| event.event_id = "e".repeat(129), Reason::FieldInvalid, "event_id: ");
        check(|event| event.time = None, Reason::FieldInvalid, "event_time: is missing");
        check(|event| event.time = Some((-1, 0)), Reason::FieldInvalid, "event_time: ");
        check(|event| event.time = Some((i64::MAX, 0)), Reason::FieldInvalid, "event_time: ");
        check(|event| event.time = Some((5, -1)), Reason::FieldInvalid, "event_time: has nanoseconds");
        check(|event| event.items.clear(), Reason::FieldInvalid, "event_items: is empty");
        check(
            |event| event.items.push(event.items[0].clone()),
            Reason::FieldInvalid,
            "event_items: has the key `k` twice",
        );
        check(|event| event.items[0].key.clear(), Reason::FieldInvalid, "event_item_key: ");
        check(
            |event| event.items[0].value = vec![0; VALUE_BYTES_MAX + 1].into(),
            Reason::EventTooLarge,
            "event_item_value has",
        );
        check(
            |event| event.items = vec![event.items[0].clone(); 65],
            Reason::EventTooLarge,
            "the event has 65 items",
        );
    }
}
