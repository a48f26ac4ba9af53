//! What a namespace wishes of reads from split partitions: the mode, who changes it, and what has to be shown before.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::Named;

use crate::catalog::setting::{is_default, named};
use crate::{Error, Result};

/// How reads use the targets of splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSpec {
    /// How far reads have moved over.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub mode: ReadMode,
    /// Who moves them on.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub policy: ReadModePolicy,
    /// What has to be shown before they move on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: ReadGates,
    /// The share of reads that a canary serves from targets.
    #[serde(default = "Share::quarter", skip_serializing_if = "Share::is_quarter")]
    pub canary: Share,
    /// The share of reads that are compared.
    #[serde(default = "Share::whole", skip_serializing_if = "Share::is_whole")]
    pub compare: Share,
}

/// What has to be shown before reads move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadGates {
    /// Reads compared at least.
    pub min_compared: u64,
    /// Bytes that differed at most.
    pub max_differ_bytes: u64,
    /// Fallbacks among reads from targets at most.
    pub max_fallback_share: Share,
    /// How much slower targets may be, in thousandths; zero: it is only shown.
    pub max_latency_permille: u32,
    /// How long a mode lasts at least, where reads move on by themselves.
    pub min_time: Duration,
}

impl Default for ReadGates {
    fn default() -> Self {
        Self {
            min_compared: 50,
            max_differ_bytes: 0,
            max_fallback_share: Share::parts(100),
            max_latency_permille: 0,
            min_time: Duration::from_secs(600),
        }
    }
}

impl Default for ReadSpec {
    fn default() -> Self {
        Self {
            mode: ReadMode::default(),
            policy: ReadModePolicy::default(),
            gates: ReadGates::default(),
            canary: Share::quarter(),
            compare: Share::whole(),
        }
    }
}

impl ReadSpec {
    /// Checks every field.
    pub(super) fn check(&self) -> Result<()> {
        let shares = [
            ("canary_share", self.canary),
            ("compare_share", self.compare),
            ("read_gates.max_fallback_share", self.gates.max_fallback_share),
        ];
        match shares.into_iter().find(|(_, share)| share.0 > Share::WHOLE) {
            Some((field, share)) => Err(Error::field(field, format!("is {}; choose 0 to 1", share.of_one()))),
            None => Ok(()),
        }
    }
}

/// A part of a whole, in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u16);

impl Share {
    /// All of it.
    pub const WHOLE: u16 = 10_000;

    /// So many ten-thousandths.
    pub const fn parts(parts: u16) -> Self {
        Self(parts)
    }

    /// A number from 0 to 1, rounded; none for others.
    pub fn of(number: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is in a small range of numbers above zero"
        )]
        let parts = |number: f64| (number * f64::from(Self::WHOLE)).round() as u16;
        (0.0..=1.0).contains(&number).then(|| Self(parts(number)))
    }

    /// The same as a number from 0 to 1.
    pub fn of_one(self) -> f64 {
        f64::from(self.0) / f64::from(Self::WHOLE)
    }

    /// Whether a number up to [`Share::WHOLE`] that was drawn by chance belongs to it.
    pub(crate) const fn has(self, draw: u16) -> bool {
        draw < self.0
    }

    const fn quarter() -> Self {
        Self(2_500)
    }

    fn is_quarter(&self) -> bool {
        *self == Self::quarter()
    }

    const fn whole() -> Self {
        Self(Self::WHOLE)
    }

    fn is_whole(&self) -> bool {
        *self == Self::whole()
    }
}

/// How far reads have moved from origins to targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadMode {
    /// Targets are built and not read.
    Off,
    /// The origin is served; targets are read after the answer, and compared.
    #[default]
    Shadow,
    /// A share of reads is served from targets.
    Canary,
    /// All of them.
    On,
}

impl ReadMode {
    /// The step behind this one; none behind the last.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Off => Some(Self::Shadow),
            Self::Shadow => Some(Self::Canary),
            Self::Canary => Some(Self::On),
            Self::On => None,
        }
    }
}

impl Named for ReadMode {
    const ALL: &'static [Self] = &[Self::Off, Self::Shadow, Self::Canary, Self::On];

    fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Shadow => "shadow",
            Self::Canary => "canary",
            Self::On => "on",
        }
    }
}

/// Who moves reads on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadModePolicy {
    /// The servers, when the gates let them.
    #[default]
    Auto,
    /// An operator.
    Manual,
}

impl Named for ReadModePolicy {
    const ALL: &'static [Self] = &[Self::Auto, Self::Manual];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_published_ones_and_hold() {
        let spec = ReadSpec::default();
        spec.check().unwrap();
        assert_eq!((spec.mode.name(), spec.policy.name()), ("shadow", "auto"));
        assert_eq!((spec.compare.of_one(), spec.canary.of_one()), (1.0, 0.25));
        let gates = spec.gates;
        assert_eq!((gates.min_compared, gates.max_differ_bytes, gates.max_latency_permille), (50, 0, 0));
        assert_eq!((gates.max_fallback_share.of_one(), gates.min_time.as_secs()), (0.01, 600));
    }

    #[test]
    fn shares_are_parts_of_a_whole() {
        assert_eq!(Share::of(0.25), Some(Share::parts(2_500)));
        assert_eq!((Share::of(-0.1), Share::of(1.01), Share::of(f64::NAN)), (None, None, None));
        let bad = ReadSpec { canary: Share::parts(10_001), ..ReadSpec::default() };
        assert!(bad.check().unwrap_err().to_string().starts_with("canary_share: "));
    }
}
