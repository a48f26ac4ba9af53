//! Lots for one actor, from a stream of the seed of its own.

use std::sync::Arc;
use std::time::Duration;

use env::{Random, SeededRandom};

use crate::World;

/// Draws for one actor.
#[derive(Clone)]
pub(super) struct Dice {
    random: Arc<SeededRandom>,
}

impl Dice {
    pub(super) fn new(world: &World, actor: &str) -> Self {
        Self { random: world.random(actor) }
    }

    /// A number below `bound`; zero where that is zero.
    pub(super) fn below(&self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.random.below(bound) }
    }

    /// A number of `from..=to`.
    pub(super) fn between(&self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// The same, signed: to either side of zero.
    pub(super) fn around_zero(&self, most: i64) -> i64 {
        let drawn = self.below(most.unsigned_abs() * 2 + 1);
        i64::try_from(drawn).unwrap_or(0) - most
    }

    /// Whether something happens that does so in so many of a hundred cases.
    pub(super) fn percent(&self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// So many seconds, to the millisecond.
    pub(super) fn seconds(&self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from * 1_000, to * 1_000))
    }

    /// One of these; none of none.
    pub(super) fn pick<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        of.get(usize::try_from(self.below(of.len() as u64)).unwrap_or(0))
    }

    /// An index below `bound`.
    pub(super) fn index(&self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }
}
