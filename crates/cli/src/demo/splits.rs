//! The whale's partitions are found wide by reads, and split by the server's workers; here it is only watched.

use std::collections::BTreeMap;
use std::time::Duration;

use api::admin::v1 as admin;
use env::Env;
use rpc::client::Client;

use super::figures::seconds;
use super::workload::HOURS;
use crate::failure::Failure;
use crate::import::grouped;
use crate::output::value::{count, size};

/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Looks before it is given up: five minutes.
const LOOKS_MAX: u32 = 6_000;
const NANOS: f64 = 1e9;

/// What was split.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Splits {
    /// One by one.
    pub(crate) splits: Vec<Divided>,
    /// From the first look to the last completed.
    pub(crate) seconds: f64,
    /// States and checkpoints that were seen on the way.
    pub(crate) steps_seen: u64,
    /// Partitions that are wide, before and after.
    pub(crate) wide_before: u64,
    /// The same of the targets.
    pub(crate) wide_after: u64,
    /// Partitions with more bytes than a target should have, before and after.
    pub(crate) over_target_before: u64,
    /// The same of the targets; a little more is what cutting between two events costs.
    pub(crate) over_target_after: u64,
    /// The largest partition before and after.
    pub(crate) largest_before_bytes: u64,
    /// The same of the targets.
    pub(crate) largest_after_bytes: u64,
    /// Bytes that are kept twice now.
    pub(crate) doubled_bytes: u64,
}

/// One split.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Divided {
    /// Names it.
    pub(crate) id: String,
    /// How it was cut.
    pub(crate) strategy: &'static str,
    /// Into how many.
    pub(crate) targets: usize,
    /// Rows of the origin.
    pub(crate) rows: i64,
    /// Their bytes.
    pub(crate) bytes: i64,
    /// Of the origin, as the planner read it.
    pub(crate) origin_checksum: String,
    /// Of the targets, as they were read back.
    pub(crate) target_checksum: String,
    /// Rows, bytes and checksum are the same.
    pub(crate) equal: bool,
    /// From the detection to its end.
    pub(crate) seconds: f64,
}

/// Who watches.
pub(super) struct Watch<'a> {
    pub(super) client: &'a Client,
    pub(super) namespace: &'a str,
    /// From how many bytes on a partition is wide.
    pub(super) threshold_bytes: i64,
    /// How many a target should have.
    pub(super) target_bytes: i64,
}

impl Watch<'_> {
    /// Waits until what was found wide is split, and says what is seen of it.
    pub(super) async fn watch(
        &self,
        env: &Env,
        mut say: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<Splits, Failure> {
        let started = env.clock.boot();
        let (mut seen, mut steps_seen) = (BTreeMap::new(), 0);
        for _ in 0..LOOKS_MAX {
            let namespace = self.namespace.to_owned();
            let request = admin::ListSplitsRequest { namespace, ..Default::default() };
            let found = self.client.list_splits(request).await?;
            for split in &found.splits {
                let step = step(split);
                if seen.insert(split.id.clone(), step.clone()).as_ref() != Some(&step) {
                    steps_seen += 1;
                    say(&format!("{}: {step}", split.id))?;
                }
            }
            let done = |split: &admin::Split| split.state == "COMPLETED";
            if found.splits.len() as u64 >= HOURS && found.splits.iter().all(done) {
                let seconds = env.clock.boot().since(started).as_secs_f64();
                return Ok(Splits { seconds, steps_seen, ..self.summed_up(&found) });
            }
            env.clock.sleep(LOOK_EVERY).await;
        }
        let last: Vec<String> = seen.into_iter().map(|(id, step)| format!("{id} is {step}")).collect();
        Err(Failure::Other(format!(
            "not everything that is wide was split in five minutes ({}); does the server have workers (limits.splits)?",
            last.join("; ")
        )))
    }

    fn summed_up(&self, found: &admin::ListSplitsResponse) -> Splits {
        let digests = found.splits.iter().filter_map(|split| split.pre_split_data.as_ref()?.digest.as_ref());
        let origins: Vec<i64> = digests.map(|digest| digest.bytes).collect();
        let posts = found.splits.iter().filter_map(|split| split.post_split_data.as_ref());
        let targets: Vec<i64> =
            posts.flat_map(|post| &post.partitions).map(|target| target.stored_bytes).collect();
        let over = |all: &[i64], most: i64| all.iter().filter(|bytes| **bytes > most).count() as u64;
        let whole = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let summary = found.summary.clone().unwrap_or_default();
        Splits {
            splits: found.splits.iter().map(divided).collect(),
            wide_before: over(&origins, self.threshold_bytes),
            wide_after: over(&targets, self.threshold_bytes),
            over_target_before: over(&origins, self.target_bytes),
            over_target_after: over(&targets, self.target_bytes),
            largest_before_bytes: whole(summary.largest_origin_bytes),
            largest_after_bytes: whole(summary.largest_target_bytes),
            doubled_bytes: whole(summary.doubled_bytes),
            ..Splits::default()
        }
    }
}

/// Where a split is, for people.
fn step(split: &admin::Split) -> String {
    let mut text = split.state.clone();
    if let Some(reason) = split.reason.as_ref().filter(|_| split.state != "COMPLETED") {
        text.push_str(&format!(", {}", reason.code));
    }
    if let Some(checkpoint) = &split.checkpoint {
        text.push_str(&format!(", checkpoint {}", checkpoint.phase));
        if checkpoint.phase == "VERIFY_TARGETS" {
            text.push_str(&format!(", target {}", checkpoint.target));
        }
        if let Some(bytes) = u64::try_from(checkpoint.bytes).ok().filter(|bytes| *bytes > 0) {
            text.push_str(&format!(" at {}", size(bytes)));
        }
    }
    text
}

