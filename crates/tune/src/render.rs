//! A proposal as people read it: first as the published worker prints it, then why.

use model::ShapeSpec;
use model::slice::utc;

use crate::{Direction, Proposal, Seen, State, reads};

/// What the worker is called.
const WORKER: &str = "DynamicTimeSliceConfigWorker";

impl Proposal {
    /// All of it as text.
    pub fn rendered(&self, namespace: &str, first_slice: &str) -> String {
        let draft = &self.draft;
        let mut text = format!("{WORKER}:\nnamespace: {namespace}\n");
        let side = match draft.direction {
            Direction::Fewer => "below",
            Direction::More => "above",
        };
        let target = bytes(draft.density.max).replace(' ', "");
        let mut line = |key: &str, value: String| text.extend([key, ": ", &value, "\n"]);
        line("Observed", format!("TimeSlices have p99 partitions {side} configured target of {target}."));
        line("Proposed", changed(draft.from, draft.to));
        line("from slice", format!("{first_slice} on; slices that exist keep their shape"));
        line("density", format!("{} to {}", bytes(draft.density.min), bytes(draft.density.max)));
        line("observed", sizes(&draft.observed));
        line("predicted", format!("{}, from {}", sizes(&draft.predicted), draft.basis.as_str()));
        for ((span, before), (_, after)) in reads(draft.from).into_iter().zip(reads(draft.to)) {
            line("partitions per read", format!("{before} -> {after} for {}", age(u64::from(span))));
        }
        for (table, p99, partitions) in &draft.evidence {
            line("evidence", format!("{table}, p99 {}, {partitions} partitions", bytes(*p99)));
        }
        line("quality", format!("{:?}", draft.quality).to_lowercase());
        for limit in &draft.limits {
            line("limited by", limit.told().to_owned());
        }
        line("state", self.state.as_str().to_owned());
        if let Some(settled) = &self.settled {
            let who = if settled.author.is_empty() { "the tuner" } else { &settled.author };
            line("settled", format!("{} by {who}: {}", utc(settled.time), settled.reason));
        }
        match &self.outcome {
            Some(outcome) => {
                line("turned out", format!("{}, over {} slices", sizes(&outcome.seen), outcome.slices));
            }
            None if self.state == State::Accepted => {
                line("turned out", "not known before a slice of the new shape is closed".to_owned());
            }
            None => {}
        }
        text
    }
}

/// What changes, as the published worker says it.
fn changed(from: ShapeSpec, to: ShapeSpec) -> String {
    let mut parts = Vec::new();
    if from.seconds_per_bucket != to.seconds_per_bucket {
        let (before, after) = (from.seconds_per_bucket, to.seconds_per_bucket);
        parts.push(format!("time_bucket interval: {before}s -> {after}s"));
    }
    if from.buckets_per_id != to.buckets_per_id {
        parts.push(format!("event buckets: {} -> {}", from.buckets_per_id, to.buckets_per_id));
    }
    parts.join(", ")
}

fn sizes(seen: &Seen) -> String {
    let Seen { p50, p99, max, partitions } = *seen;
    format!("p50 {}, p99 {}, max {}, {partitions} partitions a slice", bytes(p50), bytes(p99), bytes(max))
}

/// A number of bytes as people say it: three digits and a unit.
pub fn bytes(number: u64) -> String {
    const UNITS: &[(&str, u32)] = &[("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| number >> shift > 0) {
        None => format!("{number} B"),
        Some((unit, shift)) => {
            let (whole, tenths) = (number >> shift, (number >> (shift - 7)) % 128 * 10 / 128);
            match (whole, tenths) {
                (100.., _) | (_, 0) => format!("{whole} {unit}"),
                _ => format!("{whole}.{tenths} {unit}"),
            }
        }
    }
}

/// A time span as people say it: the largest unit that fits, whole.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        86_400.. => "a day".to_owned(),
        7_200.. => format!("{} hours", seconds / 3_600),
        3_600.. => "an hour".to_owned(),
        120.. => format!("{} minutes", seconds / 60),
        _ => format!("{seconds} seconds"),
    }
}
