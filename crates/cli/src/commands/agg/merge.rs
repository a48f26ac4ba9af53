//! Answers of one aggregation, added up to one. Each covers what lies behind the one before it, so counts add up exactly.
//! Pure.

use std::collections::BTreeMap;

use api::v1;
use bytes::Bytes;

use super::sum::CarefulSum;
use crate::commands::cost::CostSum;
use crate::failure::Failure;

/// What the values and stretches of all answers may take here.
const MERGED_BYTES_MAX: usize = 256 << 20;
/// About what a value or a stretch takes beside its bytes.
const ENTRY_BYTES: usize = 128;

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Merged {
    values: BTreeMap<Bytes, i64>,
    /// By start, in seconds and nanoseconds.
    stretches: BTreeMap<(i64, i32), v1::AggregationBucket>,
    stats: Option<v1::Stats>,
    sum: CarefulSum,
    pub(super) cost: CostSum,
    bytes: usize,
    /// Everything else, and of what says how far it goes the last answer's.
    rest: v1::AggregateEventRecordsResponse,
}

impl Merged {
    /// Adds a further answer.
    pub(super) fn add(&mut self, answer: v1::AggregateEventRecordsResponse) -> Result<(), Failure> {
        for bucket in answer.buckets {
            self.add_bucket(bucket)?;
        }
        if let Some(stats) = answer.stats {
            self.add_stats(stats);
        }
        self.cost.add(&answer.response_context);
        let rest = &mut self.rest;
        rest.count = rest.count.saturating_add(answer.count);
        rest.retention_truncated |= answer.retention_truncated;
        rest.complete_interval = joined(rest.complete_interval, answer.complete_interval);
        // Where the last one reached the end, nothing is missing, however those before it ended.
        rest.truncated = answer.truncated;
        rest.next_page_token = answer.next_page_token;
        rest.partial = answer.partial;
        Ok(())
    }

    fn add_bucket(&mut self, bucket: v1::AggregationBucket) -> Result<(), Failure> {
        let before = self.values.len() + self.stretches.len();
        let bytes = bucket.event_item_value.len() + ENTRY_BYTES;
        let start = bucket.time_interval.and_then(|interval| interval.start);
        let sum = match start {
            Some(start) => {
                let empty = v1::AggregationBucket { count: 0, ..bucket.clone() };
                &mut self.stretches.entry((start.seconds, start.nanos)).or_insert(empty).count
            }
            // A copy: a slice would keep the whole answer that it came in.
            None => self.values.entry(Bytes::copy_from_slice(&bucket.event_item_value)).or_insert(0),
        };
        *sum = sum.saturating_add(bucket.count);
        if self.values.len() + self.stretches.len() > before {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        if self.bytes > MERGED_BYTES_MAX {
            let message = format!(
                "the values or stretches of time take over {} MiB here; ask for less time, fewer events by \
                 --where, or longer stretches",
                MERGED_BYTES_MAX >> 20
            );
            return Err(Failure::Other(message));
        }
        Ok(())
    }

    fn add_stats(&mut self, stats: v1::Stats) {
        self.sum.add(stats.sum);
        let whole = self.stats.get_or_insert_default();
        whole.count = whole.count.saturating_add(stats.count);
        whole.min = either(whole.min, stats.min, f64::min);
        whole.max = either(whole.max, stats.max, f64::max);
        whole.sum = self.sum.total();
    }

    /// Matching events.
    pub(super) fn events(&self) -> u64 {
        u64::try_from(self.rest.count).unwrap_or(0)
    }

    /// Whether there is more behind it.
    pub(super) const fn is_truncated(&self) -> bool {
        self.rest.truncated
    }

    /// The time that it covers.
    pub(super) const fn covered(&self) -> Option<&v1::TimeInterval> {
        self.rest.complete_interval.as_ref()
    }

    /// Set where time ran out at the end of it.
    pub(super) const fn partial(&self) -> Option<&v1::Partial> {
        self.rest.partial.as_ref()
    }

    /// Whether a part of the time is gone.
    pub(super) const fn is_retention_truncated(&self) -> bool {
        self.rest.retention_truncated
    }

    /// All answers as one message: values with most events first, stretches in the order of the read.
    pub(super) fn message(self, oldest_first: bool) -> v1::AggregateEventRecordsResponse {
        let mut stretches: Vec<v1::AggregationBucket> = self.stretches.into_values().collect();
        if !oldest_first {
            stretches.reverse();
        }
        let value = |(event_item_value, count)| v1::AggregationBucket {
            event_item_value,
            count,
            ..v1::AggregationBucket::default()
        };
        let mut buckets: Vec<v1::AggregationBucket> = self.values.into_iter().map(value).collect();
        // Stable, so values with the same number stay in their own order.
        buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.count));
        buckets.extend(stretches);
        v1::AggregateEventRecordsResponse {
            buckets,
            stats: self.stats,
            response_context: self.cost.contexts(),
            ..self.rest
        }
    }
}

/// The better of the two that there are.
fn either(one: Option<f64>, other: Option<f64>, better: fn(f64, f64) -> f64) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(better(one, other)),
        (one, other) => one.or(other),
    }
}

/// From the first start to the last end: answers follow each other without a gap.
fn joined(one: Option<v1::TimeInterval>, other: Option<v1::TimeInterval>) -> Option<v1::TimeInterval> {
    let key = |time: &prost_types::Timestamp| (time.seconds, time.nanos);
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    let start = one.start.into_iter().chain(other.start).min_by_key(key);
    let end = one.end.into_iter().chain(other.end).max_by_key(key);
    Some(v1::TimeInterval { start, end })
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
