//! Randomness as a capability, and ids made from it.

use std::sync::{Mutex, PoisonError};

/// A source of random bytes.
pub trait Random: Send + Sync + 'static {
    /// Fills `buffer` with random bytes.
    fn fill(&self, buffer: &mut [u8]);

    /// A random number, evenly spread over all 64-bit values.
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A random number below `bound`, which must not be zero.
    fn below(&self, bound: u64) -> u64 {
        assert!(bound > 0, "no number lies below zero");
        // Multiplying and keeping the high half spreads evenly enough for jitter and sampling.
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(bound - 1)
    }
}

/// A fresh 128-bit id as 32 hexadecimal digits.
pub fn fresh_id(random: &dyn Random) -> String {
    format!("{:016x}{:016x}", random.next_u64(), random.next_u64())
}

/// Randomness that repeats: the same seed gives the same numbers. For tests and simulation, never for secrets.
pub struct SeededRandom {
    generator: Mutex<fastrand::Rng>,
}

impl SeededRandom {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { generator: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }
}

impl Random for SeededRandom {
    fn fill(&self, buffer: &mut [u8]) {
        self.generator.lock().unwrap_or_else(PoisonError::into_inner).fill(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            (random.next_u64(), random.below(10), fresh_id(&random))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_eq!(draw(7).2.len(), 32);
    }

    #[test]
    fn below_stays_below() {
        let random = SeededRandom::new(1);
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
