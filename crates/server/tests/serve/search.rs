//! Searches over several series, and answers cut short by time.

use api::v1;
use api::v1::boolean_query::Operator;
use api::v1::search_query::Query;

use crate::fixture::{Fixture, NAMESPACE, at, event, reads};

fn term(query: Query) -> v1::SearchQuery {
    v1::SearchQuery { query: Some(query) }
}

fn equals(value: &'static str) -> v1::SearchQuery {
    term(Query::Equals(v1::EqualsQuery { event_item_key: "k".to_owned(), event_item_value: value.into() }))
}

fn search(series: &[&str], query: Option<v1::SearchQuery>) -> v1::SearchEventRecordsRequest {
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
    loop {
        let page = fixture.client.search(request.clone()).await.unwrap();
        let shown =
            |event: &v1::Event| format!("{} {}", event.time_series_id, event.event_time.unwrap().seconds);
        found.extend(page.records.iter().map(shown));
        if page.next_page_token.is_empty() {
            return found;
        }
        request.page_token = page.next_page_token;
    }
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

#[tokio::test]
async fn a_token_of_another_search_is_refused() {
    let fixture = Fixture::with_namespace().await;
    fixture.write((0..9).map(|second| event("s", second, b"x")).collect()).await;
    let first = v1::SearchEventRecordsRequest { page_size: 2, ..search(&["s"], Some(equals("x"))) };
    let token = fixture.client.search(first.clone()).await.unwrap().next_page_token;
    for other in
        [search(&["s", "t"], Some(equals("x"))), search(&["s"], Some(equals("y"))), search(&["s"], None)]
    {
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
