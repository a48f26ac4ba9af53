//! Reads on the wire: what a request means, what is refused, and a page there and back.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{Cost, Event, Item, Partial, Reason, Resume};
use model::{EventId, Interval, ItemKey, Position, RowView, RowsBuilder, Timestamp};
use prost::Message;
use prost_types::{Duration as WireDuration, Timestamp as WireTime};

use super::*;
use crate::token::TokenKey;

const NOW: i64 = 1_774_700_000_000_000_000;

fn keys() -> TokenKeys {
    TokenKeys { current: TokenKey { id: 1, secret: [9; 32] }, previous: None }
}

/// A request that asks for nothing special.
fn wire() -> v1::ReadEventRecordsRequest {
    v1::ReadEventRecordsRequest {
        namespace: "orders".to_owned(),
        time_series_id: "profileId:123".to_owned(),
        time_interval: Some(v1::TimeInterval {
            start: Some(WireTime { seconds: 10, nanos: 0 }),
            end: Some(WireTime { seconds: 20, nanos: 0 }),
        }),
        ..v1::ReadEventRecordsRequest::default()
    }
}

fn filter(key: &str) -> v1::EventFilter {
    v1::EventFilter { match_event_item_key: key.to_owned(), match_event_item_value: Bytes::from_static(b"v") }
}

type Change = fn(&mut v1::ReadEventRecordsRequest);

fn read(change: impl FnOnce(&mut v1::ReadEventRecordsRequest)) -> Result<Read> {
    let mut wire = wire();
    change(&mut wire);
    read_request(wire, &keys(), NOW)
}

#[test]
fn absent_fields_have_their_meaning() {
    let request = read(|_| ()).unwrap().request;
    assert_eq!(request.namespace.as_str(), "orders");
    assert_eq!(request.series, [SeriesId::new("profileId:123").unwrap()]);
    assert_eq!(request.interval, Interval::new(10_000_000_000, 20_000_000_000).unwrap());
    assert_eq!((request.page_records, request.order), (100, Order::NewestFirst));
    assert_eq!((request.total_limit, request.resume, request.max_latency), (None, None, None));
    assert_eq!(request.query, None);
}

#[test]
fn fields_that_are_set_are_kept() {
    let request = read(|wire| {
        wire.event_filters = vec![filter("k")];
        wire.page_size = 10_000;
        wire.total_record_limit = i64::MAX;
        wire.order = v1::Order::OldestFirst.into();
        wire.max_latency = Some(WireDuration { seconds: 0, nanos: 1 });
    })
    .unwrap()
    .request;
    let filter = SearchQuery::Equals { key: "k".to_owned(), value: Bytes::from_static(b"v") };
    assert_eq!(request.query, Some(SearchQuery::And(vec![filter])));
    assert_eq!((request.page_records, request.order), (10_000, Order::OldestFirst));
    assert_eq!(request.total_limit, Some(9_223_372_036_854_775_807));
    assert_eq!(request.max_latency, Some(Duration::from_nanos(1)));
    let newest = read(|wire| wire.order = v1::Order::NewestFirst.into()).unwrap();
    assert_eq!(newest.request.order, Order::NewestFirst);
}

#[test]
fn bad_fields_are_named_and_say_what_to_do() {
    let cases: [(Change, &str); 13] = [
        (
            |wire| wire.namespace.clear(),
            "namespace: namespace name is not valid: it is empty; give it at least one character",
        ),
        (
            |wire| wire.time_series_id = "s".repeat(513),
            "time_series_id: series id is not valid: it has 513 bytes, the limit is 512; shorten it",
        ),
        (|wire| wire.time_interval = None, "time_interval: is missing; send start and end"),
        (|wire| wire.page_size = -1, "page_size: is -1; send 1 to 10000, or 0 for 100"),
        (|wire| wire.page_size = 10_001, "page_size: is 10001; send 1 to 10000, or 0 for 100"),
        (
            |wire| wire.total_record_limit = -1,
            "total_record_limit: is -1; send a number of events, or 0 for no limit",
        ),
        (|wire| wire.event_filters = vec![filter("k"); 65], "event_filters: has 65 filters; send at most 64"),
        (
            |wire| wire.event_filters = vec![filter("k"), filter("")],
            "event_filters[1].match_event_item_key: has 0 bytes, no item has such a key; send 1 to 256",
        ),
        (
            |wire| wire.event_filters = vec![filter(&"k".repeat(257))],
            "event_filters[0].match_event_item_key: has 257 bytes, no item has such a key; send 1 to 256",
        ),
        (|wire| wire.order = 3, "order: 3 is not known; send NEWEST_FIRST or OLDEST_FIRST"),
        (|wire| wire.order = -1, "order: -1 is not known; send NEWEST_FIRST or OLDEST_FIRST"),
        (
            |wire| wire.max_latency = Some(WireDuration { seconds: -1, nanos: 0 }),
            "max_latency: is negative; send 0s or more",
        ),
        (
            |wire| wire.max_latency = Some(WireDuration::default()),
            "max_latency: is 0, nothing can be read in that; send more, or leave it out for slo.read_max",
        ),
    ];
    for (change, expect) in cases {
        let error = read(change).unwrap_err();
        assert_eq!((error.reason(), error.to_string().as_str()), (Reason::FieldInvalid, expect));
    }
    assert!(read(|wire| wire.event_filters = vec![filter("k"); 64]).is_ok());
}

