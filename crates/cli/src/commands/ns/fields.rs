//! The settings of a namespace as flags, and as the message that carries those that were given.

use std::time::Duration;

use api::admin::v1::{Namespace, Retention, Shape, Slo, Storage};
use api::convert::duration_to_wire;

use super::reading::Reading;
use super::splitting::Splitting;
use super::tuning::Tuning;
use crate::failure::Failure;
use crate::input::parse_duration;

/// The settings of a namespace, as far as they were given.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Settings")]
pub(super) struct Fields {
    /// Time that one slice (a table) holds (default 1d)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    slice: Option<Duration>,
    /// Time that one partition holds; divides the slice (default 1h)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    bucket: Option<Duration>,
    /// Partitions of a series in a bucket, at most 64 (default 4)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    buckets_per_id: Option<u32>,
    /// How old an event may be when it is written; 0 for any age (default 10m)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    accept_limit: Option<Duration>,
    /// How far in the future an event may be; 0 for any (default 10m)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    future_limit: Option<Duration>,
    /// How long after its end a slice takes writes; 0 for ever (default 30d)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    close_after: Option<Duration>,
    /// How long after its end a slice is kept; 0 for ever (default 31d)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    delete_after: Option<Duration>,
    /// What a read is meant to take; near it, a cluster may be asked twice; 0 for never (default 500ms)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    read_target: Option<Duration>,
    /// After so long a read answers what it has (default 10s)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    read_max: Option<Duration>,
    /// Replicas that answer a write or a read, in a cluster: LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM (default
    /// LOCAL_QUORUM)
    #[arg(long, value_name = "LEVEL")]
    consistency: Option<String>,
    /// How a cluster merges the files of future slices: unified, leveled, size_tiered, time_window or '' (default '',
    /// the store's choice)
    #[arg(long, value_name = "NAME")]
    compaction: Option<String>,
    /// How a cluster compresses the files of future slices: lz4, zstd, none or '' (default '', the store's choice)
    #[arg(long, value_name = "NAME")]
    compression: Option<String>,
    #[command(flatten)]
    splitting: Splitting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    tuning: Tuning,
}

impl Fields {
    /// The message with these fields, and the path of each: zero is sent as zero, what was not given is not sent.
    pub(super) fn message(&self, name: String) -> Result<(Namespace, Vec<String>), Failure> {
        let mut paths = Vec::new();
        let shape = Shape {
            seconds_per_slice: seconds("--slice", self.slice)?,
            seconds_per_bucket: seconds("--bucket", self.bucket)?,
            buckets_per_id: self.buckets_per_id.unwrap_or(0),
        };
        for (path, number) in [
            ("shape.seconds_per_slice", shape.seconds_per_slice),
            ("shape.seconds_per_bucket", shape.seconds_per_bucket),
            ("shape.buckets_per_id", shape.buckets_per_id),
        ] {
            if number > 0 {
                paths.push(path.to_owned());
            }
        }
        let mut wire = |path: &str, duration: Option<Duration>| {
            let duration = duration?;
            paths.push(path.to_owned());
            Some(duration_to_wire(duration))
        };
        let accept_limit = wire("accept_limit", self.accept_limit);
        let future_limit = wire("future_limit", self.future_limit);
        let retention = Retention {
            close_after: wire("retention.close_after", self.close_after),
            delete_after: wire("retention.delete_after", self.delete_after),
        };
        let slo = Slo {
            read_target: wire("slo.read_target", self.read_target),
            read_max: wire("slo.read_max", self.read_max),
        };
        let mut name_of = |path: &str, given: &Option<String>| {
            if given.is_some() {
                paths.push(path.to_owned());
            }
            given.clone().unwrap_or_default()
        };
        let consistency = name_of("consistency", &self.consistency);
        let storage = Storage {
            compaction: name_of("storage.compaction", &self.compaction),
            compression: name_of("storage.compression", &self.compression),
        };
        let split = self.splitting.message(&mut paths);
        let tune = self.tuning.message(&mut paths);
        let mut namespace = Namespace {
            name,
            shape: Some(shape).filter(|shape| *shape != Shape::default()),
            accept_limit,
            future_limit,
            retention: Some(retention).filter(|retention| *retention != Retention::default()),
            slo: Some(slo).filter(|slo| *slo != Slo::default()),
            consistency,
            storage: Some(storage).filter(|storage| *storage != Storage::default()),
            split,
            tune,
            ..Namespace::default()
        };
        self.reading.fill(&mut namespace, &mut paths);
        Ok((namespace, paths))
    }
}

/// Whole seconds; 0 where nothing was given. Zero itself cannot be told from nothing on the wire, so it is refused here.
fn seconds(flag: &str, duration: Option<Duration>) -> Result<u32, Failure> {
    let Some(duration) = duration else { return Ok(0) };
    match u32::try_from(duration.as_secs()) {
        Ok(seconds) if seconds > 0 && duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(Failure::Usage(format!(
            "{flag} counts in whole seconds, from 1s to 136 years; write one such as 1h"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(fields: &Fields) -> (Namespace, String) {
        let (namespace, paths) = fields.message("plays".to_owned()).unwrap();
        (namespace, paths.join(" "))
    }

    #[test]
    fn only_what_was_given_is_sent() {
        let (namespace, paths) = given(&Fields::default());
        assert_eq!(
            (namespace, paths.as_str()),
            (Namespace { name: "plays".to_owned(), ..Namespace::default() }, "")
        );
        let fields = Fields {
            bucket: Some(Duration::from_secs(600)),
            read_max: Some(Duration::from_millis(1_500)),
            ..Fields::default()
        };
        let (namespace, paths) = given(&fields);
        assert_eq!(paths, "shape.seconds_per_bucket slo.read_max");
        assert_eq!(namespace.shape.unwrap().seconds_per_bucket, 600);
        assert_eq!(
            namespace.slo.unwrap().read_max,
            Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 })
        );
        assert_eq!((namespace.retention, namespace.accept_limit), (None, None));
    }

    #[test]
    fn zero_is_sent_as_zero() {
        let zero = Some(Duration::ZERO);
        let fields = Fields {
            accept_limit: zero,
            future_limit: zero,
            close_after: zero,
            delete_after: zero,
            ..Fields::default()
        };
        let (namespace, paths) = given(&fields);
        assert_eq!(paths, "accept_limit future_limit retention.close_after retention.delete_after");
        let wire = Some(prost_types::Duration::default());
        assert_eq!((namespace.accept_limit, namespace.future_limit), (wire, wire));
        assert_eq!(namespace.retention, Some(Retention { close_after: wire, delete_after: wire }));
    }

    #[test]
    fn an_empty_name_is_sent_by_its_path_alone() {
        let fields = Fields {
            consistency: Some("LOCAL_ONE".to_owned()),
            compaction: Some("leveled".to_owned()),
            compression: Some(String::new()),
            ..Fields::default()
        };
        let (namespace, paths) = given(&fields);
        assert_eq!(paths, "consistency storage.compaction storage.compression");
        assert_eq!(namespace.consistency, "LOCAL_ONE");
        assert_eq!(
            namespace.storage,
            Some(Storage { compaction: "leveled".to_owned(), compression: String::new() })
        );
    }

    #[test]
    fn a_shape_counts_in_whole_seconds() {
        for duration in [Duration::ZERO, Duration::from_millis(1_500), Duration::from_secs(1 << 32)] {
            let fields = Fields { slice: Some(duration), ..Fields::default() };
            let refused = fields.message(String::new()).unwrap_err();
            assert_eq!(refused.exit_code(), 2, "{duration:?}");
        }
    }
}
