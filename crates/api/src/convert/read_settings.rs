//! What a namespace wishes of reads from the targets of splits: its fields, as they are set and shown.

use engine::{Error, Named, ReadSpec, Result, Share};

use super::namespace::{Field, duration, named};
use super::time::duration_to_wire;
use super::write::signed;
use crate::admin::v1;

/// A ratio is kept in thousandths.
const THOUSAND: f64 = 1_000.0;
/// How much slower than the origin a gate may allow targets to be; more is no gate.
const LATENCY_RATIO_MAX: f64 = 1_000.0;

/// The fields about reads.
pub(super) static FIELDS: [Field; 9] = [
    Field {
        path: "read_mode",
        set: |wire, spec, path| named(path, &wire.read_mode, &mut spec.read.mode),
        reset: |spec, defaults| spec.read.mode = defaults.read.mode,
    },
    Field {
        path: "read_mode_policy",
        set: |wire, spec, path| named(path, &wire.read_mode_policy, &mut spec.read.policy),
        reset: |spec, defaults| spec.read.policy = defaults.read.policy,
    },
    Field {
        path: "read_gates.min_compared",
        set: |wire, spec, path| {
            count(path, gates(wire).and_then(|gates| gates.min_compared), &mut spec.read.gates.min_compared)
        },
        reset: |spec, defaults| spec.read.gates.min_compared = defaults.read.gates.min_compared,
    },
    Field {
        path: "read_gates.max_differ_bytes",
        set: |wire, spec, path| {
            let asked = gates(wire).and_then(|gates| gates.max_differ_bytes);
            count(path, asked, &mut spec.read.gates.max_differ_bytes)
        },
        reset: |spec, defaults| spec.read.gates.max_differ_bytes = defaults.read.gates.max_differ_bytes,
    },
    Field {
        path: "read_gates.max_fallback_share",
        set: |wire, spec, path| {
            let asked = gates(wire).and_then(|gates| gates.max_fallback_share);
            share(path, asked, &mut spec.read.gates.max_fallback_share)
        },
        reset: |spec, defaults| spec.read.gates.max_fallback_share = defaults.read.gates.max_fallback_share,
    },
    Field {
        path: "read_gates.max_latency_ratio",
        set: |wire, spec, path| {
            let asked = gates(wire).and_then(|gates| gates.max_latency_ratio);
            ratio(path, asked, &mut spec.read.gates.max_latency_permille)
        },
        reset: |spec, defaults| {
            spec.read.gates.max_latency_permille = defaults.read.gates.max_latency_permille;
        },
    },
    Field {
        path: "read_gates.min_time",
        set: |wire, spec, path| {
            duration(path, gates(wire).and_then(|gates| gates.min_time), &mut spec.read.gates.min_time)
        },
        reset: |spec, defaults| spec.read.gates.min_time = defaults.read.gates.min_time,
    },
    Field {
        path: "canary_share",
        set: |wire, spec, path| share(path, wire.canary_share, &mut spec.read.canary),
        reset: |spec, defaults| spec.read.canary = defaults.read.canary,
    },
    Field {
        path: "compare_share",
        set: |wire, spec, path| share(path, wire.compare_share, &mut spec.read.compare),
        reset: |spec, defaults| spec.read.compare = defaults.read.compare,
    },
];

fn gates(wire: &v1::Namespace) -> Option<&v1::ReadGates> {
    wire.read_gates.as_ref()
}

/// Zero means something here, so the wire tells it from absent.
fn count(path: &str, wire: Option<i64>, to: &mut u64) -> Result<bool> {
    let Some(asked) = wire else { return Ok(false) };
    *to = u64::try_from(asked).map_err(|_| Error::field(path, format!("is {asked}; send 0 or more")))?;
    Ok(true)
}

fn share(path: &str, wire: Option<f64>, to: &mut Share) -> Result<bool> {
    let Some(asked) = wire else { return Ok(false) };
    *to = Share::of(asked).ok_or_else(|| Error::field(path, format!("is {asked}; choose 0 to 1")))?;
    Ok(true)
}

fn ratio(path: &str, wire: Option<f64>, to: &mut u32) -> Result<bool> {
    let Some(asked) = wire else { return Ok(false) };
    // One that is rounded to nothing would be no gate at all.
    if asked != 0.0 && !(1.0 / THOUSAND..=LATENCY_RATIO_MAX).contains(&asked) {
        let problem =
            format!("is {asked}; choose 0 to only show it, or {} to {LATENCY_RATIO_MAX}", 1.0 / THOUSAND);
        return Err(Error::field(path, problem));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is in a small range of numbers above zero"
    )]
    let permille = (asked * THOUSAND).round() as u32;
    *to = permille;
    Ok(true)
}

