//! What one page of a read did and cost, as a tree: slices, their time buckets, the partitions of those.

use engine::{ExplainedGroup, ExplainedPartition, ExplainedRoute, Explanation, Skipped};

use super::filter::{ORIGIN, TARGET, fallback_to_wire, yes_or_no};
use super::read::{Read, partial_to_wire, read_context, token_to_wire};
use super::time::{duration_to_wire, interval_to_wire, timestamp_to_wire};
use super::write::signed;
use crate::token::TokenKeys;
use crate::v1;

/// What `read` did, with the token for its next page. `now` is the wall clock in nanoseconds since 1970.
pub fn explain_response(
    read: &Read,
    explanation: Explanation,
    keys: &TokenKeys,
    now: i64,
) -> v1::ExplainReadResponse {
    let page = explanation.page;
    v1::ExplainReadResponse {
        slices: slices_to_wire(explanation.groups),
        skipped: explanation.skipped.into_iter().map(skipped_to_wire).collect(),
        records: i64::try_from(page.events.len()).unwrap_or(i64::MAX),
        next_page_token: token_to_wire(page.next, &read.query, keys, now),
        response_context: vec![read_context(&read.request.namespace, page.cost, page.partial.as_ref())],
        partial: page.partial.map(partial_to_wire),
        retention_truncated: page.retention_truncated,
        read_ahead: signed(explanation.read_ahead),
    }
}

/// A read goes through one slice after the other, so the groups of a slice follow each other.
fn slices_to_wire(groups: Vec<ExplainedGroup>) -> Vec<v1::ExplainedSlice> {
    let mut slices: Vec<v1::ExplainedSlice> = Vec::new();
    for group in groups {
        let layout = group.group.layout;
        if slices.last().is_none_or(|slice| slice.table != group.table) {
            slices.push(v1::ExplainedSlice {
                table: group.table.clone(),
                time_interval: Some(v1::TimeInterval {
                    start: Some(timestamp_to_wire(layout.slice.start())),
                    end: Some(timestamp_to_wire(layout.slice.end())),
                }),
                seconds_per_bucket: i64::from(layout.shape.seconds_per_bucket),
                buckets_per_id: i32::from(layout.shape.buckets_per_id),
                time_buckets: Vec::new(),
            });
        }
        if let Some(slice) = slices.last_mut() {
            slice.time_buckets.push(time_bucket_to_wire(group));
        }
    }
    slices
}

fn time_bucket_to_wire(group: ExplainedGroup) -> v1::ExplainedTimeBucket {
    v1::ExplainedTimeBucket {
        time_bucket: bucket(group.group.time_bucket),
        time_interval: Some(interval_to_wire(group.group.interval)),
        event_buckets: group.partitions.into_iter().map(partition_to_wire).collect(),
    }
}

fn partition_to_wire(partition: ExplainedPartition) -> v1::ExplainedPartition {
    let ExplainedRoute { filter, cached, targets, fallback } = partition.route;
    let cache = match cached {
        None => "NOT_ASKED",
        Some(true) => "HIT",
        Some(false) => "MISS",
    };
    v1::ExplainedPartition {
        event_bucket: bucket(partition.event_bucket),
        filter: filter.map_or("NONE", yes_or_no).to_owned(),
        cache: cache.to_owned(),
        route: if targets.is_empty() { ORIGIN } else { TARGET }.to_owned(),
        rows: signed(partition.rows),
        bytes: signed(partition.bytes),
        store_calls: signed(partition.store_calls),
        time_taken: Some(duration_to_wire(partition.time_taken)),
        targets: targets.into_iter().map(bucket).collect(),
        fallback: fallback_to_wire(fallback),
    }
}

fn skipped_to_wire(skipped: Skipped) -> v1::ExplainedSkip {
    v1::ExplainedSkip {
        reason: skipped.reason.as_str().to_owned(),
        time_interval: Some(interval_to_wire(skipped.interval)),
        time_buckets: signed(skipped.time_buckets),
        partitions: signed(skipped.partitions),
    }
}

