//! Namespaces on the wire: defaults, masks and what is refused.

use std::time::Duration;

use engine::{
    Compaction, Compression, Consistency, ReadMode, ReadSpec, Reason, SplitPolicy, SplitSpec, TunePolicy,
    TuneSpec,
};
use prost_types::Duration as WireDuration;

use super::*;

fn seconds(seconds: i64) -> Option<WireDuration> {
    Some(WireDuration { seconds, nanos: 0 })
}

fn mask(paths: &[&str]) -> FieldMask {
    FieldMask { paths: paths.iter().map(|path| (*path).to_owned()).collect() }
}

/// Different from the default in every field.
fn other() -> NamespaceSpec {
    NamespaceSpec {
        shape: Shape { seconds_per_slice: 7_200, seconds_per_bucket: 600, buckets_per_id: 8 },
        accept_limit: Duration::from_secs(1),
        future_limit: Duration::from_secs(2),
        close_after: Duration::from_secs(3),
        delete_after: Duration::from_secs(4),
        read_target: Duration::from_secs(5),
        read_max: Duration::from_secs(6),
        consistency: Consistency::LocalOne,
        storage: Storage { compaction: Compaction::Leveled, compression: Compression::Zstd },
        split: SplitSpec { policy: SplitPolicy::Off, ..SplitSpec::default() },
        read: ReadSpec { mode: ReadMode::Off, ..ReadSpec::default() },
        tune: TuneSpec { policy: TunePolicy::Off, ..TuneSpec::default() },
    }
}

fn shown(spec: &NamespaceSpec) -> v1::Namespace {
    namespace_to_wire(&Namespace {
        name: NamespaceName::new("orders").unwrap(),
        incarnation: 3,
        spec: spec.clone(),
        created: 1_500_000_000,
        etag: "e1".to_owned(),
    })
}

#[test]
fn absent_fields_have_the_defaults() {
    let bare = v1::Namespace { name: "orders".to_owned(), ..v1::Namespace::default() };
    let (name, spec) = new_namespace(Some(&bare)).unwrap();
    assert_eq!(name.as_str(), "orders");
    assert_eq!(spec, NamespaceSpec::default());
    let partly = v1::Namespace {
        shape: Some(v1::Shape { buckets_per_id: 8, ..v1::Shape::default() }),
        accept_limit: seconds(0),
        retention: Some(v1::Retention { close_after: seconds(60), delete_after: None }),
        ..bare
    };
    let expect = NamespaceSpec {
        shape: Shape { buckets_per_id: 8, ..NamespaceSpec::default().shape },
        accept_limit: Duration::ZERO,
        close_after: Duration::from_secs(60),
        ..NamespaceSpec::default()
    };
    assert_eq!(new_namespace(Some(&partly)).unwrap().1, expect);
}

#[test]
fn what_is_shown_can_be_sent_back() {
    let wire = shown(&other());
    assert_eq!((wire.name.as_str(), wire.incarnation, wire.etag.as_str()), ("orders", 3, "e1"));
    assert_eq!(wire.created, Some(prost_types::Timestamp { seconds: 1, nanos: 500_000_000 }));
    assert_eq!(changed_spec(&NamespaceSpec::default(), &wire, None).unwrap(), other());
    let all = mask(&[
        "shape",
        "accept_limit",
        "future_limit",
        "retention",
        "slo",
        "consistency",
        "storage",
        "split",
        "read_mode",
        "tune",
    ]);
    assert_eq!(changed_spec(&NamespaceSpec::default(), &wire, Some(&all)).unwrap(), other());
}

#[test]
fn a_mask_changes_what_it_names_and_nothing_else() {
    let wire = shown(&other());
    let default = NamespaceSpec::default;
    let check = |paths: &[&str], change: fn(&mut NamespaceSpec)| {
        let mut expect = default();
        change(&mut expect);
        assert_eq!(changed_spec(&default(), &wire, Some(&mask(paths))).unwrap(), expect, "{paths:?}");
        // Named and absent: back to the default. Changed there and here again, it is as it was.
        let reset = changed_spec(&expect, &v1::Namespace::default(), Some(&mask(paths))).unwrap();
        assert_eq!(reset, default(), "{paths:?}");
    };
    check(&["shape"], |spec| spec.shape = other().shape);
    check(&["shape.seconds_per_slice"], |spec| spec.shape.seconds_per_slice = 7_200);
    check(&["shape.seconds_per_bucket"], |spec| spec.shape.seconds_per_bucket = 600);
    check(&["shape.buckets_per_id"], |spec| spec.shape.buckets_per_id = 8);
    check(&["accept_limit"], |spec| spec.accept_limit = other().accept_limit);
    check(&["future_limit"], |spec| spec.future_limit = other().future_limit);
    check(&["retention.close_after"], |spec| spec.close_after = other().close_after);
    check(&["retention.delete_after"], |spec| spec.delete_after = other().delete_after);
    check(&["slo.read_target"], |spec| spec.read_target = other().read_target);
    check(&["slo.read_max"], |spec| spec.read_max = other().read_max);
    check(&["consistency"], |spec| spec.consistency = Consistency::LocalOne);
    check(&["storage"], |spec| spec.storage = other().storage);
    check(&["storage.compaction"], |spec| spec.storage.compaction = Compaction::Leveled);
    check(&["storage.compression"], |spec| spec.storage.compression = Compression::Zstd);
    check(&["split"], |spec| spec.split = other().split);
    check(&["tune"], |spec| spec.tune = other().tune);
    check(&["read_mode"], |spec| spec.read.mode = ReadMode::Off);
    check(&["slo", "accept_limit"], |spec| {
        spec.accept_limit = other().accept_limit;
        spec.read_target = other().read_target;
        spec.read_max = other().read_max;
    });
}

