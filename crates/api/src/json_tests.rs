//! JSON bodies as published, in both spellings, and what is refused.

use super::*;
use crate::{DESCRIPTORS, admin, v1};

const WRITE: &str = "braid.v1.TimeSeriesService.WriteEventRecordsSync";
const READ: &str = "braid.v1.TimeSeriesService.ReadEventRecords";
const UPDATE: &str = "braid.admin.v1.NamespaceService.UpdateNamespace";

fn codec() -> Codec {
    Codec::new(DESCRIPTORS).unwrap()
}

fn request<M: Message + Default>(method: &str, json: &str) -> M {
    let bytes = codec().request_from_json(method, json.as_bytes()).unwrap();
    M::decode(bytes.as_slice()).unwrap()
}

#[test]
fn a_write_is_read_in_both_spellings() {
    let camel = r#"{"namespace": "orders", "events": [{
        "timeSeriesId": "profile100", "eventTime": "2024-10-03T21:24:23.988Z", "eventId": "550e8400",
        "eventItems": [{"eventItemKey": "deviceType", "eventItemValue": "aW9z"},
                       {"eventItemKey": "n", "eventItemValue": "__8", "valueMetadata": {"encoding": "gzip"}}]}]}"#;
    let snake = r#"{"namespace": "orders", "events": [{
        "time_series_id": "profile100", "event_time": "2024-10-03T21:24:23.988Z", "event_id": "550e8400",
        "event_items": [{"event_item_key": "deviceType", "event_item_value": "aW9z"},
                        {"event_item_key": "n", "event_item_value": "//8=", "value_metadata": {"encoding": "gzip"}}]}]}"#;
    let write: v1::WriteEventRecordsRequest = request(WRITE, camel);
    assert_eq!(write, request(WRITE, snake));
    let event = &write.events[0];
    assert_eq!((event.time_series_id.as_str(), event.event_id.as_str()), ("profile100", "550e8400"));
    assert_eq!(event.event_time, Some(prost_types::Timestamp { seconds: 1_727_990_663, nanos: 988_000_000 }));
    assert_eq!(event.event_items[0].event_item_value.as_ref(), b"ios");
    assert_eq!(event.event_items[1].event_item_value.as_ref(), b"\xff\xff");
    assert_eq!(event.event_items[1].value_metadata["encoding"], "gzip");
}

#[test]
fn a_read_is_read_in_both_spellings() {
    let camel = r#"{"namespace": "orders", "timeSeriesId": "profile100",
        "timeInterval": {"start": "2024-10-02T21:00:00Z", "end": "2024-10-03T21:00:00.000001Z"},
        "eventFilters": [{"matchEventItemKey": "deviceType", "matchEventItemValue": "aW9z"}],
        "pageSize": 100, "totalRecordLimit": 1000, "order": "OLDEST_FIRST", "maxLatency": "0.5s"}"#;
    let mixed = r#"{"namespace": "orders", "time_series_id": "profile100",
        "time_interval": {"start": "2024-10-02T21:00:00Z", "end": "2024-10-03T21:00:00.000001Z"},
        "event_filters": [{"match_event_item_key": "deviceType", "matchEventItemValue": "aW9z"}],
        "page_size": "100", "total_record_limit": "1000", "order": 2, "max_latency": "0.500s"}"#;
    let read: v1::ReadEventRecordsRequest = request(READ, camel);
    assert_eq!(read, request(READ, mixed));
    assert_eq!((read.page_size, read.total_record_limit), (100, 1_000));
    assert_eq!(read.order(), v1::Order::OldestFirst);
    assert_eq!(read.max_latency, Some(prost_types::Duration { seconds: 0, nanos: 500_000_000 }));
    let end = read.time_interval.unwrap().end.unwrap();
    assert_eq!((end.seconds, end.nanos), (1_727_989_200, 1_000));
    assert_eq!(read.event_filters[0].match_event_item_value.as_ref(), b"ios");
}

#[test]
fn an_update_names_its_fields() {
    let update: admin::v1::UpdateNamespaceRequest = request(
        UPDATE,
        r#"{"namespace": {"name": "orders", "shape": {"secondsPerBucket": 600}},
            "updateMask": "shape.secondsPerBucket,acceptLimit"}"#,
    );
    let snake =
        codec().request_from_json(UPDATE, br#"{"update_mask": "shape.seconds_per_bucket"}"#).unwrap_err();
    let expect = "update_mask: invalid field mask at line 1 column 42; in JSON its paths are written as in \
                  shape.secondsPerBucket";
    assert_eq!(snake.to_string(), expect);
    assert_eq!(update.update_mask.unwrap().paths, ["shape.seconds_per_bucket", "accept_limit"]);
}

