//! What a namespace wishes of reads from the targets of splits, as flags, and as the message that carries those that were given.

use std::time::Duration;

use api::admin::v1::{Namespace, ReadGates};
use api::convert::duration_to_wire;

use crate::input::{parse_duration, parse_size_or_zero};

/// The settings about reads of what was split, as far as they were given.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Reads of what was split")]
pub(super) struct Reading {
    /// How far reads have moved to targets: off, shadow, canary or on; `set` only takes them back (default shadow)
    #[arg(long, value_name = "MODE")]
    read_mode: Option<String>,
    /// Who moves them on: auto (the servers, when the gates let them) or manual (default auto)
    #[arg(long, value_name = "POLICY")]
    read_mode_policy: Option<String>,
    /// Reads that have to be compared before they move on (default 50)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    read_min_compared: Option<i64>,
    /// Bytes that may have differed (default 0)
    #[arg(long, value_name = "SIZE", value_parser = parse_size_or_zero)]
    read_max_differ_bytes: Option<i64>,
    /// The share of fallbacks among reads from targets that they may have, 0 to 1 (default 0.01)
    #[arg(long, value_name = "SHARE")]
    read_max_fallback_share: Option<f64>,
    /// How long targets may take where the origin takes 1; 0 to only show it (default 0)
    #[arg(long, value_name = "RATIO")]
    read_max_latency_ratio: Option<f64>,
    /// How long a mode lasts before servers move on by themselves (default 10m)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    read_min_time: Option<Duration>,
    /// The share of reads that a canary serves from targets, 0 to 1 (default 0.25)
    #[arg(long, value_name = "SHARE")]
    canary_share: Option<f64>,
    /// The share of reads that are compared, 0 to 1 (default 1)
    #[arg(long, value_name = "SHARE")]
    compare_share: Option<f64>,
}

impl Reading {
    /// Puts these fields into the message, and the path of each: zero is sent as zero, what was not given is not sent.
    pub(super) fn fill(&self, namespace: &mut Namespace, paths: &mut Vec<String>) {
        let given = [
            ("read_mode", self.read_mode.is_some()),
            ("read_mode_policy", self.read_mode_policy.is_some()),
            ("read_gates.min_compared", self.read_min_compared.is_some()),
            ("read_gates.max_differ_bytes", self.read_max_differ_bytes.is_some()),
            ("read_gates.max_fallback_share", self.read_max_fallback_share.is_some()),
            ("read_gates.max_latency_ratio", self.read_max_latency_ratio.is_some()),
            ("read_gates.min_time", self.read_min_time.is_some()),
            ("canary_share", self.canary_share.is_some()),
            ("compare_share", self.compare_share.is_some()),
        ];
        paths.extend(given.iter().filter(|(_, given)| *given).map(|(path, _)| (*path).to_owned()));
        let gates = ReadGates {
            min_compared: self.read_min_compared,
            max_differ_bytes: self.read_max_differ_bytes,
            max_fallback_share: self.read_max_fallback_share,
            max_latency_ratio: self.read_max_latency_ratio,
            min_time: self.read_min_time.map(duration_to_wire),
        };
        namespace.read_mode = self.read_mode.clone().unwrap_or_default();
        namespace.read_mode_policy = self.read_mode_policy.clone().unwrap_or_default();
        namespace.read_gates = Some(gates).filter(|gates| *gates != ReadGates::default());
        namespace.canary_share = self.canary_share;
        namespace.compare_share = self.compare_share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(reading: &Reading) -> (Namespace, String) {
        let (mut namespace, mut paths) = (Namespace::default(), Vec::new());
        reading.fill(&mut namespace, &mut paths);
        (namespace, paths.join(" "))
    }

    #[test]
    fn only_what_was_given_is_sent() {
        assert_eq!(given(&Reading::default()), (Namespace::default(), String::new()));
        let reading =
            Reading { read_mode: Some("off".to_owned()), canary_share: Some(0.5), ..Reading::default() };
        let expect =
            Namespace { read_mode: "off".to_owned(), canary_share: Some(0.5), ..Namespace::default() };
        assert_eq!(given(&reading), (expect, "read_mode canary_share".to_owned()));
    }

    #[test]
    fn everything_can_be_given_and_zero_is_sent_as_zero() {
        let reading = Reading {
            read_mode: Some(String::new()),
            read_mode_policy: Some("manual".to_owned()),
            read_min_compared: Some(0),
            read_max_differ_bytes: Some(0),
            read_max_fallback_share: Some(0.0),
            read_max_latency_ratio: Some(1.5),
            read_min_time: Some(Duration::ZERO),
            canary_share: Some(0.0),
            compare_share: Some(0.0),
        };
        let (namespace, paths) = given(&reading);
        let expect = Namespace {
            read_mode_policy: "manual".to_owned(),
            read_gates: Some(ReadGates {
                min_compared: Some(0),
                max_differ_bytes: Some(0),
                max_fallback_share: Some(0.0),
                max_latency_ratio: Some(1.5),
                min_time: Some(prost_types::Duration::default()),
            }),
            canary_share: Some(0.0),
            compare_share: Some(0.0),
            ..Namespace::default()
        };
        assert_eq!(namespace, expect);
        assert_eq!(
            paths,
            "read_mode read_mode_policy read_gates.min_compared read_gates.max_differ_bytes \
             read_gates.max_fallback_share read_gates.max_latency_ratio read_gates.min_time canary_share \
             compare_share"
        );
    }
}
