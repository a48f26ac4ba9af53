//! Searches over several series and over all, and answers cut short by time.

use api::v1;
use api::v1::boolean_query::Operator;
use api::v1::search_query::Query;

use crate::fixture::{Fixture, NAMESPACE, at, event, reads};

/// No search and no aggregation of these tests takes so many.
pub(crate) const PAGES_MAX: usize = 1_000;

fn term(query: Query) -> v1::SearchQuery {
    v1::SearchQuery { query: Some(query) }
}

pub(crate) fn equals(value: &'static str) -> v1::SearchQuery {
    term(Query::Equals(v1::EqualsQuery { event_item_key: "k".to_owned(), event_item_value: value.into() }))
}

pub(crate) fn search(series: &[&str], query: Option<v1::SearchQuery>) -> v1::SearchEventRecordsRequest {
    v1::SearchEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_ids: series.iter().map(|id| (*id).to_owned()).collect(),
        time_interval: Some(v1::TimeInterval { start: Some(at(0)), end: Some(at(10_000)) }),
        search_query: query,
        ..v1::SearchEventRecordsRequest::default()
    }
}

/// `series second` of every event, over all pages of `size`.
async fn found(fixture: &Fixture, mut request: v1::SearchEventRecordsRequest, size: i32) -> Vec<String> {
    request.page_size = size;
    let mut found = Vec::new();
    for _ in 0..PAGES_MAX {
        let page = fixture.client.search(request.clone()).await.unwrap();
        let shown =
            |event: &v1::Event| format!("{} {}", event.time_series_id, event.event_time.unwrap().seconds);
        found.extend(page.records.iter().map(shown));
        if page.next_page_token.is_empty() {
            return found;
        }
        request.page_token = page.next_page_token;
    }
    panic!("{PAGES_MAX} pages and no end");
}

#[tokio::test]
async fn several_series_come_merged_in_one_order() {
    let fixture = Fixture::with_namespace().await;
    fixture
        .write(vec![event("a", 1, b"x"), event("b", 1, b"x"), event("c", 2, b"x"), event("a", 3, b"y")])
        .await;
    let all = ["a 3", "c 2", "b 1", "a 1"];
    for size in 1..6 {
        assert_eq!(found(&fixture, search(&["c", "a", "b"], None), size).await, all);
        let oldest = v1::SearchEventRecordsRequest {
            order: v1::Order::OldestFirst.into(),
            ..search(&["b", "c", "a"], None)
        };
        let reversed: Vec<_> = all.into_iter().rev().collect();
        assert_eq!(found(&fixture, oldest, size).await, reversed);
    }
    assert_eq!(found(&fixture, search(&["a", "nobody"], Some(equals("x"))), 9).await, ["a 1"]);
}

#[tokio::test]
async fn a_query_that_matches_nothing_ends() {
    let fixture = Fixture::with_namespace().await;
    for hour in 0..3 {
        fixture.write((0..900).map(|second| event("s", hour * 3_600 + second, b"10")).collect()).await;
    }
    assert_eq!(found(&fixture, search(&["s"], Some(equals("11"))), 5).await.len(), 0);
    let bound = |value: &'static str| Some(v1::Bound { value: value.into(), inclusive: false });
    let range = v1::RangeQuery {
        event_item_key: "k".to_owned(),
        lower_bound: bound("9.5"),
        upper_bound: bound("1e2"),
    };
    assert_eq!(found(&fixture, search(&["s"], Some(term(Query::Range(range)))), 1_000).await.len(), 2_700);
    let not = v1::BooleanQuery { operator: Operator::Not.into(), search_query: vec![equals("10")] };
    assert_eq!(found(&fixture, search(&["s"], Some(term(Query::BooleanQuery(not)))), 9).await.len(), 0);
}

/// Twenty events of each of six series in each of three days, close together: most partitions that are there have several.
async fn wide() -> (Fixture, Vec<String>) {
    let fixture = Fixture::with_namespace().await;
    let mut all = Vec::new();
    for day in 0..3 {
        for series in 0..6 {
            let id = format!("s{series}");
            let seconds = (0..20).map(|at| day * 86_400 + at * 300);
            all.extend(seconds.clone().map(|second| format!("{id} {second}")));
            let value = if series == 3 { "rare" } else { "common" };
            fixture.write(seconds.map(|second| event(&id, second, value.as_bytes())).collect()).await;
        }
    }
    all.sort();
    (fixture, all)
}

fn days(request: v1::SearchEventRecordsRequest, from: i64, to: i64) -> v1::SearchEventRecordsRequest {
    let interval = v1::TimeInterval { start: Some(at(from * 86_400)), end: Some(at(to * 86_400)) };
    v1::SearchEventRecordsRequest { time_interval: Some(interval), ..request }
}

