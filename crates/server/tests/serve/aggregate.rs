//! Counting and summing up over one, several and all series: exact, in answers that add up.

use std::collections::BTreeMap;

use api::v1;
use api::v1::aggregation_query::Aggregation;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, at, event};
use crate::http::post_json;
use crate::search::{PAGES_MAX, equals, search};

/// Where the values of an event are: `event` writes this key.
const KEY: &str = "k";

fn count() -> Aggregation {
    Aggregation::Count(v1::CountAggregation {})
}

fn distinct(page_size: i32) -> Aggregation {
    Aggregation::Distinct(v1::DistinctAggregation { event_item_key: KEY.to_owned(), page_size })
}

fn stats() -> Aggregation {
    Aggregation::Stats(v1::StatsAggregation { event_item_key: KEY.to_owned() })
}

fn histogram(seconds: i64) -> Aggregation {
    let interval = Some(prost_types::Duration { seconds, nanos: 0 });
    Aggregation::TimeHistogram(v1::TimeHistogramAggregation { interval })
}

/// What is asked of the events that `search` would find.
fn of(search: v1::SearchEventRecordsRequest, aggregation: Aggregation) -> v1::AggregateEventRecordsRequest {
    v1::AggregateEventRecordsRequest {
        namespace: search.namespace,
        time_series_ids: search.time_series_ids,
        time_interval: search.time_interval,
        search_query: search.search_query,
        aggregation_query: Some(v1::AggregationQuery { aggregation: Some(aggregation) }),
        ..v1::AggregateEventRecordsRequest::default()
    }
}

/// All answers, and that each says honestly whether it is the last.
async fn answers(
    fixture: &Fixture,
    mut request: v1::AggregateEventRecordsRequest,
) -> Vec<v1::AggregateEventRecordsResponse> {
    let mut answers = Vec::new();
    for _ in 0..PAGES_MAX {
        let answer = fixture.client.aggregate(request.clone()).await.unwrap();
        assert_eq!(answer.truncated, !answer.next_page_token.is_empty());
        assert!(answer.complete_interval.is_some() && answer.partial.is_none(), "{answer:?}");
        request.page_token.clone_from(&answer.next_page_token);
        answers.push(answer);
        if request.page_token.is_empty() {
            return answers;
        }
    }
    panic!("{PAGES_MAX} answers and no end");
}

fn counted(answers: &[v1::AggregateEventRecordsResponse]) -> i64 {
    answers.iter().map(|answer| answer.count).sum()
}

/// Values with their numbers, over all answers.
fn values(answers: &[v1::AggregateEventRecordsResponse]) -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    for bucket in answers.iter().flat_map(|answer| &answer.buckets) {
        let value = String::from_utf8(bucket.event_item_value.to_vec()).unwrap();
        *values.entry(value).or_insert(0) += bucket.count;
    }
    values
}

/// Starts of stretches with their numbers, over all answers.
fn stretches(answers: &[v1::AggregateEventRecordsResponse]) -> BTreeMap<i64, i64> {
    let mut stretches = BTreeMap::new();
    for bucket in answers.iter().flat_map(|answer| &answer.buckets) {
        *stretches.entry(bucket.time_interval.unwrap().start.unwrap().seconds).or_insert(0) += bucket.count;
    }
    stretches
}

/// Series `a` has 60 events, one a minute, with the values 0 to 5 in turn; `b` has 30 of `7.5` and `c` one of `x`.
async fn filled() -> Fixture {
    let fixture = Fixture::with_namespace().await;
    let a = (0..60).map(|minute| event("a", minute * 60, (minute % 6).to_string().as_bytes()));
    let b = (0..30).map(|minute| event("b", minute * 60, b"7.5"));
    fixture.write(a.chain(b).chain([event("c", 4_000, b"x")]).collect()).await;
    fixture
}

#[tokio::test]
async fn events_of_one_several_and_all_series_are_counted() {
    let fixture = filled().await;
    for (series, query, expect) in [
        (&["a"][..], None, 60),
        (&["a", "b", "nobody"], None, 90),
        (&[], None, 91),
        (&[], Some(equals("3")), 10),
        (&["b"], Some(equals("3")), 0),
    ] {
        let answers = answers(&fixture, of(search(series, query), count())).await;
        assert_eq!((counted(&answers), answers.len()), (expect, 1), "{series:?}");
        let context = &answers[0].response_context[0];
        assert!(context.namespace == NAMESPACE && context.bytes_read > 0, "{context:?}");
        assert_eq!((answers[0].buckets.len(), answers[0].stats), (0, None));
    }
    let limited =
        v1::AggregateEventRecordsRequest { total_record_limit: 7, ..of(search(&["a"], None), count()) };
    assert_eq!(counted(&answers(&fixture, limited).await), 7);
}

