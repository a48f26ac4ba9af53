//! The window in which partitions should be: large enough that reads touch few, small enough that each is quick.

/// Smallest p99 that is wanted, where nothing else is said.
pub const DENSITY_MIN_DEFAULT: u64 = 2 << 20;
/// Largest.
pub const DENSITY_MAX_DEFAULT: u64 = 10 << 20;

/// Where the p99 of partition sizes should lie, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Density {
    /// Below, a table is over-partitioned.
    pub min: u64,
    /// Above, it is under-partitioned.
    pub max: u64,
}

impl Default for Density {
    fn default() -> Self {
        Self { min: DENSITY_MIN_DEFAULT, max: DENSITY_MAX_DEFAULT }
    }
}

impl Density {
    /// What a new shape may come to: a fifth below the largest, so that a steady load which ends there stays inside however its
    /// sizes waver. This is the hysteresis.
    pub const fn aim(self) -> u64 {
        self.max / 5 * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_published_one() {
        let density = Density::default();
        assert_eq!((density.min, density.max, density.aim()), (2_097_152, 10_485_760, 8_388_608));
    }
}
