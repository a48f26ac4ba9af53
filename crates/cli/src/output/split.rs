//! Splits as rows, and the widest partitions.

mod bars;
mod progress;
mod story;

use std::time::Duration;

use api::admin::v1::post_split_data::Strategy;
use api::admin::v1::{PostSplitData, PreSplitData, Split, SplitReason, SplitSummary, WidePartition};
use jiff::Timestamp;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;
use progress::Progress;

pub(crate) use bars::Bars;
pub(crate) use progress::{ProgressRecord, ended as split_ended};
pub(crate) use story::{compared, story};

/// A split in a list, looked at at some time.
#[derive(Debug)]
pub(crate) struct SplitRecord<'a> {
    pub split: &'a Split,
    pub now: Timestamp,
}

impl Record for SplitRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["ID", "STATE", "ATTEMPT", "BYTES", "TARGETS", "AGE", "REASON"];
    const FIELDS: &'static [&'static str] = &[
        "id",
        "state",
        "attempt",
        "capped",
        "time_slice",
        "time_series_id",
        "time_bucket",
        "event_bucket",
        "rows",
        "bytes",
        "targets",
        "largest_target_bytes",
        "since",
        "reason",
        "message",
    ];

    fn row(&self) -> Vec<String> {
        let split = self.split;
        let percent = Progress::of(split).and_then(|progress| progress.percent());
        let state =
            percent.map_or_else(|| split.state.clone(), |percent| format!("{} {percent}%", split.state));
        let since = since(split);
        vec![
            value::printable(&split.id).into_owned(),
            value::printable(&state).into_owned(),
            split.attempt.to_string(),
            size(split),
            targets(split),
            since.map(|since| value::duration(age(since, self.now))).unwrap_or_default(),
            split.reason.as_ref().map(why).unwrap_or_default(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let split = self.split;
        let pre = split.pre_split_data.clone().unwrap_or_default();
        let digest = pre.digest.clone().unwrap_or_default();
        let largest = largest(split).map(|bytes| bytes.to_string());
        let reason = split.reason.clone().unwrap_or_default();
        vec![vec![
            split.id.clone(),
            split.state.clone(),
            split.attempt.to_string(),
            split.capped.to_string(),
            pre.time_slice,
            pre.time_series_id,
            pre.time_bucket.to_string(),
            pre.event_bucket.to_string(),
            digest.rows.to_string(),
            digest.bytes.to_string(),
            split.post_split_data.as_ref().map_or(0, count).to_string(),
            largest.unwrap_or_default(),
            value::time(since(split)),
            reason.code,
            reason.message,
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.split)
    }
}

/// When its present state began.
fn since(split: &Split) -> Option<prost_types::Timestamp> {
    split.transitions.last().and_then(|transition| transition.time)
}

/// For how long, in whole seconds; clocks of servers may be ahead of this one.
fn age(since: prost_types::Timestamp, now: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(now.as_second().saturating_sub(since.seconds)).unwrap_or(0))
}

fn bytes(number: i64) -> String {
    value::size(u64::try_from(number).unwrap_or(0))
}

/// How large the origin is, or at least is.
fn size(split: &Split) -> String {
    match &split.pre_split_data {
        Some(PreSplitData { digest: Some(digest), .. }) => bytes(digest.bytes),
        Some(PreSplitData { bytes_read: read @ 1.., .. }) => format!(">= {}", bytes(*read)),
        _ => String::new(),
    }
}

/// How many targets there are, or will be.
fn count(post: &PostSplitData) -> usize {
    match &post.strategy {
        Some(Strategy::EventBucketPartitionStrategy(by_hash)) => {
            usize::try_from(by_hash.target_event_buckets).unwrap_or(0)
        }
        Some(Strategy::TimeRangePartitionStrategy(by_time)) => by_time.boundaries.len() + 1,
        None => 0,
    }
}

fn largest(split: &Split) -> Option<i64> {
    split.post_split_data.as_ref()?.partitions.iter().map(|target| target.bytes).max()
}

fn targets(split: &Split) -> String {
    let Some(post) = &split.post_split_data else { return String::new() };
    let mut text = count(post).to_string();
    if let Some(largest) = largest(split) {
        text += &format!(" up to {}", bytes(largest));
    }
    if split.capped {
        text += ", capped";
    }
    text
}

/// A reason on one line.
fn why(reason: &SplitReason) -> String {
    value::printable(&format!("{}: {}", reason.code, reason.message)).into_owned()
}

/// What splits have done to a namespace, in a sentence.
pub(crate) fn summed_up(summary: &SplitSummary) -> String {
    let splits = summary.states.values().sum::<i64>();
    let splits = value::count(u64::try_from(splits).unwrap_or(0), "split");
    let states: Vec<String> =
        summary.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let mut text =
        if states.is_empty() { "no splits".to_owned() } else { format!("{splits}: {}", states.join(", ")) };
    if summary.largest_origin_bytes > 0 {
        text += &format!(
            "; {} split, the largest partition of {} into ones of {} at most",
            bytes(summary.origin_bytes),
            bytes(summary.largest_origin_bytes),
            bytes(summary.largest_target_bytes),
        );
    }
    if summary.doubled_bytes > 0 {
        text += &format!("; {} are kept twice", bytes(summary.doubled_bytes));
    }
    if summary.paused {
        text += "; paused, `braid split resume` lets workers go on";
    }
    text + "\n"
}

/// A wide partition in a list.
#[derive(Debug)]
pub(crate) struct WideRecord<'a>(pub &'a WidePartition);

impl Record for WideRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["ID", "BYTES", "SPLIT"];
    const FIELDS: &'static [&'static str] =
        &["time_slice", "time_series_id", "time_bucket", "event_bucket", "bytes", "split_state"];

    fn row(&self) -> Vec<String> {
        let WidePartition { time_slice, time_series_id, time_bucket, event_bucket, .. } = self.0;
        let id = format!("{time_slice}/{time_bucket}/{event_bucket}/{time_series_id}");
        let state = value::printable(&self.0.split_state).into_owned();
        vec![value::printable(&id).into_owned(), bytes(self.0.bytes), state]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let wide = self.0;
        vec![vec![
            wide.time_slice.clone(),
            wide.time_series_id.clone(),
            wide.time_bucket.to_string(),
            wide.event_bucket.to_string(),
            wide.bytes.to_string(),
            wide.split_state.clone(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// A namespace in which workers were told to stop or to go on.
#[derive(Debug)]
pub(crate) struct SteeredRecord<'a>(pub &'a str);

impl Record for SteeredRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["NAMESPACE"];
    const FIELDS: &'static [&'static str] = &["namespace"];

    fn row(&self) -> Vec<String> {
        vec![value::printable(self.0).into_owned()]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![vec![self.0.to_owned()]]
    }

    fn json(&self, _: &Json) -> Result<Vec<u8>, Failure> {
        Ok(serde_json::json!({"namespace": self.0}).to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests;