#[tokio::test]
async fn distinct_values_come_with_their_numbers_and_small_answers_add_up() {
    let fixture = filled().await;
    let of_a: BTreeMap<String, i64> = (0..6).map(|value| (value.to_string(), 10)).collect();
    let mut of_all = of_a.clone();
    of_all.extend([("7.5".to_owned(), 30), ("x".to_owned(), 1)]);
    let whole = answers(&fixture, of(search(&[], None), distinct(0))).await;
    assert_eq!((values(&whole), whole.len(), counted(&whole)), (of_all.clone(), 1, 91));
    let first = &whole[0].buckets[0];
    assert_eq!((first.event_item_value.as_ref(), first.count), (&b"7.5"[..], 30), "the most frequent first");
    for page_size in [1, 2, 3, 7] {
        for (series, expect, events) in [(&["a"][..], &of_a, 60), (&[], &of_all, 91)] {
            let some = answers(&fixture, of(search(series, None), distinct(page_size))).await;
            assert!(some.iter().all(|answer| answer.buckets.len() <= usize::try_from(page_size).unwrap()));
            assert_eq!((values(&some), counted(&some)), (expect.clone(), events), "{page_size} {series:?}");
        }
    }
    // Its own number wins over that of the request.
    let mut request = of(search(&["a"], None), distinct(2));
    request.page_size = 5;
    assert_eq!(fixture.client.aggregate(request).await.unwrap().buckets.len(), 2);
}

#[tokio::test]
async fn stats_are_of_the_values_that_are_numbers() {
    let fixture = filled().await;
    let whole = |series: &'static [&'static str]| {
        let request = of(search(series, None), stats());
        async { answers(&fixture, request).await.remove(0) }
    };
    let all = whole(&[]).await;
    assert_eq!(all.count, 91, "events, also those without a number");
    assert_eq!(all.stats, Some(v1::Stats { count: 90, min: Some(0.0), max: Some(7.5), sum: 375.0 }));
    let none = whole(&["c"]).await;
    assert_eq!((none.count, none.stats), (1, Some(v1::Stats { count: 0, min: None, max: None, sum: 0.0 })));
}

#[tokio::test]
async fn a_histogram_has_the_stretches_with_events_in_the_order_of_the_read() {
    let fixture = filled().await;
    let expect = BTreeMap::from([(0, 17), (1_000, 17), (2_000, 16), (3_000, 10)]);
    let newest = of(search(&["a"], None), histogram(1_000));
    let oldest = v1::AggregateEventRecordsRequest { order: v1::Order::OldestFirst.into(), ..newest.clone() };
    for (request, counts) in [(newest, [10, 16, 17, 17]), (oldest, [17, 17, 16, 10])] {
        let whole = answers(&fixture, request.clone()).await;
        let found: Vec<i64> = whole[0].buckets.iter().map(|bucket| bucket.count).collect();
        assert_eq!((found, stretches(&whole)), (counts.to_vec(), expect.clone()));
        for page_size in 1..5 {
            let small = v1::AggregateEventRecordsRequest { page_size, ..request.clone() };
            let small = answers(&fixture, small).await;
            assert_eq!((stretches(&small), counted(&small)), (expect.clone(), 60), "{page_size}");
        }
    }
    // Stretches are counted from 1970 on and whole, wherever the interval begins.
    let mut request = of(search(&["b"], None), histogram(600));
    request.time_interval = Some(v1::TimeInterval { start: Some(at(700)), end: Some(at(10_000)) });
    let first = fixture.client.aggregate(request).await.unwrap().buckets.pop().unwrap();
    assert_eq!((first.time_interval.unwrap().start, first.count), (Some(at(600)), 8));
}

#[tokio::test]
async fn answers_cover_the_whole_interval_without_a_gap() {
    let fixture = filled().await;
    for order in [v1::Order::NewestFirst, v1::Order::OldestFirst] {
        let mut request = of(search(&["a"], None), distinct(2));
        request.order = order.into();
        let mut covered: Vec<(i64, i64)> = answers(&fixture, request)
            .await
            .iter()
            .map(|answer| {
                let interval = answer.complete_interval.unwrap();
                (interval.start.unwrap().seconds, interval.end.unwrap().seconds)
            })
            .collect();
        assert!(covered.len() > 3, "{covered:?}");
        covered.sort_unstable();
        assert_eq!((covered[0].0, covered[covered.len() - 1].1), (0, 10_000));
        assert!(covered.windows(2).all(|pair| pair[0].1 == pair[1].0), "{covered:?}");
    }
}

async fn refused(fixture: &Fixture, request: v1::AggregateEventRecordsRequest) -> CallError {
    fixture.client.aggregate(request).await.unwrap_err()
}

