//! Answers that add up.

use super::*;

type Answer = v1::AggregateEventRecordsResponse;

fn interval(start: i64, end: i64) -> Option<v1::TimeInterval> {
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    Some(v1::TimeInterval { start: at(start), end: at(end) })
}

fn merged(answers: Vec<Answer>, oldest_first: bool) -> Answer {
    let mut merged = Merged::default();
    answers.into_iter().for_each(|answer| merged.add(answer).unwrap());
    merged.message(oldest_first)
}

fn values(values: &[(&'static str, i64)]) -> Answer {
    let bucket = |(value, count): &(&'static str, i64)| v1::AggregationBucket {
        event_item_value: Bytes::from_static(value.as_bytes()),
        count: *count,
        ..v1::AggregationBucket::default()
    };
    let count = values.iter().map(|(_, count)| count).sum();
    Answer { buckets: values.iter().map(bucket).collect(), count, ..Answer::default() }
}

fn stretches(stretches: &[(i64, i64)]) -> Answer {
    let bucket = |(start, count): &(i64, i64)| v1::AggregationBucket {
        time_interval: interval(*start, start + 60),
        count: *count,
        ..v1::AggregationBucket::default()
    };
    Answer { buckets: stretches.iter().map(bucket).collect(), ..Answer::default() }
}

#[test]
fn values_are_merged_and_the_most_frequent_comes_first() {
    let whole =
        merged(vec![values(&[("b", 5), ("a", 2)]), values(&[("c", 7), ("a", 3)]), values(&[])], false);
    assert_eq!(whole, Answer { count: 17, ..values(&[("c", 7), ("a", 5), ("b", 5)]) });
    // An empty value is a value.
    assert_eq!(merged(vec![values(&[("", 1)])], false), values(&[("", 1)]));
}

#[test]
fn stretches_are_merged_in_the_order_of_the_read() {
    // The one in which an answer ends comes again in the next.
    let newest = || vec![stretches(&[(180, 4), (60, 1)]), stretches(&[(60, 2), (0, 3)])];
    assert_eq!(merged(newest(), false), stretches(&[(180, 4), (60, 3), (0, 3)]));
    // Without series they come slice by slice, in any order inside of it.
    let oldest = vec![stretches(&[(60, 1), (0, 3)]), stretches(&[(180, 4), (60, 2)])];
    assert_eq!(merged(oldest, true), stretches(&[(0, 3), (60, 3), (180, 4)]));
}

#[test]
fn stats_are_those_of_all_answers() {
    let stats = |count, min, max, sum| {
        let stats = v1::Stats { count, min, max, sum };
        Answer { stats: Some(stats), ..Answer::default() }
    };
    let whole = merged(
        vec![
            stats(0, None, None, 0.0),
            stats(2, Some(-1.0), Some(1e16), 1e16),
            stats(1, Some(1.0), Some(1.0), 1.0),
            stats(2, Some(-1e16), Some(0.0), -1e16),
        ],
        false,
    );
    let expect = v1::Stats { count: 5, min: Some(-1e16), max: Some(1e16), sum: 1.0 };
    assert_eq!(whole.stats, Some(expect));
    assert_eq!(merged(vec![stats(0, None, None, 0.0)], false), stats(0, None, None, 0.0));
}

#[test]
fn counts_and_costs_add_up_and_the_last_answer_says_how_far_it_goes() {
    let context = |bytes_read| v1::ResponseContext {
        namespace: "plays".to_owned(),
        bytes_read,
        time_taken: Some(prost_types::Duration::default()),
        ..v1::ResponseContext::default()
    };
    let first = Answer {
        count: 3,
        truncated: true,
        next_page_token: "t".to_owned(),
        partial: Some(v1::Partial { reason: "READ_MAX".to_owned(), complete_interval: interval(60, 90) }),
        retention_truncated: true,
        complete_interval: interval(60, 90),
        response_context: vec![context(5)],
        ..Answer::default()
    };
    let last = Answer {
        count: 4,
        complete_interval: interval(0, 60),
        response_context: vec![context(6)],
        ..Answer::default()
    };
    assert_eq!(merged(vec![first.clone()], false), first);
    let expect = Answer {
        count: 7,
        retention_truncated: true,
        complete_interval: interval(0, 90),
        response_context: vec![context(11)],
        ..Answer::default()
    };
    assert_eq!(merged(vec![first, last], false), expect);
}

#[test]
fn values_that_take_too_much_are_refused_with_what_to_do() {
    let mut merged = Merged::default();
    let value = |at: u32| {
        let mut bytes = vec![0; 4 << 20];
        bytes.extend(at.to_be_bytes());
        v1::AggregationBucket { event_item_value: bytes.into(), count: 1, ..v1::AggregationBucket::default() }
    };
    let mut add = |at| merged.add(Answer { buckets: vec![value(at)], ..Answer::default() });
    for at in 0..63 {
        add(at).unwrap();
        // Again takes nothing.
        add(at).unwrap();
    }
    let refused = add(63).unwrap_err();
    assert!(matches!(&refused, Failure::Other(text) if text.contains("over 256 MiB")), "{refused:?}");
}
