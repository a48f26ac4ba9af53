//! Chance, drawn from the run's seed. Pure but for the draws.

use std::sync::Arc;
use std::time::Duration;

use env::Random;

use super::Lag;
use super::options::Chances;

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    Refuse,
    LoseCall,
    LoseAnswer,
    Late,
}

pub(super) struct Dice {
    random: Arc<dyn Random>,
}

impl Dice {
    pub(super) fn new(random: Arc<dyn Random>) -> Self {
        Self { random }
    }

    pub(super) fn chance(&self, per_thousand: u16) -> bool {
        per_thousand > 0 && self.random.below(1_000) < u64::from(per_thousand)
    }

    pub(super) fn fate(&self, chances: Chances) -> Fate {
        let Chances { refuse, lose_call, lose_answer, late } = chances;
        let mut drawn = self.random.below(1_000);
        let faults = [
            (refuse, Fate::Refuse),
            (lose_call, Fate::LoseCall),
            (lose_answer, Fate::LoseAnswer),
            (late, Fate::Late),
        ];
        for (per_thousand, fate) in faults {
            match drawn.checked_sub(u64::from(per_thousand)) {
                Some(rest) => drawn = rest,
                None => return fate,
            }
        }
        Fate::Pass
    }

    /// A time up to `most`.
    pub(super) fn up_to(&self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX - 1);
        Duration::from_micros(self.random.below(most.saturating_add(1)))
    }

    /// How long one message takes.
    pub(super) fn lag(&self, lag: Lag) -> Duration {
        if self.chance(lag.tail_per_thousand) {
            return lag.most + self.up_to(lag.tail_most.saturating_sub(lag.most));
        }
        lag.least + self.up_to(lag.most.saturating_sub(lag.least))
    }

    /// `count` of `all`, in an order of their own.
    pub(super) fn some(&self, mut all: Vec<usize>, count: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(count);
        while chosen.len() < count && !all.is_empty() {
            let at = usize::try_from(self.random.below(all.len() as u64)).unwrap_or(0);
            chosen.push(all.swap_remove(at));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use env::SeededRandom;

    use super::*;

    fn dice() -> Dice {
        Dice::new(Arc::new(SeededRandom::new(3)))
    }

    #[test]
    fn every_fate_comes_as_often_as_it_is_asked_for() {
        let (dice, chances) = (dice(), Chances { refuse: 100, lose_call: 200, lose_answer: 300, late: 0 });
        let drawn: Vec<Fate> = (0..10_000).map(|_| dice.fate(chances)).collect();
        let count = |fate| drawn.iter().filter(|one| **one == fate).count();
        assert!((900..1_100).contains(&count(Fate::Refuse)));
        assert!((1_850..2_150).contains(&count(Fate::LoseCall)));
        assert!((2_850..3_150).contains(&count(Fate::LoseAnswer)));
        assert_eq!(count(Fate::Late), 0);
    }

    #[test]
    fn lag_keeps_its_limits_even_where_they_are_swapped() {
        let dice = dice();
        let (short, long) = (Duration::from_millis(2), Duration::from_millis(9));
        let lag = Lag { least: short, most: long, tail_per_thousand: 500, tail_most: 2 * long };
        assert!((0..1_000).all(|_| (short..=2 * long).contains(&dice.lag(lag))));
        let swapped = Lag { least: long, most: short, tail_per_thousand: 0, tail_most: short };
        assert_eq!(dice.lag(swapped), long);
        assert_eq!(dice.lag(Lag::NONE), Duration::ZERO);
    }

    #[test]
    fn some_are_different_ones() {
        let dice = dice();
        for _ in 0..100 {
            let mut some = dice.some(vec![0, 1, 2], 2);
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), 2);
        }
        assert_eq!(dice.some(vec![4], 9), [4]);
    }
}