#[tokio::test]
async fn without_a_series_every_event_of_the_namespace_comes_once() {
    let (fixture, all) = wide().await;
    for order in [v1::Order::NewestFirst, v1::Order::OldestFirst] {
        let request = v1::SearchEventRecordsRequest { order: order.into(), ..days(search(&[], None), 0, 3) };
        for size in [1_000, 100, 7, 1] {
            let mut events = found(&fixture, request.clone(), size).await;
            let day = |event: &String| event.rsplit(' ').next().unwrap().parse::<i64>().unwrap() / 86_400;
            let by_slice: Vec<i64> = events.iter().map(day).collect();
            let ordered = match order {
                v1::Order::OldestFirst => by_slice.is_sorted(),
                _ => by_slice.iter().rev().is_sorted(),
            };
            assert!(ordered, "slice by slice, as asked: {by_slice:?}");
            events.sort();
            assert_eq!(events, all, "{order:?} in pages of {size}");
        }
    }
    let rare = found(&fixture, days(search(&[], Some(equals("rare"))), 1, 2), 4).await;
    assert_eq!(rare.len(), 20);
    assert!(rare.iter().all(|event| event.starts_with("s3 ")), "{rare:?}");
    let limited = v1::SearchEventRecordsRequest { total_record_limit: 25, ..days(search(&[], None), 0, 3) };
    assert_eq!(found(&fixture, limited, 10).await.len(), 25);
    assert_eq!(found(&fixture, days(search(&[], None), 5, 9), 10).await.len(), 0);
}

#[tokio::test]
async fn an_answer_says_how_its_events_follow_each_other_and_what_was_passed_over() {
    let (fixture, _) = wide().await;
    let order = |page: &v1::ReadEventRecordsResponse| page.record_order();
    let read = fixture.client.read(reads("s1", 0, 100)).await.unwrap();
    assert_eq!(order(&read), v1::RecordOrder::ByTime);
    let several = fixture.client.search(search(&["s1", "s2"], None)).await.unwrap();
    assert_eq!(order(&several), v1::RecordOrder::ByTime);
    let mut pages = fixture.client.stream(reads("s1", 0, 100)).await.unwrap();
    assert_eq!(order(&pages.next().await.unwrap().unwrap()), v1::RecordOrder::ByTime);
    fixture.block_id("s3").await;
    let request = v1::SearchEventRecordsRequest { page_size: 1_000, ..days(search(&[], None), 0, 3) };
    let all = fixture.client.search(request).await.unwrap();
    assert_eq!((order(&all), all.records.len()), (v1::RecordOrder::ByPartition, 300));
    assert!(all.records.iter().all(|event| event.time_series_id != "s3"));
    assert!(all.response_context[0].blocked_partitions > 0, "{:?}", all.response_context);
    assert_eq!(read.response_context[0].blocked_partitions, 0);
}

#[tokio::test]
async fn a_search_of_all_series_goes_on_where_time_ran_out_and_after_a_restart() {
    let (mut fixture, all) = wide().await;
    let mut request = v1::SearchEventRecordsRequest { page_size: 50, ..days(search(&[], None), 0, 3) };
    request.max_latency = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let cut = fixture.client.search(request.clone()).await.unwrap();
    assert_eq!(cut.partial.unwrap().reason, "MAX_LATENCY");
    (request.page_token, request.max_latency) = (cut.next_page_token, None);
    let mut events = cut.records;
    // 360 events in pages of 50, which may end early.
    for _ in 0..20 {
        fixture.restart().await;
        let page = fixture.client.search(request.clone()).await.unwrap();
        events.extend(page.records);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(request.page_token, "", "it does not end");
    let mut events: Vec<String> = events
        .iter()
        .map(|event| format!("{} {}", event.time_series_id, event.event_time.unwrap().seconds))
        .collect();
    events.sort();
    assert_eq!(events, all);
}

#[tokio::test]
async fn a_token_of_another_search_is_refused() {
    let fixture = Fixture::with_namespace().await;
    fixture.write((0..9).map(|second| event("s", second, b"x")).collect()).await;
    let first = v1::SearchEventRecordsRequest { page_size: 2, ..search(&["s"], Some(equals("x"))) };
    let token = fixture.client.search(first.clone()).await.unwrap().next_page_token;
    for other in [
        search(&["s", "t"], Some(equals("x"))),
        search(&["s"], Some(equals("y"))),
        search(&["s"], None),
        search(&[], Some(equals("x"))),
    ] {
        let other = v1::SearchEventRecordsRequest { page_token: token.clone(), ..other };
        let refused = fixture.client.search(other).await.unwrap_err();
        assert_eq!(refused.reason.as_deref(), Some("PAGE_TOKEN_INVALID"));
    }
    let next = v1::SearchEventRecordsRequest { page_token: token, ..first };
    assert_eq!(fixture.client.search(next).await.unwrap().records.len(), 2);
}

#[tokio::test]
async fn a_read_without_time_answers_what_is_complete_and_goes_on() {
    let fixture = Fixture::with_namespace().await;
    fixture.write((0..500).map(|second| event("s", second * 10, b"x")).collect()).await;
    let mut request = v1::ReadEventRecordsRequest { page_size: 1_000, ..reads("s", 0, 10_000) };
    request.max_latency = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let cut = fixture.client.read(request.clone()).await.unwrap();
    let partial = cut.partial.unwrap();
    assert_eq!(partial.reason, "MAX_LATENCY");
    assert!(cut.response_context[0].partial && cut.records.is_empty());
    assert_eq!(partial.complete_interval.unwrap().start, partial.complete_interval.unwrap().end);
    let counted = "braid_partial_returns_total{namespace=\"plays\"} 1\n";
    assert!(crate::http::get(&fixture.address(), "/metrics").await.text().contains(counted));
    (request.page_token, request.max_latency) = (cut.next_page_token, None);
    let rest = fixture.client.read(request).await.unwrap();
    assert_eq!((rest.records.len(), rest.partial, rest.next_page_token.as_str()), (500, None, ""));
}
