//! Namespaces as rows, and one of them in full.

mod wishes;

use std::time::Duration;

use api::admin::v1::{Namespace, Shape};

use super::list::Record;
use super::{Json, Table, value};
use crate::failure::Failure;
use wishes::{reading, splitting, tuning};

pub(super) use wishes::{meaning, percent};

/// A namespace in a list.
#[derive(Debug)]
pub(crate) struct NamespaceRecord<'a>(pub &'a Namespace);

/// What a limit of zero is called.
const ANY: &str = "any";
/// What a retention of zero is called.
const NEVER: &str = "never";

/// The parts of a namespace as text.
struct Parts {
    slice: String,
    bucket: String,
    buckets_per_id: String,
    accept: String,
    future: String,
    close: String,
    delete: String,
    target: String,
    max: String,
    compaction: String,
    compression: String,
}

impl Parts {
    fn of(namespace: &Namespace) -> Self {
        let shape = namespace.shape.unwrap_or_default();
        let retention = namespace.retention.unwrap_or_default();
        let slo = namespace.slo.unwrap_or_default();
        let storage = namespace.storage.clone().unwrap_or_default();
        Self {
            slice: seconds(shape.seconds_per_slice),
            bucket: seconds(shape.seconds_per_bucket),
            buckets_per_id: shape.buckets_per_id.to_string(),
            accept: or_zero(namespace.accept_limit, ANY),
            future: or_zero(namespace.future_limit, ANY),
            close: or_zero(retention.close_after, NEVER),
            delete: or_zero(retention.delete_after, NEVER),
            target: value::duration(value::from_wire(slo.read_target)),
            max: value::duration(value::from_wire(slo.read_max)),
            compaction: or_choice(&storage.compaction),
            compression: or_choice(&storage.compression),
        }
    }
}

/// What the store's own choice is called.
const CHOICE: &str = "default";

/// A name whose empty form is the store's choice.
pub(super) fn or_choice(name: &str) -> String {
    if name.is_empty() { CHOICE.to_owned() } else { name.to_owned() }
}

/// Seconds as a duration.
pub(super) fn seconds(seconds: u32) -> String {
    value::duration(Duration::from_secs(u64::from(seconds)))
}

/// A duration whose zero means something else.
fn or_zero(wire: Option<prost_types::Duration>, zero: &str) -> String {
    match value::from_wire(wire) {
        Duration::ZERO => zero.to_owned(),
        duration => value::duration(duration),
    }
}

