//! Namespaces: made with defaults, changed field by field, shown whole.

use std::time::Duration;

use engine::{Error, Named, Namespace, NamespaceSpec, Result, Shape, Storage};
use model::NamespaceName;
use prost_types::FieldMask;

use super::read_settings::{self, read_settings_to_wire};
use super::split_settings::{self, split_settings_to_wire};
use super::time::{duration_from_wire, duration_to_wire, timestamp_to_wire};
use super::tune_settings::{self, tune_settings_to_wire};
use crate::admin::v1;
use crate::clip::clip;

/// Paths that one mask may have.
pub(crate) const MASK_PATHS_MAX: usize = 64;
/// What a message quotes of an unknown path.
const QUOTE_CHARS_MAX: usize = 64;

/// A checked name, from the field `field`.
pub fn namespace_name(field: &str, name: &str) -> Result<NamespaceName> {
    NamespaceName::new(name).map_err(|error| Error::field(field, error))
}

/// The namespace that a request names; none for all.
pub fn one_or_all(namespace: &str) -> Result<Option<NamespaceName>> {
    Some(namespace).filter(|name| !name.is_empty()).map(|name| namespace_name("namespace", name)).transpose()
}

/// The namespace that a create asks for; fields that are absent have their defaults. The engine checks the whole.
pub fn new_namespace(wire: Option<&v1::Namespace>) -> Result<(NamespaceName, NamespaceSpec)> {
    let wire = wire.ok_or_else(|| Error::field("namespace", "is missing; send at least its name"))?;
    let name = namespace_name("namespace.name", &wire.name)?;
    Ok((name, changed_spec(&NamespaceSpec::default(), wire, None)?))
}

/// `current` with the fields changed that `mask` names; one that is named and absent gets its default. Without a mask,
/// or with an empty one, every field that is set is changed. The engine checks the whole.
pub fn changed_spec(
    current: &NamespaceSpec,
    wire: &v1::Namespace,
    mask: Option<&FieldMask>,
) -> Result<NamespaceSpec> {
    let mut spec = current.clone();
    let paths = mask.map_or(&[][..], |mask| mask.paths.as_slice());
    if paths.len() > MASK_PATHS_MAX {
        let problem = format!("names {} fields; name at most {MASK_PATHS_MAX}", paths.len());
        return Err(Error::field("update_mask", problem));
    }
    if let Some(unknown) = paths.iter().find(|path| !fields().any(|field| field.is_named_by(path))) {
        let unknown = clip(unknown, QUOTE_CHARS_MAX);
        return Err(Error::field("update_mask", format!("`{unknown}` cannot be changed; name {}", known())));
    }
    let defaults = NamespaceSpec::default();
    for field in fields() {
        let named = paths.iter().any(|path| field.is_named_by(path));
        if paths.is_empty() || named {
            let set = (field.set)(wire, &mut spec, field.path)?;
            if named && !set {
                (field.reset)(&mut spec, &defaults);
            }
        }
    }
    Ok(spec)
}

/// Every field that can be set.
fn fields() -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().chain(&split_settings::FIELDS).chain(&read_settings::FIELDS).chain(&tune_settings::FIELDS)
}

/// One field that can be set.
pub(super) struct Field {
    pub(super) path: &'static str,
    /// Takes it from the wire and says whether it was there.
    pub(super) set: fn(&v1::Namespace, &mut NamespaceSpec, &str) -> Result<bool>,
    pub(super) reset: fn(&mut NamespaceSpec, &NamespaceSpec),
}