fn event(event_id: &[u8], item: Item<'_>) -> Event {
    let mut rows = RowsBuilder::default();
    rows.push(RowView {
        event_time: Timestamp::from_nanos(15_000_000_007).unwrap(),
        event_id,
        item_key: item.key,
        write_time: 0,
        value: item.value,
        metadata: item.metadata,
    });
    Event::new(SeriesId::new("profileId:123").unwrap(), rows, true).unwrap()
}

fn item<'a>(key: &'a [u8], metadata: &'a [u8]) -> Item<'a> {
    Item { key, value: b"\xff\x00", metadata }
}

fn page(events: Vec<Event>, next: Option<Resume>) -> ReadPage {
    let cost = Cost {
        time_taken: Duration::from_secs(1),
        bytes_read: u64::MAX,
        partitions: 4,
        origins: 1,
        targets: 3,
        fallbacks: 1,
        slices: 2,
        blocked_partitions: 3,
    };
    let complete = Interval::new(NOW, NOW + 1).unwrap();
    let partial = Some(Partial { reason: "READ_MAX", complete });
    ReadPage { events, next, partial, retention_truncated: true, partitions: Vec::new(), cost }
}

fn answer(page: ReadPage) -> Result<v1::ReadEventRecordsResponse> {
    let asked = read(|_| ()).unwrap();
    shown(&asked, page)
}

fn shown(asked: &Read, page: ReadPage) -> Result<v1::ReadEventRecordsResponse> {
    let encoded = read_response(asked, page, &keys(), NOW)?;
    Ok(v1::ReadEventRecordsResponse::decode(encoded.encode_to_vec().as_slice()).unwrap())
}

#[test]
fn a_page_shows_its_events_and_what_they_cost() {
    let facts = BTreeMap::from([("encoding".to_owned(), "gzip".to_owned())]);
    let encoded = engine::metadata::encode(&facts).unwrap();
    let stored = item(b"k", &encoded);
    let wire = answer(page(vec![event(b"e", stored)], None)).unwrap();
    let record = v1::Event {
        time_series_id: "profileId:123".to_owned(),
        event_time: Some(WireTime { seconds: 15, nanos: 7 }),
        event_id: "e".to_owned(),
        event_items: vec![v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: Bytes::from_static(b"\xff\x00"),
            value_metadata: facts,
        }],
        continues: true,
    };
    assert_eq!(wire.records, [record]);
    assert_eq!((wire.next_page_token.as_str(), wire.retention_truncated), ("", true));
    let context = v1::ResponseContext {
        namespace: "orders".to_owned(),
        time_taken: Some(WireDuration { seconds: 1, nanos: 0 }),
        bytes_read: i64::MAX,
        partitions: 4,
        slices: 2,
        routes: Some(v1::Routes { origin: 1, target: 3 }),
        fallbacks: 1,
        partial: true,
        blocked_partitions: 3,
    };
    assert_eq!(wire.response_context, [context]);
    let time = |nanos| Some(WireTime { seconds: 1_774_700_000, nanos });
    let complete_interval = Some(v1::TimeInterval { start: time(0), end: time(1) });
    assert_eq!(wire.partial, Some(v1::Partial { reason: "READ_MAX".to_owned(), complete_interval }));
}

#[test]
fn a_page_says_how_its_records_follow_each_other() {
    let mut asked = read(|_| ()).unwrap();
    let order = |asked: &Read| shown(asked, page(vec![], None)).unwrap().record_order();
    assert_eq!(order(&asked), v1::RecordOrder::ByTime);
    asked.request.series.push(SeriesId::new("t").unwrap());
    assert_eq!(order(&asked), v1::RecordOrder::ByTime);
    asked.request.series.clear();
    assert_eq!(order(&asked), v1::RecordOrder::ByPartition);
}

#[test]
fn the_next_page_goes_on_where_this_one_ended() {
    let after = Position {
        event_time: Timestamp::from_nanos(15_000_000_007).unwrap(),
        event_id: EventId::new("e").unwrap(),
        series: SeriesId::new("profileId:123").unwrap(),
        item_key: ItemKey::new("k").unwrap(),
    };
    let resume = Resume { after, remaining: Some(5), scanned_bytes: vec![7, 0], event_bucket: Some(1) };
    let token = answer(page(vec![], Some(resume.clone()))).unwrap().next_page_token;
    let next = read(|wire| {
        wire.page_token = token.clone();
        wire.page_size = 7;
        wire.max_latency = Some(WireDuration { seconds: 3, nanos: 0 });
    });
    assert_eq!(next.unwrap().request.resume, Some(resume));
    let other = read(|wire| {
        wire.page_token = token;
        wire.time_series_id = "profileId:124".to_owned();
    });
    assert_eq!(other.unwrap_err().reason(), Reason::PageTokenInvalid);
}

#[test]
fn damaged_records_are_data_loss_and_not_shown() {
    for (id, stored) in [
        (&b"\xff"[..], item(b"k", b"")),
        (&b"e"[..], item(b"\xff", b"")),
        (&b"e"[..], item(b"k", b"\xff\xff")),
    ] {
        let error = answer(page(vec![event(id, stored)], None)).unwrap_err();
        assert_eq!(error.reason(), Reason::ChecksumMismatch, "{error}");
    }
}