#[test]
fn an_empty_mask_is_no_mask() {
    let wire = v1::Namespace { future_limit: seconds(9), ..v1::Namespace::default() };
    let expect = NamespaceSpec { future_limit: Duration::from_secs(9), ..other() };
    assert_eq!(changed_spec(&other(), &wire, Some(&mask(&[]))).unwrap(), expect);
    assert_eq!(changed_spec(&other(), &wire, None).unwrap(), expect);
}

#[test]
fn unknown_paths_are_refused_with_the_known_ones() {
    let known = "accept_limit, canary_share, compare_share, consistency, future_limit, read_gates, \
                 read_gates.max_differ_bytes, read_gates.max_fallback_share, read_gates.max_latency_ratio, \
                 read_gates.min_compared, read_gates.min_time, read_mode, read_mode_policy, \
                 retention, retention.close_after, retention.delete_after, shape, \
                 shape.buckets_per_id, shape.seconds_per_bucket, shape.seconds_per_slice, slo, slo.read_max, \
                 slo.read_target, split, split.layout, split.max_split_buckets, split.policy, split.strategy, \
                 split.target_bytes, split.threshold_bytes, storage, storage.compaction, storage.compression, \
                 tune, tune.density_max_bytes, tune.density_min_bytes, tune.policy";
    for path in ["name", "etag", "shap", "shape.", "shape.seconds", "", "*", "slo.read_max.seconds"] {
        let error = changed_spec(&other(), &shown(&other()), Some(&mask(&["shape", path]))).unwrap_err();
        assert_eq!(error.reason(), Reason::FieldInvalid);
        assert_eq!(error.to_string(), format!("update_mask: `{path}` cannot be changed; name {known}"));
    }
    let long = mask(&[&"x".repeat(10_000)]);
    let long = changed_spec(&other(), &shown(&other()), Some(&long)).unwrap_err().to_string();
    assert!(long.starts_with(&format!("update_mask: `{}…` cannot", "x".repeat(64))), "{long}");
    let many = changed_spec(&other(), &shown(&other()), Some(&mask(&["shape"; 65]))).unwrap_err();
    assert_eq!(many.to_string(), "update_mask: names 65 fields; name at most 64");
}

#[test]
fn bad_values_name_their_field() {
    let refusal = |change: fn(&mut v1::Namespace)| {
        let mut wire = v1::Namespace { name: "orders".to_owned(), ..v1::Namespace::default() };
        change(&mut wire);
        let error = new_namespace(Some(&wire)).unwrap_err();
        assert_eq!(error.reason(), Reason::FieldInvalid);
        error.to_string()
    };
    assert_eq!(refusal(|wire| wire.accept_limit = seconds(-1)), "accept_limit: is negative; send 0s or more");
    assert_eq!(
        refusal(|wire| wire.slo = Some(v1::Slo { read_target: None, read_max: seconds(-5) })),
        "slo.read_max: is negative; send 0s or more"
    );
    assert_eq!(
        refusal(|wire| wire.shape = Some(v1::Shape { buckets_per_id: 65_536, ..v1::Shape::default() })),
        "shape.buckets_per_id: is 65536; choose 1 to 64"
    );
    assert_eq!(
        refusal(|wire| wire.consistency = "QUORUM".to_owned()),
        "consistency: is `QUORUM`; choose LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM"
    );
    let storage = |compaction: &str, compression: &str| {
        Some(v1::Storage { compaction: compaction.to_owned(), compression: compression.to_owned() })
    };
    let mut wire = v1::Namespace { name: "orders".to_owned(), ..v1::Namespace::default() };
    for (asked, says) in [
        (
            storage("tiered", ""),
            "storage.compaction: is `tiered`; choose unified, leveled, size_tiered, time_window or \"\" for the \
             store's choice",
        ),
        (
            storage("", "gzip"),
            "storage.compression: is `gzip`; choose lz4, zstd, none or \"\" for the store's choice",
        ),
    ] {
        wire.storage = asked;
        assert_eq!(new_namespace(Some(&wire)).unwrap_err().to_string(), says);
    }
    assert!(refusal(|wire| wire.name = "Orders".to_owned()).starts_with("namespace.name: "));
    assert_eq!(one_or_all("").unwrap(), None);
    assert_eq!(one_or_all("plays").unwrap(), Some(NamespaceName::new("plays").unwrap()));
    assert!(one_or_all("Bad").unwrap_err().to_string().starts_with("namespace: "));
    let missing = new_namespace(None).unwrap_err().to_string();
    assert_eq!(missing, "namespace: is missing; send at least its name");
}