impl Field {
    /// By its own path or by that of the message around it.
    fn is_named_by(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

static FIELDS: [Field; 12] = [
    Field {
        path: "shape.seconds_per_slice",
        set: |wire, spec, _| {
            Ok(number(wire.shape.map(|shape| shape.seconds_per_slice), &mut spec.shape.seconds_per_slice))
        },
        reset: |spec, defaults| spec.shape.seconds_per_slice = defaults.shape.seconds_per_slice,
    },
    Field {
        path: "shape.seconds_per_bucket",
        set: |wire, spec, _| {
            Ok(number(wire.shape.map(|shape| shape.seconds_per_bucket), &mut spec.shape.seconds_per_bucket))
        },
        reset: |spec, defaults| spec.shape.seconds_per_bucket = defaults.shape.seconds_per_bucket,
    },
    Field {
        path: "shape.buckets_per_id",
        set: |wire, spec, path| {
            let asked = wire.shape.map_or(0, |shape| shape.buckets_per_id);
            let Ok(buckets) = u16::try_from(asked) else {
                let max = model::shape::BUCKETS_PER_ID_MAX;
                return Err(Error::field(path, format!("is {asked}; choose 1 to {max}")));
            };
            Ok(number(Some(buckets), &mut spec.shape.buckets_per_id))
        },
        reset: |spec, defaults| spec.shape.buckets_per_id = defaults.shape.buckets_per_id,
    },
    Field {
        path: "accept_limit",
        set: |wire, spec, path| duration(path, wire.accept_limit, &mut spec.accept_limit),
        reset: |spec, defaults| spec.accept_limit = defaults.accept_limit,
    },
    Field {
        path: "future_limit",
        set: |wire, spec, path| duration(path, wire.future_limit, &mut spec.future_limit),
        reset: |spec, defaults| spec.future_limit = defaults.future_limit,
    },
    Field {
        path: "retention.close_after",
        set: |wire, spec, path| {
            duration(path, wire.retention.and_then(|retention| retention.close_after), &mut spec.close_after)
        },
        reset: |spec, defaults| spec.close_after = defaults.close_after,
    },
    Field {
        path: "retention.delete_after",
        set: |wire, spec, path| {
            duration(
                path,
                wire.retention.and_then(|retention| retention.delete_after),
                &mut spec.delete_after,
            )
        },
        reset: |spec, defaults| spec.delete_after = defaults.delete_after,
    },
    Field {
        path: "slo.read_target",
        set: |wire, spec, path| {
            duration(path, wire.slo.and_then(|slo| slo.read_target), &mut spec.read_target)
        },
        reset: |spec, defaults| spec.read_target = defaults.read_target,
    },
    Field {
        path: "slo.read_max",
        set: |wire, spec, path| duration(path, wire.slo.and_then(|slo| slo.read_max), &mut spec.read_max),
        reset: |spec, defaults| spec.read_max = defaults.read_max,
    },
    Field {
        path: "consistency",
        set: |wire, spec, path| named(path, &wire.consistency, &mut spec.consistency),
        reset: |spec, defaults| spec.consistency = defaults.consistency,
    },
    Field {
        path: "storage.compaction",
        set: |wire, spec, path| {
            let asked = wire.storage.as_ref().map_or("", |storage| &storage.compaction);
            named(path, asked, &mut spec.storage.compaction)
        },
        reset: |spec, defaults| spec.storage.compaction = defaults.storage.compaction,
    },
    Field {
        path: "storage.compression",
        set: |wire, spec, path| {
            let asked = wire.storage.as_ref().map_or("", |storage| &storage.compression);
            named(path, asked, &mut spec.storage.compression)
        },
        reset: |spec, defaults| spec.storage.compression = defaults.storage.compression,
    },
];

/// The wire cannot tell 0 from absent, and nothing that is counted may be 0.
pub(super) fn number<N: Default + PartialEq>(wire: Option<N>, to: &mut N) -> bool {
    match wire.filter(|number| *number != N::default()) {
        Some(number) => {
            *to = number;
            true
        }
        None => false,
    }
}

pub(super) fn duration(path: &str, wire: Option<prost_types::Duration>, to: &mut Duration) -> Result<bool> {
    let Some(wire) = wire else { return Ok(false) };
    *to = duration_from_wire(path, wire)?;
    Ok(true)
}

/// One of a few names; the wire cannot tell the empty one from absent, and where it means something that is the default.
pub(super) fn named<N: Named>(path: &str, wire: &str, to: &mut N) -> Result<bool> {
    if wire.is_empty() {
        return Ok(false);
    }
    let unknown = || {
        let asked = clip(wire, QUOTE_CHARS_MAX);
        Error::field(path, format!("is `{asked}`; choose {}", N::names()))
    };
    *to = N::named(wire).ok_or_else(unknown)?;
    Ok(true)
}

/// Every path that a mask may name.
fn known() -> String {
    let groups = fields().filter_map(|field| field.path.split_once('.')).map(|(group, _)| group);
    let mut paths: Vec<&str> = groups.chain(fields().map(|field| field.path)).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.join(", ")
}

/// A namespace as it is shown.
pub fn namespace_to_wire(namespace: &Namespace) -> v1::Namespace {
    let spec = &namespace.spec;
    let Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id } = spec.shape;
    let mut wire = v1::Namespace {
        name: namespace.name.as_str().to_owned(),
        shape: Some(v1::Shape {
            seconds_per_slice,
            seconds_per_bucket,
            buckets_per_id: u32::from(buckets_per_id),
        }),
        accept_limit: Some(duration_to_wire(spec.accept_limit)),
        future_limit: Some(duration_to_wire(spec.future_limit)),
        retention: Some(v1::Retention {
            close_after: Some(duration_to_wire(spec.close_after)),
            delete_after: Some(duration_to_wire(spec.delete_after)),
        }),
        slo: Some(v1::Slo {
            read_target: Some(duration_to_wire(spec.read_target)),
            read_max: Some(duration_to_wire(spec.read_max)),
        }),
        incarnation: namespace.incarnation,
        etag: namespace.etag.clone(),
        created: Some(timestamp_to_wire(namespace.created)),
        consistency: spec.consistency.name().to_owned(),
        storage: Some(storage_to_wire(spec.storage)),
        split: Some(split_settings_to_wire(&spec.split)),
        tune: Some(tune_settings_to_wire(&spec.tune)),
        ..v1::Namespace::default()
    };
    read_settings_to_wire(&spec.read, &mut wire);
    wire
}

/// A storage as it is shown.
pub(super) fn storage_to_wire(storage: Storage) -> v1::Storage {
    v1::Storage {
        compaction: storage.compaction.name().to_owned(),
        compression: storage.compression.name().to_owned(),
    }
}

#[cfg(test)]
#[path = "namespace_tests.rs"]
mod tests;
