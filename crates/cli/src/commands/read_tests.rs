//! Pages as one message, and their sums.

use super::*;

fn page(ids: &[&str], bytes: i64) -> v1::ReadEventRecordsResponse {
    let event = |id: &&str| v1::Event { event_id: (*id).to_owned(), ..v1::Event::default() };
    v1::ReadEventRecordsResponse {
        records: ids.iter().map(event).collect(),
        response_context: vec![v1::ResponseContext {
            namespace: "plays".to_owned(),
            time_taken: Some(prost_types::Duration { seconds: 0, nanos: 600_000_000 }),
            bytes_read: bytes,
            partitions: 2,
            slices: 3,
            routes: Some(v1::Routes { origin: 2, target: 0 }),
            ..v1::ResponseContext::default()
        }],
        ..v1::ReadEventRecordsResponse::default()
    }
}

fn written(format: Format, pages: &[v1::ReadEventRecordsResponse]) -> String {
    let mut writer = PageWriter::new(format, None, false).unwrap();
    let mut bytes = Vec::new();
    for page in pages {
        bytes.extend(writer.page(page).unwrap());
    }
    bytes.extend(writer.end().unwrap());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn all_pages_are_one_message() {
    let sum = concat!(
        r#""response_context":[{"namespace":"plays","time_taken":"1.200s","bytes_read":"30","#,
        r#""partitions":"4","slices":"3","routes":{"origin":"4"}}]}"#
    );
    let pages = [page(&["a", "b"], 10), page(&["c"], 20)];
    let records = r#"{"records":[{"event_id":"a"},{"event_id":"b"},{"event_id":"c"}],"#;
    assert_eq!(written(Format::Json, &pages), format!("{records}{sum}\n"));
    let pages = [page(&[], 10), page(&[], 20)];
    assert_eq!(written(Format::Json, &pages), format!("{{{sum}\n"));
    let ordered = v1::ReadEventRecordsResponse { record_order: 2, response_context: vec![], ..page(&[], 0) };
    assert_eq!(written(Format::Json, &[ordered]), "{\"record_order\":\"BY_PARTITION\"}\n");
    let bare = |ids| v1::ReadEventRecordsResponse { response_context: vec![], ..page(ids, 0) };
    assert_eq!(written(Format::Json, &[bare(&["a"])]), "{\"records\":[{\"event_id\":\"a\"}]}\n");
    assert_eq!(written(Format::Json, &[bare(&[])]), "{}\n");
    assert_eq!(written(Format::Json, &[]), "{}\n");
}

#[test]
fn lines_are_only_the_events() {
    let pages = [page(&["a"], 10), page(&[], 1), page(&["b"], 20)];
    assert_eq!(written(Format::Ndjson, &pages), "{\"event_id\":\"a\"}\n{\"event_id\":\"b\"}\n");
    assert_eq!(written(Format::Table, &pages), "TIME  EVENT  ITEMS\n      a\n      b\n");
}

#[test]
fn the_summary_counts_an_event_once() {
    let mut first = page(&["a", "b"], 2_048);
    first.records[1].continues = true;
    let mut tally = Tally::default();
    tally.add(&first);
    tally.add(&page(&["b"], 0));
    assert_eq!(tally.events, 2);
    let took = Duration::from_millis(12);
    let summary = tally.cost.summary(tally.events, took);
    assert_eq!(summary, "2 events, 2.0 KiB read from 4 partitions in 12.0 ms\n");
}

#[test]
fn what_is_missing_is_said_and_survives_later_pages() {
    let mut tally = Tally::default();
    assert_eq!(tally.gaps(), "");
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let mut gone = page(&[], 0);
    gone.retention_truncated = true;
    gone.next_page_token = "t".to_owned();
    gone.partial = Some(v1::Partial {
        reason: "max_latency".to_owned(),
        complete_interval: Some(v1::TimeInterval { start: at(0), end: at(60) }),
    });
    tally.add(&gone);
    tally.add(&page(&[], 0));
    assert_eq!(
        tally.gaps(),
        "not everything was read in time (max_latency); complete: 1970-01-01T00:00:00Z to 1970-01-01T00:01:00Z\n\
         a part of this time is gone: retention dropped its slices\n"
    );
    assert_eq!(tally.message().next_page_token, "");
}

#[test]
fn an_open_end_lies_ahead_by_the_limit_or_anywhere() {
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(open_end(now, Some(Duration::from_secs(60))).to_string(), "1970-01-01T00:01:00Z");
    assert_eq!(open_end(now, None), Timestamp::MAX);
    assert_eq!(open_end(Timestamp::MAX, Some(Duration::MAX)), Timestamp::MAX);
}
