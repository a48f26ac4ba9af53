//! What a namespace wishes of splits: its fields, as they are set and shown.

use engine::{Error, Named, Result, SplitSpec};

use super::namespace::{Field, named, number};
use crate::admin::v1;

/// The fields of `split`.
pub(super) static FIELDS: [Field; 6] = [
    Field {
        path: "split.policy",
        set: |wire, spec, path| named(path, given(wire, |split| &split.policy), &mut spec.split.policy),
        reset: |spec, defaults| spec.split.policy = defaults.split.policy,
    },
    Field {
        path: "split.threshold_bytes",
        set: |wire, spec, path| {
            bytes(
                path,
                wire.split.as_ref().map(|split| split.threshold_bytes),
                &mut spec.split.threshold_bytes,
            )
        },
        reset: |spec, defaults| spec.split.threshold_bytes = defaults.split.threshold_bytes,
    },
    Field {
        path: "split.target_bytes",
        set: |wire, spec, path| {
            bytes(path, wire.split.as_ref().map(|split| split.target_bytes), &mut spec.split.target_bytes)
        },
        reset: |spec, defaults| spec.split.target_bytes = defaults.split.target_bytes,
    },
    Field {
        path: "split.max_split_buckets",
        set: |wire, spec, path| {
            let asked = wire.split.as_ref().map_or(0, |split| split.max_split_buckets);
            let Ok(buckets) = u16::try_from(asked) else {
                let max = model::shape::SPLIT_STRIDE;
                return Err(Error::field(path, format!("is {asked}; choose 2 to {max}")));
            };
            Ok(number(Some(buckets), &mut spec.split.max_split_buckets))
        },
        reset: |spec, defaults| spec.split.max_split_buckets = defaults.split.max_split_buckets,
    },
    Field {
        path: "split.strategy",
        set: |wire, spec, path| named(path, given(wire, |split| &split.strategy), &mut spec.split.strategy),
        reset: |spec, defaults| spec.split.strategy = defaults.split.strategy,
    },
    Field {
        path: "split.layout",
        set: |wire, spec, path| named(path, given(wire, |split| &split.layout), &mut spec.split.layout),
        reset: |spec, defaults| spec.split.layout = defaults.split.layout,
    },
];

fn given(wire: &v1::Namespace, name: fn(&v1::SplitSettings) -> &str) -> &str {
    wire.split.as_ref().map_or("", name)
}

/// The wire cannot tell 0 from absent, and no partition is wide with none.
fn bytes(path: &str, wire: Option<i64>, to: &mut u64) -> Result<bool> {
    let asked = wire.unwrap_or(0);
    let Ok(bytes) = u64::try_from(asked) else {
        return Err(Error::field(path, format!("is {asked}; send a number of bytes, such as 16777216")));
    };
    Ok(number(Some(bytes), to))
}

/// The settings as they are shown.
pub(super) fn split_settings_to_wire(split: &SplitSpec) -> v1::SplitSettings {
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    v1::SplitSettings {
        policy: split.policy.name().to_owned(),
        threshold_bytes: bytes(split.threshold_bytes),
        target_bytes: bytes(split.target_bytes),
        max_split_buckets: u32::from(split.max_split_buckets),
        strategy: split.strategy.name().to_owned(),
        layout: split.layout.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use engine::{NamespaceSpec, SplitLayout, SplitPolicy, SplitStrategy};
    use prost_types::FieldMask;

    use super::super::namespace::changed_spec;
    use super::*;

    /// Different from the default in every field.
    fn other() -> SplitSpec {
        SplitSpec {
            policy: SplitPolicy::Manual,
            threshold_bytes: 1 << 20,
            target_bytes: 1 << 19,
            max_split_buckets: 8,
            strategy: SplitStrategy::TimeRange,
            layout: SplitLayout::Rows,
        }
    }

    fn wire(split: v1::SplitSettings) -> v1::Namespace {
        v1::Namespace { split: Some(split), ..v1::Namespace::default() }
    }

    #[test]
    fn what_is_shown_can_be_sent_back_whole_or_by_a_mask() {
        let shown = wire(split_settings_to_wire(&other()));
        let default = NamespaceSpec::default();
        let expect = NamespaceSpec { split: other(), ..default.clone() };
        assert_eq!(changed_spec(&default, &shown, None).unwrap(), expect);
        let change = |from: &NamespaceSpec, to: &v1::Namespace, path: &str| {
            changed_spec(from, to, Some(&FieldMask { paths: vec![path.to_owned()] })).unwrap()
        };
        assert_eq!(change(&default, &shown, "split"), expect);
        assert_eq!(change(&expect, &v1::Namespace::default(), "split"), default);
        // Each by itself, there and back.
        let mut by_parts = default.clone();
        for field in &FIELDS {
            let changed = change(&by_parts, &shown, field.path);
            assert_ne!(changed, by_parts, "{}", field.path);
            assert_eq!(change(&changed, &v1::Namespace::default(), field.path), by_parts, "{}", field.path);
            by_parts = changed;
        }
        assert_eq!(by_parts, expect);
    }

    #[test]
    fn bad_values_name_their_field_and_what_is_good() {
        let refusal = |split| {
            let default = NamespaceSpec::default();
            changed_spec(&default, &wire(split), None).unwrap_err().to_string()
        };
        let none = v1::SplitSettings::default;
        let text = str::to_owned;
        assert_eq!(
            refusal(v1::SplitSettings { policy: text("never"), ..none() }),
            "split.policy: is `never`; choose auto, manual or off"
        );
        assert_eq!(
            refusal(v1::SplitSettings { strategy: text("hash"), ..none() }),
            "split.strategy: is `hash`; choose auto, event_bucket or time_range"
        );
        let layout = refusal(v1::SplitSettings { layout: text("columns"), ..none() });
        assert!(layout.starts_with("split.layout: is `columns`; choose auto"), "{layout}");
        assert_eq!(
            refusal(v1::SplitSettings { threshold_bytes: -1, ..none() }),
            "split.threshold_bytes: is -1; send a number of bytes, such as 16777216"
        );
        assert_eq!(
            refusal(v1::SplitSettings { max_split_buckets: 65_536, ..none() }),
            "split.max_split_buckets: is 65536; choose 2 to 16"
        );
    }
}
