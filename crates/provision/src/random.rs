//! Numbers that a seed decides, for ever the same: a plan can be made again from what it says of itself.

/// SplitMix64: one word of state, every seed is a good one.
struct Numbers(u64);

impl Numbers {
    /// A sequence of its own for each name, so that a new field changes no other.
    fn of(seed: u64, name: &str) -> Self {
        let start = 0xCBF2_9CE4_8422_2325_u64;
        let mixed = name
            .bytes()
            .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
        let mut numbers = Self(seed);
        let first = numbers.next();
        Self(first ^ mixed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`.
    fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.next()) * u128::try_from(bound).unwrap_or(0);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// At least 0 and under 1, in steps of 2^-32.
    fn fraction(&mut self) -> f64 {
        let high = u32::try_from(self.next() >> 32).unwrap_or(0);
        f64::from(high) / 4_294_967_296.0
    }
}

/// A number between 0 and 1 for each of so many worlds: one in every `count`-th of the range, in a shuffled order (a Latin
/// square), so that few worlds cover the whole of a guess evenly.
pub(crate) fn spread_out(seed: u64, name: &str, count: usize) -> Vec<f64> {
    let mut numbers = Numbers::of(seed, name);
    let mut places: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        places.swap(at, numbers.below(at + 1));
    }
    // Never 0 and never 1: both are infinitely unlikely in the distribution that they are put into.
    let inside = |place: usize, within: f64| (place as f64 + 0.01 + 0.98 * within) / count as f64;
    places.into_iter().map(|place| inside(place, numbers.fraction())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_range_is_met_once() {
        for (seed, count) in [(0, 1), (1, 2), (7, 128), (u64::MAX, 500)] {
            let mut found = spread_out(seed, "ids", count);
            found.sort_by(f64::total_cmp);
            for (at, value) in found.iter().enumerate() {
                let (from, to) = (at as f64 / count as f64, (at + 1) as f64 / count as f64);
                assert!(*value > from && *value < to, "{value} is not in {from}..{to}");
            }
        }
    }

    #[test]
    fn seed_and_name_decide() {
        assert_eq!(spread_out(7, "ids", 64), spread_out(7, "ids", 64));
        assert_ne!(spread_out(7, "ids", 64), spread_out(8, "ids", 64));
        assert_ne!(spread_out(7, "ids", 64), spread_out(7, "skew", 64));
    }

    #[test]
    fn the_sequence_never_changes() {
        let mut numbers = Numbers::of(7, "ids");
        let found: Vec<String> = (0..3).map(|_| format!("{:016x}", numbers.next())).collect();
        assert_eq!(found, ["3692ec25e107a5f4", "8326ffed8117d4fe", "a13d01f3727d3ffc"]);
    }
}
