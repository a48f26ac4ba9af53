//! Events in, events out.

use api::admin::v1 as admin;
use api::v1;
use bytes::Bytes;

use crate::fixture::{Fixture, NAMESPACE, at, event, reads, seconds, writes};

#[tokio::test]
async fn what_was_written_is_read_in_both_orders() {
    let fixture = Fixture::with_namespace().await;
    let answer = fixture.write((0..10).map(|at| event("s", 1_000 + at, b"v")).collect()).await;
    assert_eq!((answer.accepted, answer.results.len()), (10, 0));
    assert_eq!(answer.response_context[0].namespace, NAMESPACE);
    let newest = fixture.client.read(reads("s", 1_002, 1_006)).await.unwrap();
    assert_eq!(seconds(&newest), [1_005, 1_004, 1_003, 1_002]);
    assert_eq!(newest.records[0].event_items[0].event_item_value, Bytes::from_static(b"v"));
    let context = &newest.response_context[0];
    assert!(context.bytes_read > 0 && context.partitions > 0 && context.slices == 1, "{context:?}");
    let oldest = v1::ReadEventRecordsRequest { order: v1::Order::OldestFirst.into(), ..reads("s", 0, 9_999) };
    assert_eq!(seconds(&fixture.client.read(oldest).await.unwrap()), (1_000..1_010).collect::<Vec<_>>());
}

#[tokio::test]
async fn each_event_is_taken_or_refused_by_itself() {
    let fixture = Fixture::with_namespace().await;
    let events = vec![event("s", 1, b"v"), v1::Event::default(), event("s", 2, &vec![0; (1 << 20) + 1])];
    let answer = fixture.write(events).await;
    assert_eq!(answer.accepted, 1);
    let refused: Vec<_> =
        answer.results.iter().map(|result| (result.index, result.reason.as_str())).collect();
    assert_eq!(refused, [(1, "FIELD_INVALID"), (2, "EVENT_TOO_LARGE")]);
    assert_eq!(seconds(&fixture.client.read(reads("s", 0, 9)).await.unwrap()), [1]);
}

#[tokio::test]
async fn queued_events_are_there_soon() {
    let fixture = Fixture::with_namespace().await;
    let answer = fixture.client.write_queued(writes(vec![event("s", 5, b"v")])).await.unwrap();
    assert_eq!(answer.accepted, 1);
    // Each read takes its time; the queue waits ten milliseconds.
    while fixture.client.read(reads("s", 0, 9)).await.unwrap().records.is_empty() {}
}