impl Record for NamespaceRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["NAME", "SLICE", "BUCKET", "BUCKETS/ID", "ACCEPT", "KEEP", "INCARNATION"];
    const FIELDS: &'static [&'static str] = &[
        "name",
        "seconds_per_slice",
        "seconds_per_bucket",
        "buckets_per_id",
        "accept_limit",
        "future_limit",
        "close_after",
        "delete_after",
        "read_target",
        "read_max",
        "consistency",
        "compaction",
        "compression",
        "incarnation",
        "etag",
        "created",
        "split_policy",
        "threshold_bytes",
        "target_bytes",
        "max_split_buckets",
        "split_strategy",
        "split_layout",
        "read_mode",
        "read_mode_policy",
        "min_compared",
        "max_differ_bytes",
        "max_fallback_share",
        "max_latency_ratio",
        "min_time",
        "canary_share",
        "compare_share",
        "tune_policy",
        "density_min_bytes",
        "density_max_bytes",
    ];

    fn row(&self) -> Vec<String> {
        let Namespace { name, incarnation, .. } = self.0;
        let parts = Parts::of(self.0);
        let keep = if parts.delete == NEVER { "forever".to_owned() } else { parts.delete };
        vec![
            value::printable(name).into_owned(),
            parts.slice,
            parts.bucket,
            parts.buckets_per_id,
            parts.accept,
            keep,
            incarnation.to_string(),
        ]
    }

    /// Durations as they are typed; zero as `0s`, which is how it is set.
    fn lines(&self) -> Vec<Vec<String>> {
        let namespace = self.0;
        let Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id } =
            namespace.shape.unwrap_or_default();
        let retention = namespace.retention.unwrap_or_default();
        let slo = namespace.slo.unwrap_or_default();
        let storage = namespace.storage.clone().unwrap_or_default();
        let split = namespace.split.clone().unwrap_or_default();
        let tune = namespace.tune.clone().unwrap_or_default();
        let gates = namespace.read_gates.unwrap_or_default();
        let number = |share: Option<f64>| share.unwrap_or(0.0).to_string();
        let duration = |wire| value::duration(value::from_wire(wire));
        vec![vec![
            namespace.name.clone(),
            seconds_per_slice.to_string(),
            seconds_per_bucket.to_string(),
            buckets_per_id.to_string(),
            duration(namespace.accept_limit),
            duration(namespace.future_limit),
            duration(retention.close_after),
            duration(retention.delete_after),
            duration(slo.read_target),
            duration(slo.read_max),
            namespace.consistency.clone(),
            storage.compaction,
            storage.compression,
            namespace.incarnation.to_string(),
            namespace.etag.clone(),
            value::time(namespace.created),
            split.policy,
            split.threshold_bytes.to_string(),
            split.target_bytes.to_string(),
            split.max_split_buckets.to_string(),
            split.strategy,
            split.layout,
            namespace.read_mode.clone(),
            namespace.read_mode_policy.clone(),
            gates.min_compared.unwrap_or(0).to_string(),
            gates.max_differ_bytes.unwrap_or(0).to_string(),
            number(gates.max_fallback_share),
            number(gates.max_latency_ratio),
            duration(gates.min_time),
            number(namespace.canary_share),
            number(namespace.compare_share),
            tune.policy,
            tune.density_min_bytes.to_string(),
            tune.density_max_bytes.to_string(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// Everything about one namespace, a line each.
pub(crate) fn describe(namespace: &Namespace, width: Option<usize>) -> String {
    let parts = Parts::of(namespace);
    // Where zero means something else, so does the line.
    let (accept, future, close, delete) = (
        either(&parts.accept, "events older than this are refused", "events of any age are taken"),
        either(&parts.future, "events further ahead than this are refused", "events may lie anywhere ahead"),
        either(&parts.close, "after its end a slice takes writes for so long", "slices take writes for ever"),
        either(&parts.delete, "after its end a slice is kept for so long", "slices are kept for ever"),
    );
    let created = namespace.created.map(|at| prost_types::Timestamp { nanos: 0, ..at });
    let splitting = splitting(&namespace.split.clone().unwrap_or_default());
    let tuning = tuning(&namespace.tune.clone().unwrap_or_default());
    let lines = [
        ("name", namespace.name.clone(), ""),
        ("slice", parts.slice, "one table holds so much time"),
        ("bucket", parts.bucket, "one partition holds so much time of a series"),
        ("buckets/id", parts.buckets_per_id, "a series has so many partitions in a bucket"),
        ("accept", parts.accept, accept),
        ("future", parts.future, future),
        ("close", parts.close, close),
        ("delete", parts.delete, delete),
        ("read target", parts.target, "what a read is meant to take"),
        ("read max", parts.max, "then a read answers what it has"),
        ("consistency", namespace.consistency.clone(), "so many replicas answer, in a cluster"),
        ("compaction", parts.compaction, "how a cluster merges the files of future slices"),
        ("compression", parts.compression, "how it compresses them"),
    ];
    let last = [
        ("incarnation", namespace.incarnation.to_string(), "which making of the name this is"),
        ("etag", namespace.etag.clone(), "names this state"),
        ("created", value::time(created), ""),
    ];
    let row = |(name, value, help): (&str, String, &str)| {
        vec![name.to_owned(), value::printable(&value).into_owned(), help.to_owned()]
    };
    let mut text = String::new();
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .chain(splitting)
        .chain(reading(namespace))
        .chain(tuning)
        .chain(last)
        .map(row)
        .collect();
    Table::new(width).rows(&rows, &mut text);
    text
}

fn either(value: &str, said: &'static str, of_zero: &'static str) -> &'static str {
    if matches!(value, ANY | NEVER) { of_zero } else { said }
}

#[cfg(test)]
mod tests {
    use api::admin::v1::{ReadGates, Retention, Slo, SplitSettings, Storage, TuneSettings};

    use super::*;

    fn namespace() -> Namespace {
        let wire = |seconds, nanos| Some(prost_types::Duration { seconds, nanos });
        Namespace {
            name: "plays".to_owned(),
            shape: Some(Shape { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 4 }),
            accept_limit: wire(600, 0),
            future_limit: wire(0, 0),
            retention: Some(Retention { close_after: wire(2_592_000, 0), delete_after: wire(0, 0) }),
            slo: Some(Slo { read_target: wire(0, 500_000_000), read_max: wire(10, 0) }),
            incarnation: 2,
            etag: "\"e\"".to_owned(),
            created: Some(prost_types::Timestamp { seconds: 1_778_542_920, nanos: 1 }),
            consistency: "LOCAL_QUORUM".to_owned(),
            storage: Some(Storage { compaction: "leveled".to_owned(), compression: String::new() }),
            split: Some(SplitSettings {
                policy: "auto".to_owned(),
                threshold_bytes: 16 << 20,
                target_bytes: 4 << 20,
                max_split_buckets: 16,
                strategy: "auto".to_owned(),
                layout: "auto".to_owned(),
            }),
            read_mode: "canary".to_owned(),
            read_mode_policy: "auto".to_owned(),
            read_gates: Some(ReadGates {
                min_compared: Some(50),
                max_differ_bytes: Some(0),
                max_fallback_share: Some(0.01),
                max_latency_ratio: Some(0.0),
                min_time: wire(600, 0),
            }),
            canary_share: Some(0.25),
            compare_share: Some(1.0),
            tune: Some(TuneSettings {
                policy: "propose".to_owned(),
                density_min_bytes: 2 << 20,
                density_max_bytes: 10 << 20,
            }),
        }
    }

    #[test]
    fn a_row_says_what_zero_means_and_csv_what_to_type() {
        let namespace = namespace();
        let record = NamespaceRecord(&namespace);
        assert_eq!(record.row(), ["plays", "1d", "1h", "4", "10m", "forever", "2"]);
        assert_eq!(
            record.lines().concat().join(" "),
            "plays 86400 3600 4 10m 0s 30d 0s 500ms 10s LOCAL_QUORUM leveled  2 \"e\" 2026-05-11T23:42:00.000000001Z \
             auto 16777216 4194304 16 auto auto canary auto 50 0 0.01 0 10m 0.25 1 propose 2097152 10485760"
        );
        assert_eq!(record.lines().concat().len(), NamespaceRecord::FIELDS.len());
        assert_eq!(record.row().len(), NamespaceRecord::COLUMNS.len());
    }

    #[test]
    fn one_in_full() {
        let text = describe(&namespace(), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 34);
        assert_eq!(lines[0], "name         plays");
        assert_eq!(lines[4], "accept       10m                   events older than this are refused");
        assert_eq!(lines[5], "future       any                   events may lie anywhere ahead");
        assert_eq!(
            lines[6],
            "close        30d                   after its end a slice takes writes for so long"
        );
        assert_eq!(lines[7], "delete       never                 slices are kept for ever");
        assert_eq!(lines[10], "consistency  LOCAL_QUORUM          so many replicas answer, in a cluster");
        assert_eq!(
            lines[11],
            "compaction   leveled               how a cluster merges the files of future slices"
        );
        assert_eq!(lines[12], "compression  default               how it compresses them");
        assert_eq!(
            lines[13],
            "split        auto                  wide partitions that a read finds are split"
        );
        assert_eq!(lines[14], "wide over    16.0 MiB              a partition with more is wide");
        assert_eq!(lines[16], "max targets  16                    so many parts at most");
        assert_eq!(lines[19], "read mode    canary                a share of reads is served from targets");
        assert_eq!(
            lines[29],
            "density min  2.0 MiB               below this p99 there are too many partitions"
        );
        assert_eq!(lines[33], "created      2026-05-11T23:42:00Z");
    }
}
