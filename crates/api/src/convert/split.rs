//! Splits as they are shown. The key of their digests is a secret that only exports show.

use ::split::{
    Checkpoint, Digest, Garbage, Key, Phase, PostSplit, PreSplit, Recheck, Record, TargetPartition,
    Transition, Why,
};
use engine::{Split, SplitSummary, WidePartition};

use super::time::timestamp_to_wire;
use crate::admin::v1;
use crate::admin::v1::post_split_data::Strategy;

/// A split as it is now.
pub fn split_to_wire(split: Split) -> v1::Split {
    let Split { id, record, etag } = split;
    let Record { namespace, state, attempt, capped, covered_until, failures, by_hand, .. } = record;
    v1::Split {
        id,
        state: state.as_str().to_owned(),
        attempt,
        capped,
        covered_until: Some(timestamp_to_wire(covered_until)),
        pre_split_data: Some(origin(record.pre_split_data)),
        post_split_data: record.post_split_data.map(targets),
        checkpoint: record.checkpoint.as_ref().map(checkpoint),
        transitions: record.transitions.into_iter().map(transition).collect(),
        reason: record.reason.map(reason),
        namespace,
        owner: record.owner.unwrap_or_default(),
        next_look: record.next.map(timestamp_to_wire),
        by_hand,
        failures,
        rechecks: record.rechecks.iter().map(recheck).collect(),
        rechecked: record.rechecked,
        stragglers: record.stragglers,
        garbage: record.garbage.iter().map(garbage).collect(),
        etag,
    }
}

fn origin(pre: PreSplit) -> v1::PreSplitData {
    v1::PreSplitData {
        time_slice: pre.time_slice,
        time_series_id: pre.time_series_id,
        time_bucket: pre.time_bucket,
        event_bucket: pre.event_bucket,
        digest: pre.digest.as_ref().map(digest),
        bytes_read: number(pre.bytes_read.unwrap_or(0)),
    }
}

fn targets(post: PostSplit) -> v1::PostSplitData {
    let by_hash = post.event_bucket_partition_strategy.map(|buckets| {
        Strategy::EventBucketPartitionStrategy(v1::EventBucketPartitionStrategy {
            target_event_buckets: u32::from(buckets.target_event_buckets),
            start_event_bucket: buckets.start_event_bucket,
        })
    });
    let by_time = post.time_range_partition_strategy.map(|ranges| {
        Strategy::TimeRangePartitionStrategy(v1::TimeRangePartitionStrategy {
            boundaries: ranges.boundaries.into_iter().map(timestamp_to_wire).collect(),
            start_event_bucket: ranges.start_event_bucket,
        })
    });
    v1::PostSplitData {
        time_slice: post.time_slice,
        layout: post.layout.as_str().to_owned(),
        chunk_bytes: number(post.chunk_bytes.unwrap_or(0)),
        codec: post.codec.map(|codec| codec.as_str().to_owned()).unwrap_or_default(),
        strategy: by_hash.or(by_time),
        digest: post.digest.as_ref().map(digest),
        partitions: post.partitions.iter().map(partition).collect(),
        strategy_reason: post.strategy_reason,
    }
}

fn digest(digest: &Digest) -> v1::SplitDigest {
    v1::SplitDigest {
        rows: number(digest.rows),
        bytes: number(digest.bytes),
        checksum: digest.checksum_hex(),
    }
}

fn partition(target: &TargetPartition) -> v1::SplitPartition {
    v1::SplitPartition {
        event_bucket: target.event_bucket,
        rows: number(target.rows),
        bytes: number(target.bytes),
        stored_rows: number(target.stored_rows),
        stored_bytes: number(target.stored_bytes),
    }
}

fn checkpoint(checkpoint: &Checkpoint) -> v1::SplitCheckpoint {
    let phase = match checkpoint.phase {
        Phase::Plan => "PLAN",
        Phase::Copy => "COPY",
        Phase::VerifyTargets => "VERIFY_TARGETS",
        Phase::VerifyOrigin => "VERIFY_ORIGIN",
    };
    v1::SplitCheckpoint {
        attempt: checkpoint.attempt,
        phase: phase.to_owned(),
        target: checkpoint.target,
        rows: number(checkpoint.digest.rows),
        bytes: number(checkpoint.digest.bytes),
        time: Some(timestamp_to_wire(checkpoint.time)),
    }
}

fn transition(transition: Transition) -> v1::SplitTransition {
    v1::SplitTransition {
        state: transition.state.as_str().to_owned(),
        time: Some(timestamp_to_wire(transition.time)),
        server: transition.server,
        attempt: transition.attempt,
        reason: transition.reason.map(reason),
    }
}

fn reason(why: Why) -> v1::SplitReason {
    let key = |key: Key| v1::SplitRowKey {
        event_time: Some(timestamp_to_wire(key.event_time)),
        event_id: key.event_id,
        event_item_key: key.item_key,
    };
    v1::SplitReason { code: why.code.as_str().to_owned(), message: why.message, key: why.key.map(key) }
}

fn recheck(recheck: &Recheck) -> v1::SplitRecheck {
    v1::SplitRecheck {
        time: Some(timestamp_to_wire(recheck.time)),
        origin: Some(digest(&recheck.origin)),
        equal: recheck.equal,
    }
}

fn garbage(garbage: &Garbage) -> v1::SplitGarbage {
    v1::SplitGarbage {
        start_event_bucket: garbage.start_event_bucket,
        targets: garbage.targets,
        delete_after: Some(timestamp_to_wire(garbage.after)),
    }
}

/// What splits have done to a namespace.
pub(super) fn summary(summary: &SplitSummary) -> v1::SplitSummary {
    let states = summary.states.iter().map(|(state, count)| (state.as_str().to_owned(), number(*count)));
    v1::SplitSummary {
        states: states.collect(),
        origin_bytes: number(summary.origin_bytes),
        doubled_bytes: number(summary.doubled_bytes),
        largest_origin_bytes: number(summary.largest_origin_bytes),
        largest_target_bytes: number(summary.largest_target_bytes),
        paused: summary.paused,
    }
}

/// A partition that is wide.
pub fn wide_to_wire(wide: WidePartition) -> v1::WidePartition {
    v1::WidePartition {
        time_slice: wide.table,
        time_series_id: wide.partition.series.as_str().to_owned(),
        time_bucket: wide.partition.time_bucket,
        event_bucket: wide.partition.event_bucket,
        bytes: number(wide.bytes),
        split_state: wide.state.map(|state| state.as_str().to_owned()).unwrap_or_default(),
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