fn divided(split: &admin::Split) -> Divided {
    let post = split.post_split_data.clone().unwrap_or_default();
    let origin = split.pre_split_data.clone().unwrap_or_default().digest.unwrap_or_default();
    let target = post.digest.unwrap_or_default();
    let nanos = |time: Option<prost_types::Timestamp>| {
        time.map_or(0.0, |time| time.seconds as f64 * NANOS + f64::from(time.nanos))
    };
    let at = |step: Option<&admin::SplitTransition>| nanos(step.and_then(|step| step.time));
    let took = at(split.transitions.last()) - at(split.transitions.first());
    let strategy = match post.strategy {
        Some(admin::post_split_data::Strategy::EventBucketPartitionStrategy(_)) => "event_bucket",
        Some(admin::post_split_data::Strategy::TimeRangePartitionStrategy(_)) => "time_range",
        None => "none",
    };
    Divided {
        id: split.id.clone(),
        strategy,
        targets: post.partitions.len(),
        rows: origin.rows,
        bytes: origin.bytes,
        equal: origin == target && !origin.checksum.is_empty(),
        origin_checksum: origin.checksum,
        target_checksum: target.checksum,
        seconds: took.max(0.0) / NANOS,
    }
}

impl Divided {
    /// For people.
    pub(super) fn text(&self) -> String {
        let whole = |number: i64| u64::try_from(number).unwrap_or(0);
        let clip = |checksum: &str| checksum.chars().take(16).collect::<String>();
        let equal = if self.equal { "digests equal" } else { "DIGESTS DIFFER" };
        format!(
            "{}: {} rows, {} in {} by {}, {}; {equal}: origin {}, targets {}",
            self.id,
            grouped(whole(self.rows)),
            size(whole(self.bytes)),
            count(self.targets as u64, "target"),
            self.strategy,
            seconds(self.seconds),
            clip(&self.origin_checksum),
            clip(&self.target_checksum),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split() -> admin::Split {
        let digest = |checksum: &str| {
            Some(admin::SplitDigest { rows: 1_000, bytes: 5 << 20, checksum: checksum.to_owned() })
        };
        let target = |stored_bytes| admin::SplitPartition { stored_bytes, ..Default::default() };
        let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let transition = |seconds| admin::SplitTransition { time: time(seconds), ..Default::default() };
        let strategy = admin::TimeRangePartitionStrategy::default();
        admin::Split {
            id: "data_1/7/0/whale".to_owned(),
            state: "COMPLETED".to_owned(),
            pre_split_data: Some(admin::PreSplitData { digest: digest("abcdef"), ..Default::default() }),
            post_split_data: Some(admin::PostSplitData {
                digest: digest("abcdef"),
                partitions: vec![target(1 << 20), target(2 << 20), target(2 << 20)],
                strategy: Some(admin::post_split_data::Strategy::TimeRangePartitionStrategy(strategy)),
                ..Default::default()
            }),
            transitions: vec![transition(10), transition(12)],
            ..Default::default()
        }
    }

    #[test]
    fn a_split_is_told_with_both_digests() {
        let expect = "data_1/7/0/whale: 1,000 rows, 5.0 MiB in 3 targets by time_range, 2.00 s; \
                      digests equal: origin abcdef, targets abcdef";
        assert_eq!(divided(&split()).text(), expect);
        let mut other = split();
        other.post_split_data.as_mut().unwrap().digest.as_mut().unwrap().checksum = "x".to_owned();
        assert!(!divided(&other).equal && !divided(&admin::Split::default()).equal);
    }

    #[tokio::test]
    async fn partitions_over_the_target_are_counted_before_and_after() {
        let found = admin::ListSplitsResponse { splits: vec![split(), split()], ..Default::default() };
        let client = Client::new("127.0.0.1:1").unwrap();
        let of = |threshold_bytes, target_bytes| {
            Watch { client: &client, namespace: "demo", threshold_bytes, target_bytes }.summed_up(&found)
        };
        let (some, less) = (of(4 << 20, 2 << 20), of(6 << 20, (2 << 20) - 1));
        assert_eq!((some.wide_before, some.wide_after, less.wide_before), (2, 0, 0));
        assert_eq!((some.over_target_before, some.over_target_after, less.over_target_after), (2, 0, 4));
    }

    #[test]
    fn progress_comes_from_checkpoints() {
        let checkpoint = |phase: &str| admin::SplitCheckpoint {
            phase: phase.to_owned(),
            target: 2,
            bytes: 3 << 20,
            ..Default::default()
        };
        let of = |state: &str, phase: Option<&str>| {
            step(&admin::Split {
                state: state.to_owned(),
                checkpoint: phase.map(checkpoint),
                ..Default::default()
            })
        };
        assert_eq!(of("COPYING", Some("COPY")), "COPYING, checkpoint COPY at 3.0 MiB");
        let verify = of("VERIFYING", Some("VERIFY_TARGETS"));
        assert_eq!(verify, "VERIFYING, checkpoint VERIFY_TARGETS, target 2 at 3.0 MiB");
        assert_eq!(of("PLANNED", None), "PLANNED");
    }
}
