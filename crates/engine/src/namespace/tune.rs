//! What a namespace wishes of the tuner.

use ::tune::{DENSITY_MAX_DEFAULT, DENSITY_MIN_DEFAULT, Density};
use serde::{Deserialize, Serialize};
use store::Named;

use crate::catalog::setting::{is_default, named};
use crate::{Error, Result};

/// Smallest density: below, a table has as many partitions as rows.
const BYTES_MIN: u64 = 1 << 10;
/// Largest.
const BYTES_MAX: u64 = 1 << 40;
/// The largest density is so many times the smallest at least: the steps of a shape are about twofold, and each has to end inside.
const TIMES_MIN: u64 = 3;

/// How large partitions should be, and who changes future slices for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneSpec {
    /// Who decides.
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    pub policy: TunePolicy,
    /// Below this p99 there are too many partitions.
    pub density_min_bytes: u64,
    /// Above it they are too large.
    pub density_max_bytes: u64,
}

impl Default for TuneSpec {
    fn default() -> Self {
        Self {
            policy: TunePolicy::Propose,
            density_min_bytes: DENSITY_MIN_DEFAULT,
            density_max_bytes: DENSITY_MAX_DEFAULT,
        }
    }
}

impl TuneSpec {
    /// Checks every field and how they fit together.
    pub(super) fn check(&self) -> Result<()> {
        for (field, bytes) in [
            ("tune.density_min_bytes", self.density_min_bytes),
            ("tune.density_max_bytes", self.density_max_bytes),
        ] {
            if !(BYTES_MIN..=BYTES_MAX).contains(&bytes) {
                return Err(Error::field(field, format!("is {bytes}; choose {BYTES_MIN} to {BYTES_MAX}")));
            }
        }
        if self.density_max_bytes / TIMES_MIN < self.density_min_bytes {
            return Err(Error::field(
                "tune.density_max_bytes",
                format!(
                    "is less than {TIMES_MIN} times density_min_bytes; steps of a shape are wider, choose more"
                ),
            ));
        }
        Ok(())
    }

    /// Where sizes should be.
    pub(crate) const fn density(&self) -> Density {
        Density { min: self.density_min_bytes, max: self.density_max_bytes }
    }
}

/// Who changes future slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TunePolicy {
    /// Servers propose, somebody decides.
    #[default]
    Propose,
    /// Servers propose and, where the evidence is not estimated, apply.
    Auto,
    /// Nobody looks.
    Off,
}

impl Named for TunePolicy {
    const ALL: &'static [Self] = &[Self::Propose, Self::Auto, Self::Off];

    fn name(self) -> &'static str {
        match self {
            Self::Propose => "propose",
            Self::Auto => "auto",
            Self::Off => "off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_published_ones_and_hold() {
        let spec = TuneSpec::default();
        spec.check().unwrap();
        assert_eq!(
            (spec.policy.name(), spec.density_min_bytes, spec.density_max_bytes),
            ("propose", 2 << 20, 10 << 20)
        );
    }

    #[test]
    fn bad_settings_name_their_field() {
        let refusal = |min, max| {
            let spec = TuneSpec { density_min_bytes: min, density_max_bytes: max, ..TuneSpec::default() };
            spec.check().unwrap_err().to_string()
        };
        assert!(refusal(0, 10 << 20).starts_with("tune.density_min_bytes: is 0; choose 1024 to "));
        assert!(refusal(2 << 20, u64::MAX).starts_with("tune.density_max_bytes: "));
        assert!(refusal(4 << 20, 10 << 20).contains("less than 3 times density_min_bytes"));
    }
}
