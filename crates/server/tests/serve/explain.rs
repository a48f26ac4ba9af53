//! What a read did and cost, beside what the same read gives.

use api::v1;

use crate::fixture::{Fixture, event, reads};

/// Hours 0, 1 and 5 of the first day and hour 0 of the third have ten events each.
async fn filled() -> Fixture {
    let fixture = Fixture::with_namespace().await;
    for hour in [0, 1, 5, 48] {
        fixture.write((0..10).map(|at| event("s", hour * 3_600 + at, b"value")).collect()).await;
    }
    fixture
}

/// Time buckets with rows, newest first, as `table bucket rows`.
fn filled_buckets(answer: &v1::ExplainReadResponse) -> Vec<(i32, i64)> {
    let buckets = answer.slices.iter().flat_map(|slice| &slice.time_buckets);
    buckets
        .map(|bucket| (bucket.time_bucket, bucket.event_buckets.iter().map(|one| one.rows).sum()))
        .filter(|(_, rows)| *rows > 0)
        .collect()
}

#[tokio::test]
async fn the_tree_shows_what_was_read_where_and_for_how_much() {
    let fixture = filled().await;
    let request = reads("s", 0, 3 * 86_400);
    let answer = fixture.client.explain(request.clone()).await.unwrap();
    assert_eq!((answer.records, answer.next_page_token.as_str()), (40, ""));
    let tables: Vec<&str> = answer.slices.iter().map(|slice| slice.table.as_str()).collect();
    assert_eq!(tables, ["data_19700103", "data_19700101"], "newest first");
    assert_eq!(filled_buckets(&answer), [(0, 10), (5, 10), (1, 10), (0, 10)]);
    let slice = &answer.slices[0];
    assert_eq!((slice.seconds_per_bucket, slice.buckets_per_id), (3_600, 4));
    let partitions = || {
        answer.slices.iter().flat_map(|slice| &slice.time_buckets).flat_map(|bucket| &bucket.event_buckets)
    };
    for partition in partitions() {
        let words = [&partition.filter, &partition.cache, &partition.route];
        assert_eq!(words, ["NONE", "NOT_ASKED", "ORIGIN"]);
        assert!(partition.store_calls > 0 && partition.time_taken.is_some(), "{partition:?}");
        assert_eq!(partition.rows > 0, partition.bytes > 0);
    }
    let context = &answer.response_context[0];
    assert_eq!(context.partitions, i64::try_from(partitions().count()).unwrap());
    assert_eq!(context.bytes_read, partitions().map(|partition| partition.bytes).sum::<i64>());
    // The day between was never written to, which is not the same as empty.
    let skipped: Vec<_> = answer
        .skipped
        .iter()
        .map(|skip| (skip.reason.as_str(), skip.time_interval.unwrap().start.unwrap().seconds))
        .collect();
    assert_eq!(skipped, [("NO_SLICE", 86_400)]);
    let oldest = v1::ReadEventRecordsRequest { order: v1::Order::OldestFirst.into(), ..request };
    let answer = fixture.client.explain(oldest).await.unwrap();
    assert_eq!(filled_buckets(&answer), [(0, 10), (1, 10), (5, 10), (0, 10)]);
}

#[tokio::test]
async fn a_full_page_says_what_is_left_and_its_token_is_that_of_the_read() {
    let fixture = filled().await;
    let request = v1::ReadEventRecordsRequest { page_size: 15, ..reads("s", 0, 3 * 86_400) };
    let first = fixture.client.explain(request.clone()).await.unwrap();
    assert_eq!(first.records, 15);
    let left = first.skipped.iter().find(|skip| skip.reason == "PAGE_FULL").unwrap();
    assert!(left.time_buckets > 0 && left.partitions >= left.time_buckets, "{left:?}");
    let next = v1::ReadEventRecordsRequest { page_token: first.next_page_token, ..request.clone() };
    let read = fixture.client.read(next.clone()).await.unwrap();
    assert_eq!(read.records.len(), 15);
    assert_eq!(fixture.client.explain(next).await.unwrap().records, 15);
    let last = v1::ReadEventRecordsRequest { page_token: read.next_page_token, ..request };
    assert_eq!(fixture.client.explain(last).await.unwrap().records, 10);
}

#[tokio::test]
async fn a_read_that_is_refused_is_not_explained() {
    let fixture = filled().await;
    let refusal = |request: v1::ReadEventRecordsRequest| {
        let client = fixture.client.clone();
        async move { client.explain(request).await.unwrap_err().reason.unwrap() }
    };
    assert_eq!(refusal(reads("", 0, 9)).await, "FIELD_INVALID");
    let forged = v1::ReadEventRecordsRequest { page_token: "forged".to_owned(), ..reads("s", 0, 9) };
    assert_eq!(refusal(forged).await, "PAGE_TOKEN_INVALID");
    let nowhere = v1::ReadEventRecordsRequest { namespace: "nowhere".to_owned(), ..reads("s", 0, 9) };
    assert_eq!(refusal(nowhere).await, "NAMESPACE_NOT_FOUND");
    fixture.block_id("s").await;
    assert_eq!(refusal(reads("s", 0, 9)).await, "ID_BLOCKED");
}
