//! Writes: the request with its events as they came, and the answer with its refusals.

use engine::{Cost, EVENTS_MAX, Error, EventInput, ItemInput, Reason, Result, WriteAnswer, WriteRequest};
use model::NamespaceName;

use super::namespace::namespace_name;
use super::time::duration_to_wire;
use crate::v1;

/// The engine's request. Events are not judged here: the engine refuses them one by one, so that none is refused for
/// its neighbour.
pub fn write_request(wire: v1::WriteEventRecordsRequest) -> Result<WriteRequest> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let count = wire.events.len();
    if count > EVENTS_MAX {
        let message =
            format!("events: {count} are too many for one request; send at most {EVENTS_MAX} at a time");
        return Err(Error::new(Reason::RangeTooWide, message));
    }
    Ok(WriteRequest { namespace, events: wire.events.into_iter().map(event_from_wire).collect() })
}

fn event_from_wire(wire: v1::Event) -> EventInput {
    EventInput {
        series: wire.time_series_id,
        time: wire.event_time.map(|time| (time.seconds, time.nanos)),
        event_id: wire.event_id,
        items: wire.event_items.into_iter().map(item_from_wire).collect(),
    }
}

fn item_from_wire(wire: v1::EventItem) -> ItemInput {
    ItemInput { key: wire.event_item_key, value: wire.event_item_value, metadata: wire.value_metadata }
}

/// The answer to a write to `namespace`.
pub fn write_response(namespace: &NamespaceName, answer: WriteAnswer) -> v1::WriteEventRecordsResponse {
    let results = answer.refused.into_iter().map(|refusal| v1::WriteResult {
        index: count(refusal.index),
        reason: refusal.reason.as_str().to_owned(),
        message: refusal.message,
    });
    v1::WriteEventRecordsResponse {
        results: results.collect(),
        accepted: count(answer.accepted),
        response_context: vec![context(namespace, answer.cost)],
    }
}

/// What an answer cost. The routes are the reader's to add.
pub(super) fn context(namespace: &NamespaceName, cost: Cost) -> v1::ResponseContext {
    v1::ResponseContext {
        namespace: namespace.as_str().to_owned(),
        time_taken: Some(duration_to_wire(cost.time_taken)),
        bytes_read: signed(cost.bytes_read),
        partitions: signed(cost.partitions),
        slices: signed(cost.slices),
        blocked_partitions: signed(cost.blocked_partitions),
        ..v1::ResponseContext::default()
    }
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use bytes::Bytes;
    use engine::Refusal;

    use super::*;

    fn metadata() -> BTreeMap<String, String> {
        BTreeMap::from([("encoding".to_owned(), "gzip".to_owned())])
    }

    #[test]
    fn events_pass_as_they_came() {
        let item = v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: Bytes::from_static(b"\xff"),
            value_metadata: metadata(),
        };
        let whole = v1::Event {
            time_series_id: "s".to_owned(),
            event_time: Some(prost_types::Timestamp { seconds: -3, nanos: -7 }),
            event_id: "e".to_owned(),
            event_items: vec![item],
            continues: true,
        };
        let events = vec![whole, v1::Event::default()];
        let request = write_request(v1::WriteEventRecordsRequest { namespace: "orders".to_owned(), events });
        let request = request.unwrap();
        assert_eq!(request.namespace.as_str(), "orders");
        let item =
            ItemInput { key: "k".to_owned(), value: Bytes::from_static(b"\xff"), metadata: metadata() };
        let event = EventInput {
            series: "s".to_owned(),
            time: Some((-3, -7)),
            event_id: "e".to_owned(),
            items: vec![item],
        };
        assert_eq!(request.events, [event, EventInput::default()]);
    }

    #[test]
    fn bad_requests_say_what_to_do() {
        let refusal = |namespace: &str, events| {
            let namespace = namespace.to_owned();
            let events = vec![v1::Event::default(); events];
            write_request(v1::WriteEventRecordsRequest { namespace, events }).unwrap_err()
        };
        let many = refusal("orders", 1_001);
        assert_eq!(many.reason(), Reason::RangeTooWide);
        assert_eq!(
            many.to_string(),
            "events: 1001 are too many for one request; send at most 1000 at a time"
        );
        let unnamed = refusal("", 1);
        assert_eq!(unnamed.reason(), Reason::FieldInvalid);
        assert!(unnamed.to_string().starts_with("namespace: "), "{unnamed}");
        let full = vec![v1::Event::default(); 1_000];
        let full = v1::WriteEventRecordsRequest { namespace: "orders".to_owned(), events: full };
        assert_eq!(write_request(full).unwrap().events.len(), 1_000);
    }

    #[test]
    fn refusals_keep_their_place() {
        let refused =
            vec![Refusal { index: 7, reason: Reason::EventTooOld, message: "too old; send it".to_owned() }];
        let took = Duration::from_millis(1_250);
        let cost = Cost { time_taken: took, partitions: 2, slices: 1, ..Cost::default() };
        let answer = WriteAnswer { refused, accepted: 9, cost };
        let wire = write_response(&NamespaceName::new("orders").unwrap(), answer);
        let result = v1::WriteResult {
            index: 7,
            reason: "EVENT_TOO_OLD".to_owned(),
            message: "too old; send it".to_owned(),
        };
        assert_eq!((wire.results, wire.accepted), (vec![result], 9));
        let context = v1::ResponseContext {
            namespace: "orders".to_owned(),
            time_taken: Some(prost_types::Duration { seconds: 1, nanos: 250_000_000 }),
            partitions: 2,
            slices: 1,
            ..v1::ResponseContext::default()
        };
        assert_eq!(wire.response_context, [context]);
    }
}