#[tokio::test]
async fn pages_and_the_stream_give_every_event_once() {
    let fixture = Fixture::with_namespace().await;
    for hour in 0..5 {
        fixture.write((0..700).map(|at| event("s", hour * 3_600 + at, b"value")).collect()).await;
    }
    let all: Vec<i64> =
        (0..5).rev().flat_map(|hour| (0..700).rev().map(move |at| hour * 3_600 + at)).collect();

    let mut paged = Vec::new();
    let mut request = v1::ReadEventRecordsRequest { page_size: 333, ..reads("s", 0, 20_000) };
    loop {
        let page = fixture.client.read(request.clone()).await.unwrap();
        assert!(page.records.len() <= 333);
        paged.extend(seconds(&page));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!(paged, all);

    let mut streamed = Vec::new();
    let limited = v1::ReadEventRecordsRequest { page_size: 0, page_token: String::new(), ..request };
    let mut pages = fixture.client.stream(limited.clone()).await.unwrap();
    while let Some(page) = pages.next().await.unwrap() {
        streamed.extend(seconds(&page));
    }
    assert_eq!(streamed, all);

    let limited = v1::ReadEventRecordsRequest { total_record_limit: 1_500, ..limited };
    let mut pages = fixture.client.stream(limited).await.unwrap();
    let mut counted = 0;
    while let Some(page) = pages.next().await.unwrap() {
        counted += page.records.len();
    }
    assert_eq!(counted, 1_500);
}

#[tokio::test]
async fn a_stream_can_be_picked_up_where_it_was_left() {
    let fixture = Fixture::with_namespace().await;
    fixture.write((0..900).map(|at| event("s", at, b"v")).collect()).await;
    let request = v1::ReadEventRecordsRequest { page_size: 100, ..reads("s", 0, 1_000) };
    let mut pages = fixture.client.stream(request.clone()).await.unwrap();
    let first = pages.next().await.unwrap().unwrap();
    drop(pages);
    let rest = v1::ReadEventRecordsRequest { page_token: first.next_page_token.clone(), ..request };
    let mut pages = fixture.client.stream(rest).await.unwrap();
    let mut found = seconds(&first);
    while let Some(page) = pages.next().await.unwrap() {
        found.extend(seconds(&page));
    }
    assert_eq!(found, (0..900).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_stream_that_is_refused_is_refused_at_once() {
    let fixture = Fixture::with_namespace().await;
    let refusal = |request: v1::ReadEventRecordsRequest| {
        let client = fixture.client.clone();
        async move { client.stream(request).await.unwrap_err().reason.unwrap() }
    };
    assert_eq!(refusal(reads("", 0, 9)).await, "FIELD_INVALID");
    let nowhere = v1::ReadEventRecordsRequest { namespace: "nowhere".to_owned(), ..reads("s", 0, 9) };
    assert_eq!(refusal(nowhere).await, "NAMESPACE_NOT_FOUND");
    let forged = v1::ReadEventRecordsRequest { page_token: "forged".to_owned(), ..reads("s", 0, 9) };
    assert_eq!(refusal(forged).await, "PAGE_TOKEN_INVALID");
}

#[tokio::test]
async fn an_event_larger_than_a_page_comes_in_parts() {
    let fixture = Fixture::with_namespace().await;
    // Written in several requests, as its identity allows: together more than any page may have.
    for part in 0..6 {
        let item = |at: usize| v1::EventItem {
            event_item_key: format!("{part}-{at}"),
            event_item_value: Bytes::from(vec![7; 900 << 10]),
            ..v1::EventItem::default()
        };
        let event = v1::Event { event_items: (0..3).map(item).collect(), ..event("s", 50, b"") };
        assert_eq!(fixture.write(vec![event]).await.accepted, 1);
    }
    let (mut parts, mut items) = (0, Vec::new());
    let mut request = reads("s", 0, 100);
    loop {
        let page = fixture.client.read(request.clone()).await.unwrap();
        assert_eq!(page.records.len(), 1);
        assert_eq!(page.records[0].event_time, Some(at(50)));
        assert_eq!(page.records[0].continues, !page.next_page_token.is_empty());
        parts += 1;
        items.extend(page.records[0].event_items.iter().map(|item| item.event_item_key.clone()));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert!(parts > 3, "{parts}");
    items.reverse();
    let expect: Vec<String> = (0..6).flat_map(|part| (0..3).map(move |at| format!("{part}-{at}"))).collect();
    assert_eq!(items, expect);
}

#[tokio::test]
async fn an_interval_over_a_hundred_thousand_partitions_is_served_in_bounded_pages() {
    let fixture = Fixture::start(&[]).await;
    // Two days of minutes in 64 event buckets: 184,320 partitions of one series, of which three have an event.
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        shape: Some(admin::Shape { seconds_per_slice: 86_400, seconds_per_bucket: 60, buckets_per_id: 64 }),
        accept_limit: zero,
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    fixture.client.create_namespace(request).await.unwrap();
    fixture.write([100, 86_000, 172_000].map(|at| event("s", at, b"v")).into()).await;
    let mut request = reads("s", 0, 2 * 86_400);
    let (mut found, mut pages, mut partitions) = (Vec::new(), 0, 0);
    loop {
        let page = fixture.client.read(request.clone()).await.unwrap();
        assert!(page.response_context[0].partitions <= 4_096, "{:?}", page.response_context);
        partitions += page.response_context[0].partitions;
        found.extend(seconds(&page));
        pages += 1;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!((found, partitions), (vec![172_000, 86_000, 100], 184_320));
    assert_eq!(pages, 45);
}
