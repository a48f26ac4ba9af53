//! What a namespace wishes of the tuner: its fields, as they are set and shown.

use engine::{Error, Named, Result, TuneSpec};

use super::namespace::{Field, named, number};
use crate::admin::v1;

/// The fields of `tune`.
pub(super) static FIELDS: [Field; 3] = [
    Field {
        path: "tune.policy",
        set: |wire, spec, path| {
            named(path, wire.tune.as_ref().map_or("", |tune| &tune.policy), &mut spec.tune.policy)
        },
        reset: |spec, defaults| spec.tune.policy = defaults.tune.policy,
    },
    Field {
        path: "tune.density_min_bytes",
        set: |wire, spec, path| {
            let asked = wire.tune.as_ref().map(|tune| tune.density_min_bytes);
            bytes(path, asked, &mut spec.tune.density_min_bytes)
        },
        reset: |spec, defaults| spec.tune.density_min_bytes = defaults.tune.density_min_bytes,
    },
    Field {
        path: "tune.density_max_bytes",
        set: |wire, spec, path| {
            let asked = wire.tune.as_ref().map(|tune| tune.density_max_bytes);
            bytes(path, asked, &mut spec.tune.density_max_bytes)
        },
        reset: |spec, defaults| spec.tune.density_max_bytes = defaults.tune.density_max_bytes,
    },
];

/// The wire cannot tell 0 from absent, and no density is none.
fn bytes(path: &str, wire: Option<i64>, to: &mut u64) -> Result<bool> {
    let asked = wire.unwrap_or(0);
    let Ok(bytes) = u64::try_from(asked) else {
        return Err(Error::field(path, format!("is {asked}; send a number of bytes, such as 10485760")));
    };
    Ok(number(Some(bytes), to))
}

/// The settings as they are shown.
pub(super) fn tune_settings_to_wire(tune: &TuneSpec) -> v1::TuneSettings {
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    v1::TuneSettings {
        policy: tune.policy.name().to_owned(),
        density_min_bytes: bytes(tune.density_min_bytes),
        density_max_bytes: bytes(tune.density_max_bytes),
    }
}

#[cfg(test)]
mod tests {
    use engine::{NamespaceSpec, TunePolicy};
    use prost_types::FieldMask;

    use super::super::namespace::changed_spec;
    use super::*;

    fn wire(tune: v1::TuneSettings) -> v1::Namespace {
        v1::Namespace { tune: Some(tune), ..v1::Namespace::default() }
    }

    #[test]
    fn what_is_shown_can_be_sent_back_whole_or_by_a_mask() {
        let other =
            TuneSpec { policy: TunePolicy::Auto, density_min_bytes: 1 << 20, density_max_bytes: 1 << 24 };
        let shown = wire(tune_settings_to_wire(&other));
        let default = NamespaceSpec::default();
        let expect = NamespaceSpec { tune: other, ..default.clone() };
        assert_eq!(changed_spec(&default, &shown, None).unwrap(), expect);
        let change = |from: &NamespaceSpec, to: &v1::Namespace, path: &str| {
            changed_spec(from, to, Some(&FieldMask { paths: vec![path.to_owned()] })).unwrap()
        };
        let mut by_parts = default.clone();
        for field in &FIELDS {
            let changed = change(&by_parts, &shown, field.path);
            assert_ne!(changed, by_parts, "{}", field.path);
            assert_eq!(change(&changed, &v1::Namespace::default(), field.path), by_parts, "{}", field.path);
            by_parts = changed;
        }
        assert_eq!(by_parts, expect);
        assert_eq!(change(&expect, &v1::Namespace::default(), "tune"), default);
    }

    #[test]
    fn bad_values_name_their_field_and_what_is_good() {
        let refusal =
            |tune| changed_spec(&NamespaceSpec::default(), &wire(tune), None).unwrap_err().to_string();
        let none = v1::TuneSettings::default;
        assert_eq!(
            refusal(v1::TuneSettings { policy: "always".to_owned(), ..none() }),
            "tune.policy: is `always`; choose propose, auto or off"
        );
        assert_eq!(
            refusal(v1::TuneSettings { density_max_bytes: -1, ..none() }),
            "tune.density_max_bytes: is -1; send a number of bytes, such as 10485760"
        );
    }
}