/// Puts the settings on the wire, as they are shown.
pub(super) fn read_settings_to_wire(read: &ReadSpec, wire: &mut v1::Namespace) {
    wire.read_mode = read.mode.name().to_owned();
    wire.read_mode_policy = read.policy.name().to_owned();
    wire.read_gates = Some(v1::ReadGates {
        min_compared: Some(signed(read.gates.min_compared)),
        max_differ_bytes: Some(signed(read.gates.max_differ_bytes)),
        max_fallback_share: Some(read.gates.max_fallback_share.of_one()),
        max_latency_ratio: Some(f64::from(read.gates.max_latency_permille) / THOUSAND),
        min_time: Some(duration_to_wire(read.gates.min_time)),
    });
    wire.canary_share = Some(read.canary.of_one());
    wire.compare_share = Some(read.compare.of_one());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::{NamespaceSpec, ReadGates, ReadMode, ReadModePolicy};
    use prost_types::FieldMask;

    use super::super::namespace::changed_spec;
    use super::*;

    /// Different from the default in every field.
    fn other() -> ReadSpec {
        ReadSpec {
            mode: ReadMode::Off,
            policy: ReadModePolicy::Manual,
            gates: ReadGates {
                min_compared: 0,
                max_differ_bytes: 7,
                max_fallback_share: Share::parts(0),
                max_latency_permille: 1_250,
                min_time: Duration::ZERO,
            },
            canary: Share::parts(0),
            compare: Share::parts(5_000),
        }
    }

    fn shown(read: &ReadSpec) -> v1::Namespace {
        let mut wire = v1::Namespace::default();
        read_settings_to_wire(read, &mut wire);
        wire
    }

    #[test]
    fn what_is_shown_can_be_sent_back_whole_or_by_a_mask() {
        let (shown, default) = (shown(&other()), NamespaceSpec::default());
        assert_eq!((shown.canary_share, shown.compare_share), (Some(0.0), Some(0.5)));
        assert_eq!(shown.read_gates.unwrap().max_latency_ratio, Some(1.25));
        let expect = NamespaceSpec { read: other(), ..default.clone() };
        assert_eq!(changed_spec(&default, &shown, None).unwrap(), expect);
        let change = |from: &NamespaceSpec, to: &v1::Namespace, path: &str| {
            changed_spec(from, to, Some(&FieldMask { paths: vec![path.to_owned()] })).unwrap()
        };
        // Each by itself, there and back.
        let mut by_parts = default.clone();
        for field in &FIELDS {
            let changed = change(&by_parts, &shown, field.path);
            assert_ne!(changed, by_parts, "{}", field.path);
            assert_eq!(change(&changed, &v1::Namespace::default(), field.path), by_parts, "{}", field.path);
            by_parts = changed;
        }
        assert_eq!(by_parts, expect);
        let gates = NamespaceSpec {
            read: ReadSpec { gates: other().gates, ..default.read },
            ..NamespaceSpec::default()
        };
        assert_eq!(change(&default, &shown, "read_gates"), gates);
    }

    #[test]
    fn bad_values_name_their_field_and_what_is_good() {
        let refusal = |change: fn(&mut v1::Namespace, &mut v1::ReadGates)| {
            let (mut wire, mut gates) = (v1::Namespace::default(), v1::ReadGates::default());
            change(&mut wire, &mut gates);
            wire.read_gates = Some(gates);
            changed_spec(&NamespaceSpec::default(), &wire, None).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(|wire, _| wire.read_mode = "half".to_owned()),
            "read_mode: is `half`; choose off, shadow, canary or on"
        );
        assert_eq!(
            refusal(|wire, _| wire.read_mode_policy = "off".to_owned()),
            "read_mode_policy: is `off`; choose auto or manual"
        );
        assert_eq!(
            refusal(|_, gates| gates.min_compared = Some(-1)),
            "read_gates.min_compared: is -1; send 0 or more"
        );
        assert_eq!(
            refusal(|_, gates| gates.max_fallback_share = Some(1.5)),
            "read_gates.max_fallback_share: is 1.5; choose 0 to 1"
        );
        assert_eq!(
            refusal(|wire, _| wire.canary_share = Some(f64::NAN)),
            "canary_share: is NaN; choose 0 to 1"
        );
        for ratio in ["-1", "0.0001", "1001", "NaN"] {
            let wire = v1::Namespace {
                read_gates: Some(v1::ReadGates {
                    max_latency_ratio: Some(ratio.parse().unwrap()),
                    ..v1::ReadGates::default()
                }),
                ..v1::Namespace::default()
            };
            let refused = changed_spec(&NamespaceSpec::default(), &wire, None).unwrap_err().to_string();
            let expect = format!(
                "read_gates.max_latency_ratio: is {ratio}; choose 0 to only show it, or 0.001 to 1000"
            );
            assert_eq!(refused, expect);
        }
    }
}
