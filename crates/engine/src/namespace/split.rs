//! What a namespace wishes of splits.

use model::shape::SPLIT_STRIDE;
use serde::{Deserialize, Serialize};
use store::Named;

use crate::catalog::setting::{is_default, named};
use crate::{Error, Result};

const MIB: u64 = 1 << 20;
/// Smallest threshold and target: below, a split costs more than it saves.
const BYTES_MIN: u64 = 64 << 10;
/// Largest of both.
const BYTES_MAX: u64 = 1 << 40;

/// When and how wide partitions are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitSpec {
    /// Who decides.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub policy: SplitPolicy,
    /// A partition with more bytes is wide.
    pub threshold_bytes: u64,
    /// Bytes that a target should have.
    pub target_bytes: u64,
    /// Targets at most.
    pub max_split_buckets: u16,
    /// How to cut.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub strategy: SplitStrategy,
    /// How targets keep events.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub layout: SplitLayout,
}

impl Default for SplitSpec {
    fn default() -> Self {
        Self {
            policy: SplitPolicy::Auto,
            threshold_bytes: 16 * MIB,
            target_bytes: 4 * MIB,
            max_split_buckets: SPLIT_STRIDE,
            strategy: SplitStrategy::Auto,
            layout: SplitLayout::Auto,
        }
    }
}

impl SplitSpec {
    /// Checks every field and how they fit together.
    pub(super) fn check(&self) -> Result<()> {
        for (field, bytes) in
            [("split.threshold_bytes", self.threshold_bytes), ("split.target_bytes", self.target_bytes)]
        {
            if !(BYTES_MIN..=BYTES_MAX).contains(&bytes) {
                return Err(Error::field(field, format!("is {bytes}; choose {BYTES_MIN} to {BYTES_MAX}")));
            }
        }
        if self.target_bytes > self.threshold_bytes {
            return Err(Error::field(
                "split.target_bytes",
                "is more than threshold_bytes; targets would be as wide as what is split, choose less",
            ));
        }
        if !(2..=SPLIT_STRIDE).contains(&self.max_split_buckets) {
            let asked = self.max_split_buckets;
            return Err(Error::field(
                "split.max_split_buckets",
                format!("is {asked}; choose 2 to {SPLIT_STRIDE}"),
            ));
        }
        Ok(())
    }

    /// The same, as planners read it; `asked` is the layout that somebody asked for instead.
    pub(crate) fn wish(&self, asked: Option<split::TargetLayout>) -> split::Wish {
        let layout = match (asked, self.layout) {
            (Some(split::TargetLayout::Rows), _) | (None, SplitLayout::Rows) => split::LayoutWish::Rows,
            (Some(split::TargetLayout::Packed), _) | (None, SplitLayout::Packed) => split::LayoutWish::Packed,
            (None, SplitLayout::Auto) => split::LayoutWish::Auto,
        };
        split::Wish {
            layout,
            even_if_narrow: asked == Some(split::TargetLayout::Packed),
            threshold_bytes: self.threshold_bytes,
            target_bytes: self.target_bytes,
            max_split_buckets: self.max_split_buckets,
            strategy: match self.strategy {
                SplitStrategy::Auto => split::StrategyWish::Auto,
                SplitStrategy::EventBucket => split::StrategyWish::EventBucket,
                SplitStrategy::TimeRange => split::StrategyWish::TimeRange,
            },
        }
    }
}

/// Who decides that something is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitPolicy {
    /// Reads that find a partition wide.
    #[default]
    Auto,
    /// Reads find and list; somebody decides.
    Manual,
    /// Nobody looks.
    Off,
}

impl Named for SplitPolicy {
    const ALL: &'static [Self] = &[Self::Auto, Self::Manual, Self::Off];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Off => "off",
        }
    }
}

/// How wide partitions are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitStrategy {
    /// By time where that cuts it, else by hash.
    #[default]
    Auto,
    /// By the hash of the event id.
    EventBucket,
    /// By time; where one timestamp is larger than a target, by hash.
    TimeRange,
}

impl Named for SplitStrategy {
    const ALL: &'static [Self] = &[Self::Auto, Self::EventBucket, Self::TimeRange];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::EventBucket => "event_bucket",
            Self::TimeRange => "time_range",
        }
    }
}

/// How targets keep events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitLayout {
    /// Packed where that pays; rows where hash buckets are asked for.
    #[default]
    Auto,
    /// One stored row per item.
    Rows,
    /// One stored row per chunk of many events.
    Packed,
}

impl Named for SplitLayout {
    const ALL: &'static [Self] = &[Self::Auto, Self::Rows, Self::Packed];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rows => "rows",
            Self::Packed => "packed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_published_ones_and_hold() {
        let spec = SplitSpec::default();
        spec.check().unwrap();
        assert_eq!(
            (spec.threshold_bytes, spec.target_bytes, spec.max_split_buckets),
            (16 << 20, 4 << 20, 16)
        );
        let names = (spec.policy.name(), spec.strategy.name(), spec.layout.name());
        assert_eq!(names, ("auto", "auto", "auto"));
    }

    #[test]
    fn bad_settings_name_their_field() {
        let good = SplitSpec::default();
        let refusal = |spec: SplitSpec| spec.check().unwrap_err().to_string();
        assert!(refusal(SplitSpec { threshold_bytes: 1, ..good }).starts_with("split.threshold_bytes: "));
        assert!(refusal(SplitSpec { target_bytes: 0, ..good }).starts_with("split.target_bytes: "));
        assert!(refusal(SplitSpec { target_bytes: 32 * MIB, ..good }).starts_with("split.target_bytes: "));
        assert!(refusal(SplitSpec { max_split_buckets: 1, ..good }).starts_with("split.max_split_buckets: "));
        assert!(refusal(SplitSpec { max_split_buckets: 17, ..good }).contains("2 to 16"));
    }
}
