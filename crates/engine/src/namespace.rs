//! A namespace: what a dataset is configured to be. Plain data with the published defaults, checked as a whole.

mod read;
mod split;
mod tune;

use std::time::Duration;

use model::{NamespaceName, ShapeSpec};
use serde::{Deserialize, Serialize};
use store::{Consistency, Storage};

use crate::catalog::setting::{StorageRecord, is_default, named};
use crate::{Error, Result};

pub use read::{ReadGates, ReadMode, ReadModePolicy, ReadSpec, Share};
pub use split::{SplitLayout, SplitPolicy, SplitSpec, SplitStrategy};
pub use tune::{TunePolicy, TuneSpec};

const DAY: Duration = Duration::from_secs(86_400);
/// Longest duration that any setting may have: ten years.
const DURATION_MAX: Duration = Duration::from_secs(3_660 * 86_400);

/// Everything that can be set. Slices that exist are not touched by a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamespaceSpec {
    /// How future slices are cut.
    pub shape: Shape,
    /// Events older than this are refused; zero accepts whatever retention has not closed.
    pub accept_limit: Duration,
    /// Events further in the future than this are refused; zero accepts any.
    pub future_limit: Duration,
    /// From the end of a slice plus this on, it takes no writes; zero never.
    pub close_after: Duration,
    /// From the end of a slice plus this on, it is dropped; zero never.
    pub delete_after: Duration,
    /// What a read is meant to take.
    pub read_target: Duration,
    /// After so long a read answers what it has.
    pub read_max: Duration,
    /// How many replicas answer before a write is acknowledged or a read returns.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub consistency: Consistency,
    /// How the tables of future slices are kept.
    #[serde(default, skip_serializing_if = "is_default", with = "StorageRecord")]
    pub storage: Storage,
    /// When and how wide partitions are split.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: SplitSpec,
    /// How reads use what was split.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read: ReadSpec,
    /// How large partitions should be, and who changes future slices for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tune: TuneSpec,
}

/// The shape asked for; see [`ShapeSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Width of a slice.
    pub seconds_per_slice: u32,
    /// Width of a time bucket.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u16,
}

impl From<Shape> for ShapeSpec {
    fn from(shape: Shape) -> Self {
        Self {
            seconds_per_slice: shape.seconds_per_slice,
            seconds_per_bucket: shape.seconds_per_bucket,
            buckets_per_id: shape.buckets_per_id,
        }
    }
}

impl Default for NamespaceSpec {
    fn default() -> Self {
        let ShapeSpec { seconds_per_slice, seconds_per_bucket, buckets_per_id } = ShapeSpec::default();
        Self {
            shape: Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id },
            accept_limit: Duration::from_secs(600),
            future_limit: Duration::from_secs(600),
            close_after: 30 * DAY,
            delete_after: 31 * DAY,
            read_target: Duration::from_millis(500),
            read_max: Duration::from_secs(10),
            consistency: Consistency::default(),
            storage: Storage::default(),
            split: SplitSpec::default(),
            read: ReadSpec::default(),
            tune: TuneSpec::default(),
        }
    }
}

impl NamespaceSpec {
    /// When a scan of a read is late enough to ask another machine too: there is time left until the read is as long as it
    /// is meant to be at most. None where that is not said.
    pub(crate) fn hedge_after(&self) -> Option<Duration> {
        Some(self.read_target / 4 * 3).filter(|after| !after.is_zero())
    }

    /// Checks every field and how they fit together.
    pub fn check(&self) -> Result<()> {
        ShapeSpec::from(self.shape).freeze().map_err(|error| Error::field("shape", error))?;
        let durations = [
            ("accept_limit", self.accept_limit),
            ("future_limit", self.future_limit),
            ("retention.close_after", self.close_after),
            ("retention.delete_after", self.delete_after),
            ("slo.read_target", self.read_target),
            ("slo.read_max", self.read_max),
            ("read_gates.min_time", self.read.gates.min_time),
        ];
        if let Some((field, _)) = durations.iter().find(|(_, duration)| *duration > DURATION_MAX) {
            return Err(Error::field(field, "is longer than ten years; choose less, or 0 for never"));
        }
        if !self.delete_after.is_zero()
            && (self.close_after.is_zero() || self.close_after > self.delete_after)
        {
            return Err(Error::field(
                "retention",
                "close_after must come before delete_after; a slice is closed before it is dropped",
            ));
        }
        if self.read_max.is_zero() || self.read_target > self.read_max {
            return Err(Error::field("slo", "read_max must be more than 0 and not less than read_target"));
        }
        self.split.check()?;
        self.tune.check()?;
        self.read.check()
    }
}

/// A namespace that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: NamespaceName,
    /// Which making of the name it is.
    pub incarnation: u32,
    /// What it is configured to be.
    pub spec: NamespaceSpec,
    /// When it was made, nanoseconds since 1970.
    pub created: i64,
    /// Names its present state: a change that carries another one is refused.
    pub etag: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut NamespaceSpec)) -> String {
        let mut spec = NamespaceSpec::default();
        change(&mut spec);
        spec.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_the_published_ones_and_hold() {
        let spec = NamespaceSpec::default();
        spec.check().unwrap();
        let shape = spec.shape;
        assert_eq!(
            (shape.seconds_per_slice, shape.seconds_per_bucket, shape.buckets_per_id),
            (86_400, 3_600, 4)
        );
        assert_eq!((spec.accept_limit.as_secs(), spec.future_limit.as_secs()), (600, 600));
        assert_eq!((spec.close_after, spec.delete_after), (30 * DAY, 31 * DAY));
        assert_eq!((spec.read_target.as_millis(), spec.read_max.as_secs()), (500, 10));
        assert_eq!((spec.consistency, spec.storage), (Consistency::LocalQuorum, Storage::default()));
    }

    #[test]
    fn a_scan_is_late_near_the_target() {
        let after = |target| {
            let read_target = Duration::from_millis(target);
            NamespaceSpec { read_target, ..NamespaceSpec::default() }.hedge_after()
        };
        assert_eq!(after(500), Some(Duration::from_millis(375)));
        assert_eq!(after(0), None);
    }

    #[test]
    fn bad_settings_name_their_field() {
        assert!(refusal(|spec| spec.shape.seconds_per_bucket = 7_000).starts_with("shape: "));
        assert!(refusal(|spec| spec.close_after = 40 * DAY).starts_with("retention: "));
        assert!(refusal(|spec| spec.close_after = Duration::ZERO).starts_with("retention: "));
        assert!(refusal(|spec| spec.read_max = Duration::ZERO).starts_with("slo: "));
        assert!(refusal(|spec| spec.accept_limit = 20 * 366 * DAY).starts_with("accept_limit: "));
        assert!(NamespaceSpec { delete_after: Duration::ZERO, ..NamespaceSpec::default() }.check().is_ok());
    }
}