#[tokio::test]
async fn a_token_belongs_to_its_aggregation_and_its_search() {
    let fixture = filled().await;
    fixture.create("other").await.unwrap();
    let request = v1::AggregateEventRecordsRequest { page_size: 2, ..of(search(&["a"], None), distinct(0)) };
    let token = fixture.client.aggregate(request.clone()).await.unwrap().next_page_token;
    let with_token = |other: v1::AggregateEventRecordsRequest| v1::AggregateEventRecordsRequest {
        page_token: token.clone(),
        ..other
    };
    let oldest = v1::Order::OldestFirst.into();
    for other in [
        of(search(&["a"], None), count()),
        of(search(&["a"], None), stats()),
        of(search(&["a"], None), histogram(60)),
        of(search(&[], None), distinct(2)),
        of(search(&["a"], Some(equals("3"))), distinct(2)),
        v1::AggregateEventRecordsRequest { order: oldest, ..request.clone() },
        v1::AggregateEventRecordsRequest { namespace: "other".to_owned(), ..request.clone() },
    ] {
        let refused = refused(&fixture, with_token(other)).await;
        assert_eq!(refused.reason.as_deref(), Some("PAGE_TOKEN_INVALID"), "{refused}");
    }
    let search_with = v1::SearchEventRecordsRequest { page_token: token.clone(), ..search(&["a"], None) };
    let of_search = fixture.client.search(search_with).await.unwrap_err();
    assert_eq!(of_search.reason.as_deref(), Some("PAGE_TOKEN_INVALID"));
    let first = v1::SearchEventRecordsRequest { page_size: 2, ..search(&["a"], None) };
    let page_token = fixture.client.search(first).await.unwrap().next_page_token;
    let of_search = v1::AggregateEventRecordsRequest { page_token, ..request.clone() };
    assert_eq!(refused(&fixture, of_search).await.reason.as_deref(), Some("PAGE_TOKEN_INVALID"));
    let next = with_token(v1::AggregateEventRecordsRequest { page_size: 9, ..request });
    assert_eq!(fixture.client.aggregate(next).await.unwrap().buckets.len(), 6);
}

#[tokio::test]
async fn bad_input_and_blocked_ids_are_refused() {
    let fixture = filled().await;
    let missing =
        v1::AggregateEventRecordsRequest { aggregation_query: None, ..of(search(&[], None), count()) };
    for (request, expect) in [
        (missing, "aggregation_query: is missing; send one of distinct"),
        (
            of(search(&[], None), histogram(0)),
            "aggregation_query.time_histogram.interval: is not over 0; send",
        ),
        (
            of(search(&[], None), distinct(10_001)),
            "aggregation_query.distinct.page_size: is 10001; send 1 to",
        ),
        (of(search(&[""], None), count()), "time_series_ids[0]: "),
    ] {
        let refused = refused(&fixture, request).await;
        assert_eq!((refused.code, refused.reason.as_deref()), ("INVALID_ARGUMENT", Some("FIELD_INVALID")));
        assert!(refused.message.starts_with(expect), "{refused}");
    }
    let elsewhere = v1::AggregateEventRecordsRequest {
        namespace: "nowhere".to_owned(),
        ..of(search(&[], None), count())
    };
    assert_eq!(refused(&fixture, elsewhere).await.reason.as_deref(), Some("NAMESPACE_NOT_FOUND"));
    fixture.block_id("a").await;
    let blocked = refused(&fixture, of(search(&["a", "b"], None), count())).await;
    assert_eq!((blocked.code, blocked.reason.as_deref()), ("PERMISSION_DENIED", Some("ID_BLOCKED")));
    // Where none is named, it is passed over, and the answer says so.
    let rest = answers(&fixture, of(search(&[], None), count())).await;
    assert_eq!(counted(&rest), 31);
    assert!(rest[0].response_context[0].blocked_partitions > 0, "{rest:?}");
}

#[tokio::test]
async fn json_says_the_same() {
    let fixture = filled().await;
    let body = r#"{"namespace":"plays","timeInterval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"aggregationQuery":{"stats":{"eventItemKey":"k"}}}"#;
    let path = "/braid.v1.TimeSeriesService/AggregateEventRecords";
    let answer = post_json(&fixture.address(), path, body).await;
    let stats = serde_json::json!({"count": "90", "min": 0.0, "max": 7.5, "sum": 375.0});
    assert_eq!((answer.status, &answer.json()["stats"]), (200, &stats), "{}", answer.text());
    let wrong = body.replace("stats", "median");
    let refused = post_json(&fixture.address(), path, &wrong).await;
    assert!(refused.status == 400 && refused.text().contains("'median'"), "{}", refused.text());
}