#[test]
fn wrong_bodies_are_refused_by_field() {
    let cases = [
        (r#"{"keyspace": "orders"}"#, "request body: unrecognized field name 'keyspace'"),
        (
            r#"{"timeInterval": {"begin": "2024-10-02T21:00:00Z"}}"#,
            "timeInterval: unrecognized field name 'begin'",
        ),
        (r#"{"timeInterval": {"start": "yesterday"}}"#, "timeInterval.start: "),
        (r#"{"page_size": "many"}"#, "page_size: "),
        (r#"{"page_size": 3000000000}"#, "page_size: "),
        (r#"{"order": "SIDEWAYS"}"#, "order: "),
        (r#"{"eventFilters": [{"matchEventItemValue": "*"}]}"#, "eventFilters[0].matchEventItemValue: "),
        (r#"{"namespace": 7}"#, "namespace: "),
        (r#"{"namespace": "a"} {}"#, "request body: "),
        (r#"{"namespace": "a""#, "request body: "),
        ("[]", "request body: "),
        ("", "request body: "),
        ("\u{0}", "request body: "),
    ];
    for (body, expect) in cases {
        let error = codec().request_from_json(READ, body.as_bytes()).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.reason(), Reason::FieldInvalid, "{message}");
        assert!(message.starts_with(expect), "{body}: {message}");
        assert!(message.ends_with("send the method's request as proto3 JSON"), "{message}");
    }
    let long = format!("{{\"{}\": 1}}", "é".repeat(100_000));
    let message = codec().request_from_json(READ, long.as_bytes()).unwrap_err().to_string();
    assert!(message.len() < 1_000 && message.contains("éé…; send"), "{message}");
    let deep = format!("{{\"timeInterval\": {}", "[".repeat(100_000));
    assert!(codec().request_from_json(READ, deep.as_bytes()).is_err());
    let unknown = codec().request_from_json("braid.v1.TimeSeriesService.Drop", b"{}").unwrap_err();
    assert!(unknown.to_string().starts_with("method: `braid.v1.TimeSeriesService.Drop`"), "{unknown}");
}

#[test]
fn an_answer_has_the_published_names() {
    let answer = v1::ReadEventRecordsResponse {
        records: vec![v1::Event {
            time_series_id: "profile100".to_owned(),
            event_time: Some(prost_types::Timestamp { seconds: 1_727_990_663, nanos: 988_000_000 }),
            event_id: "e".to_owned(),
            event_items: vec![v1::EventItem {
                event_item_key: "deviceType".to_owned(),
                event_item_value: bytes::Bytes::from_static(b"ios"),
                ..v1::EventItem::default()
            }],
            continues: false,
        }],
        next_page_token: "t".to_owned(),
        response_context: vec![v1::ResponseContext {
            namespace: "orders".to_owned(),
            time_taken: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
            bytes_read: 1 << 60,
            ..v1::ResponseContext::default()
        }],
        ..v1::ReadEventRecordsResponse::default()
    };
    let json = codec().response_to_json(READ, &answer.encode_to_vec()).unwrap();
    let expect = concat!(
        r#"{"records":[{"time_series_id":"profile100","event_time":"2024-10-03T21:24:23.988Z","event_id":"e","#,
        r#""event_items":[{"event_item_key":"deviceType","event_item_value":"aW9z"}]}],"next_page_token":"t","#,
        r#""response_context":[{"namespace":"orders","time_taken":"1s","bytes_read":"1152921504606846976"}]}"#,
    );
    assert_eq!(String::from_utf8(json).unwrap(), expect);
    let damaged = codec().response_to_json(READ, b"\xff").unwrap_err();
    assert!(damaged.to_string().contains("cannot be shown as JSON"), "{damaged}");
}

#[test]
fn every_method_speaks_json() {
    let codec = codec();
    let methods: Vec<Method<'_>> = codec.methods().collect();
    assert!(methods.iter().any(|method| method.full_name == UPDATE && !method.streams));
    let streams: Vec<&str> =
        methods.iter().filter(|method| method.streams).map(|method| method.full_name).collect();
    let expect = ["braid.admin.v1.ExportService.ExportRows", "braid.v1.TimeSeriesService.StreamEventRecords"];
    assert_eq!(streams, expect);
    for method in &methods {
        assert_eq!(codec.request_from_json(method.full_name, b"{}").unwrap(), b"");
        assert_eq!(codec.response_to_json(method.full_name, b"").unwrap(), b"{}");
    }
}

#[test]
fn a_message_alone_travels_both_ways() {
    let codec = codec();
    let json = concat!(
        r#"{"time_series_id":"s","event_time":"2024-10-03T21:24:23.000000001Z","event_id":"e","#,
        r#""event_items":[{"event_item_key":"k","event_item_value":"aW9z"}],"continues":true}"#,
    );
    let bytes = codec.message_from_json("braid.v1.Event", json.as_bytes()).unwrap();
    let event = v1::Event::decode(bytes.as_slice()).unwrap();
    assert_eq!((event.event_time.unwrap().nanos, event.continues), (1, true));
    assert_eq!(event.event_items[0].event_item_value.as_ref(), b"ios");
    assert_eq!(codec.message_to_json("braid.v1.Event", &bytes).unwrap(), json.as_bytes());
    let camel = codec.message_from_json("braid.v1.Event", br#"{"timeSeriesId":"s"}"#).unwrap();
    assert_eq!(codec.message_to_json("braid.v1.Event", &camel).unwrap(), br#"{"time_series_id":"s"}"#);
    // A duration of zero is said, a missing one is not.
    let namespace = admin::v1::Namespace {
        accept_limit: Some(prost_types::Duration::default()),
        ..admin::v1::Namespace::default()
    };
    let shown = codec.message_to_json("braid.admin.v1.Namespace", &namespace.encode_to_vec()).unwrap();
    assert_eq!(shown, br#"{"accept_limit":"0s"}"#);
}

#[test]
fn a_wrong_message_is_refused_by_field() {
    let cases = [
        ("braid.v1.Event", r#"{"id": "x"}"#, "Event: unrecognized field name 'id'"),
        (
            "braid.v1.Event",
            r#"{"event_items": [{"event_item_value": "*"}]}"#,
            "event_items[0].event_item_value: ",
        ),
        ("braid.v1.Event", r#"{} {}"#, "Event: trailing characters"),
        ("braid.v1.Event", "", "Event: EOF"),
    ];
    for (name, json, expect) in cases {
        let error = codec().message_from_json(name, json.as_bytes()).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.reason(), Reason::FieldInvalid, "{message}");
        assert!(message.starts_with(expect), "{json}: {message}");
        assert!(message.ends_with("; write one braid.v1.Event as proto3 JSON"), "{message}");
    }
    let unknown = "message: `braid.v1.Evnt` is not known; see the files under proto/";
    assert_eq!(codec().message_from_json("braid.v1.Evnt", b"{}").unwrap_err().to_string(), unknown);
    assert_eq!(codec().message_to_json("braid.v1.Evnt", b"").unwrap_err().to_string(), unknown);
    let damaged = codec().message_to_json("braid.v1.Event", b"\xff").unwrap_err().to_string();
    assert!(damaged.starts_with("these bytes cannot be shown as braid.v1.Event: "), "{damaged}");
}

#[test]
fn maps_come_in_the_order_of_their_keys() {
    let keys = (0..20).map(|at| (format!("k{at:02}"), at.to_string()));
    let item = v1::EventItem { value_metadata: keys.clone().collect(), ..v1::EventItem::default() };
    let shown = codec().message_to_json("braid.v1.EventItem", &item.encode_to_vec()).unwrap();
    let pairs: Vec<String> = keys.map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
    let expect = format!("{{\"value_metadata\":{{{}}}}}", pairs.join(","));
    assert_eq!(String::from_utf8(shown).unwrap(), expect);
}

/// Every kind of field that the contract has, as the library would show it.
#[test]
fn what_is_shown_is_what_the_library_shows() {
    let cases = [
        ("braid.v1.ReadEventRecordsRequest", r#"{"page_size":-7,"order":2,"max_latency":"0.5s"}"#),
        ("braid.v1.ReadEventRecordsRequest", r#"{"order":77}"#),
        ("braid.v1.EventItem", r#"{"event_item_value":"_-8","value_metadata":{"a":"b"}}"#),
        ("braid.admin.v1.Namespace", r#"{"canary_share":0.25,"read_gates":{"max_fallback_share":"NaN"}}"#),
        ("braid.admin.v1.Namespace", r#"{"canary_share":"-Infinity","split":{"threshold_bytes":"77"}}"#),
        ("braid.admin.v1.UpdateNamespaceRequest", r#"{"update_mask":"shape.secondsPerBucket"}"#),
    ];
    for (name, json) in cases {
        let bytes = codec().message_from_json(name, json.as_bytes()).unwrap();
        let message = DynamicMessage::decode(codec().message(name).unwrap(), bytes.as_slice()).unwrap();
        let mut theirs = Vec::new();
        let options = prost_reflect::SerializeOptions::new().use_proto_field_name(true);
        message.serialize_with_options(&mut serde_json::Serializer::new(&mut theirs), &options).unwrap();
        let ours = codec().message_to_json(name, &bytes).unwrap();
        assert_eq!(String::from_utf8(ours).unwrap(), String::from_utf8(theirs).unwrap());
    }
}
