//! Which namespaces there are, and what they are configured to be: small slices, limits that are met within hours.

use std::time::Duration;

use engine::{
    NamespaceSpec, ReadGates, ReadMode, ReadModePolicy, ReadSpec, Shape, Share, SplitLayout, SplitPolicy,
    SplitSpec, SplitStrategy,
};

use super::dice::Dice;

/// Namespaces that the play uses.
pub(super) const SPACES: [&str; 2] = ["orders", "plays"];
/// Series in each.
pub(super) const SERIES: [&str; 3] = ["a", "b", "c"];

/// A partition with more bytes is wide; the smallest that is allowed.
const WIDE_BYTES: u64 = 64 << 10;

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const HOUR: i64 = 3_600 * SECOND;

/// A configuration by chance.
pub(super) fn any_spec(dice: &Dice, with_splits: bool) -> NamespaceSpec {
    let seconds = |of: &[u64]| Duration::from_secs(dice.pick(of).copied().unwrap_or(600));
    let per_slice = if dice.percent(70) { 3_600 } else { 7_200 };
    let shape = Shape {
        seconds_per_slice: per_slice,
        seconds_per_bucket: if dice.percent(50) { 3_600 } else { 900 },
        buckets_per_id: if dice.percent(50) { 1 } else { 3 },
    };
    let delete_after = seconds(&[0, 3_600, 7_200, 14_400]);
    let close_after =
        seconds(&[1_800, 3_600]).min(if delete_after.is_zero() { Duration::MAX } else { delete_after });
    let spec = NamespaceSpec {
        shape,
        accept_limit: seconds(&[0, 120, 600, 1_800, 5_400]),
        future_limit: seconds(&[600, 2_400]),
        close_after,
        delete_after,
        read_max: seconds(&[2, 10]),
        split: SplitSpec { policy: SplitPolicy::Off, ..SplitSpec::default() },
        ..NamespaceSpec::default()
    };
    if with_splits { splitting(dice, spec) } else { spec }
}

/// The same so that bursts make partitions wide, and their time is closed within the hour.
fn splitting(dice: &Dice, spec: NamespaceSpec) -> NamespaceSpec {
    let pick = |of: &[u64]| Duration::from_secs(dice.pick(of).copied().unwrap_or(120));
    let buckets_per_id = if dice.percent(60) { 1 } else { 2 };
    let strategy = [SplitStrategy::Auto, SplitStrategy::EventBucket];
    let layout = [SplitLayout::Rows, SplitLayout::Packed];
    let split = SplitSpec {
        policy: if dice.percent(92) { SplitPolicy::Auto } else { SplitPolicy::Manual },
        threshold_bytes: WIDE_BYTES,
        target_bytes: WIDE_BYTES,
        strategy: dice.pick(&strategy).copied().unwrap_or_default(),
        layout: dice.pick(&layout).copied().unwrap_or_default(),
        ..SplitSpec::default()
    };
    let shape = Shape { seconds_per_bucket: 900, buckets_per_id, ..spec.shape };
    NamespaceSpec {
        shape,
        split,
        accept_limit: pick(&[0, 120, 120, 120, 300, 600]),
        read: any_reading(dice),
        ..spec
    }
}

/// How reads use what was split: gates that are passed within a minute, or never.
fn any_reading(dice: &Dice) -> ReadSpec {
    let share = |of: &[u16]| Share::parts(dice.pick(of).copied().unwrap_or(Share::WHOLE));
    let modes =
        [ReadMode::Off, ReadMode::Shadow, ReadMode::Shadow, ReadMode::Shadow, ReadMode::Canary, ReadMode::On];
    let gates = ReadGates {
        min_compared: dice.between(1, 3),
        max_fallback_share: share(&[100, 5_000, Share::WHOLE]),
        min_time: dice.seconds(2, 20),
        ..ReadGates::default()
    };
    ReadSpec {
        mode: dice.pick(&modes).copied().unwrap_or_default(),
        policy: if dice.percent(80) { ReadModePolicy::Auto } else { ReadModePolicy::Manual },
        gates,
        canary: share(&[2_500, 5_000, 9_000]),
        compare: share(&[5_000, Share::WHOLE]),
    }
}

/// Another configuration: a few things differ.
pub(super) fn other_spec(dice: &Dice, before: &NamespaceSpec, with_splits: bool) -> NamespaceSpec {
    let drawn = any_spec(dice, with_splits);
    let mut spec = before.clone();
    if dice.percent(60) {
        spec.accept_limit = drawn.accept_limit;
    }
    if dice.percent(20) {
        spec.shape = drawn.shape;
    }
    if dice.percent(50) {
        (spec.close_after, spec.delete_after) = (drawn.close_after, drawn.delete_after);
    }
    if dice.percent(20) {
        spec.future_limit = drawn.future_limit;
    }
    if dice.percent(20) {
        spec.split = drawn.split;
    }
    if dice.percent(20) {
        spec.read = ReadSpec { mode: spec.read.mode, ..drawn.read };
    }
    spec
}

/// A duration as a span of time.
pub(super) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
