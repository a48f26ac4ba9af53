//! [`Plot`]: what a play is about.

/// Of so many seeds one plays splits.
const SPLITS_EVERY: u64 = 2;
/// Of so many seeds one damages targets.
const DAMAGE_EVERY: u64 = 4;

/// What a play is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plot {
    /// Partitions become wide and are split.
    pub splits: bool,
    /// Somebody damages stored rows of targets.
    pub damage: bool,
    /// The fault that all servers have.
    #[cfg(feature = "seeded-bugs")]
    pub bug: Option<engine::Bug>,
}

impl Plot {
    /// The plot of a seed.
    pub fn of(seed: u64) -> Self {
        Self {
            splits: seed.is_multiple_of(SPLITS_EVERY),
            damage: seed.is_multiple_of(DAMAGE_EVERY),
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        }
    }
}