fn bucket(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::{Cost, Fallback, Partial, ReadPage, SkipReason};
    use model::{Group, Interval, Layout, ShapeSpec, Timeline, Timestamp};
    use prost_types::{Duration as WireDuration, Timestamp as WireTime};

    use super::*;
    use crate::convert::read_request;
    use crate::token::TokenKey;

    const HOUR: i64 = 3_600_000_000_000;

    fn keys() -> TokenKeys {
        TokenKeys { current: TokenKey { id: 1, secret: [9; 32] }, previous: None }
    }

    fn read() -> Read {
        let time = |seconds| Some(WireTime { seconds, nanos: 0 });
        let wire = v1::ReadEventRecordsRequest {
            namespace: "plays".to_owned(),
            time_series_id: "s".to_owned(),
            time_interval: Some(v1::TimeInterval { start: time(0), end: time(200_000) }),
            ..v1::ReadEventRecordsRequest::default()
        };
        read_request(wire, &keys(), 0).unwrap()
    }

    fn group(day: i64, time_bucket: u32) -> ExplainedGroup {
        let slice = Timeline::new(86_400).unwrap().slice_of(Timestamp::from_nanos(day * 24 * HOUR).unwrap());
        let layout = Layout { slice, shape: ShapeSpec::default().freeze().unwrap() };
        let start = slice.start() + i64::from(time_bucket) * HOUR;
        let partition = |event_bucket| ExplainedPartition {
            event_bucket,
            rows: 10,
            bytes: 1_000,
            store_calls: 2,
            time_taken: Duration::from_millis(5),
            route: ExplainedRoute::default(),
        };
        ExplainedGroup {
            table: format!("data_{day}"),
            group: Group { layout, time_bucket, interval: Interval::new(start + 1, start + HOUR).unwrap() },
            partitions: vec![partition(0), partition(3)],
        }
    }

    fn explanation(groups: Vec<ExplainedGroup>) -> Explanation {
        let interval = Interval::new(0, HOUR).unwrap();
        let skipped =
            |reason, time_buckets, partitions| Skipped { reason, interval, time_buckets, partitions };
        let page = ReadPage {
            events: Vec::new(),
            next: None,
            partial: Some(Partial { reason: "READ_MAX", complete: interval }),
            retention_truncated: true,
            partitions: Vec::new(),
            cost: Cost {
                partitions: 6,
                origins: 4,
                targets: 2,
                fallbacks: 1,
                bytes_read: 9,
                ..Cost::default()
            },
        };
        Explanation {
            groups,
            skipped: vec![skipped(SkipReason::NoSlice, 0, 0), skipped(SkipReason::TimeOver, 7, 28)],
            read_ahead: 4,
            page,
        }
    }

    #[test]
    fn groups_become_the_time_buckets_of_their_slices() {
        let groups = vec![group(1, 2), group(1, 1), group(0, 23)];
        let wire = explain_response(&read(), explanation(groups), &keys(), 0);
        let tree: Vec<_> = wire
            .slices
            .iter()
            .map(|slice| {
                let buckets = slice.time_buckets.iter().map(|bucket| bucket.time_bucket);
                (slice.table.as_str(), buckets.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(tree, [("data_1", vec![2, 1]), ("data_0", vec![23])]);
        let time = |seconds, nanos| Some(WireTime { seconds, nanos });
        let slice = &wire.slices[0];
        assert_eq!(
            slice.time_interval,
            Some(v1::TimeInterval { start: time(86_400, 0), end: time(172_800, 0) })
        );
        assert_eq!((slice.seconds_per_bucket, slice.buckets_per_id), (3_600, 4));
        let bucket = &slice.time_buckets[0];
        let asked = Some(v1::TimeInterval { start: time(93_600, 1), end: time(97_200, 0) });
        assert_eq!(bucket.time_interval, asked);
        let partition = v1::ExplainedPartition {
            event_bucket: 3,
            filter: "NONE".to_owned(),
            cache: "NOT_ASKED".to_owned(),
            route: "ORIGIN".to_owned(),
            rows: 10,
            bytes: 1_000,
            store_calls: 2,
            time_taken: Some(WireDuration { seconds: 0, nanos: 5_000_000 }),
            targets: Vec::new(),
            fallback: String::new(),
        };
        assert_eq!(bucket.event_buckets[1], partition);
    }

    #[test]
    fn a_partition_says_how_it_came_to_be_read_where_it_was() {
        let mut group = group(0, 0);
        group.partitions[0].route =
            ExplainedRoute { filter: Some(true), cached: Some(false), targets: vec![16, 18], fallback: None };
        group.partitions[1].route = ExplainedRoute {
            filter: Some(false),
            cached: Some(true),
            targets: Vec::new(),
            fallback: Some(Fallback::NoLease),
        };
        let wire = explain_response(&read(), explanation(vec![group]), &keys(), 0);
        let found = &wire.slices[0].time_buckets[0].event_buckets;
        let words = |at: usize| [&found[at].filter, &found[at].cache, &found[at].route, &found[at].fallback];
        assert_eq!(words(0), ["YES", "MISS", "TARGET", ""]);
        assert_eq!(words(1), ["NO", "HIT", "ORIGIN", "NO_LEASE"]);
        assert_eq!((found[0].targets.as_slice(), found[1].targets.as_slice()), (&[16, 18][..], &[][..]));
    }

    #[test]
    fn what_was_skipped_and_what_it_cost_is_said() {
        let wire = explain_response(&read(), explanation(Vec::new()), &keys(), 0);
        let skipped: Vec<_> = wire
            .skipped
            .iter()
            .map(|skip| (skip.reason.as_str(), skip.time_buckets, skip.partitions))
            .collect();
        assert_eq!(skipped, [("NO_SLICE", 0, 0), ("TIME_OVER", 7, 28)]);
        assert_eq!(wire.skipped[0].time_interval.unwrap().end, Some(WireTime { seconds: 3_600, nanos: 0 }));
        assert_eq!((wire.records, wire.read_ahead, wire.retention_truncated), (0, 4, true));
        assert_eq!(wire.partial.unwrap().reason, "READ_MAX");
        let context = &wire.response_context[0];
        assert_eq!((context.namespace.as_str(), context.bytes_read, context.partial), ("plays", 9, true));
        assert_eq!(context.routes, Some(v1::Routes { origin: 4, target: 2 }));
        assert_eq!((context.partitions, context.fallbacks), (6, 1));
        assert_eq!((wire.slices.len(), wire.next_page_token.as_str()), (0, ""));
    }
}
