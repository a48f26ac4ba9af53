//! What a workload could turn out to be: worlds, each with one value for every guess.

use crate::Workload;
use crate::random::spread_out;
use crate::series::{Group, groups};

/// One way things could be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct World {
    /// How many series.
    pub(crate) ids: f64,
    /// Bytes of an event.
    pub(crate) event_bytes: f64,
    /// Reads in a second, of the whole namespace.
    pub(crate) reads: f64,
    /// All series, busiest first.
    pub(crate) series: Vec<Group>,
    /// Events in a second, of the whole namespace.
    pub(crate) events: f64,
}

impl World {
    fn of(ids: f64, rate: f64, skew: f64, event_bytes: f64, reads: f64) -> Self {
        let ids = ids.round().max(1.0);
        let series = groups(ids, rate, skew);
        Self { ids, event_bytes, reads, events: ids * rate, series }
    }
}

/// The worlds of a workload: every guess is sampled by itself, from a sequence of its own.
pub(crate) fn worlds(workload: &Workload) -> Vec<World> {
    let count = usize::try_from(workload.worlds).unwrap_or(1);
    let draw = |name| spread_out(workload.seed, name, count);
    let rates = draw("events_per_second_per_id");
    let (ids, skews) = (draw("ids"), draw("skew"));
    let (bytes, reads) = (draw("event_bytes"), draw("reads_per_second"));
    let others = ids.into_iter().zip(skews).zip(bytes.into_iter().zip(reads));
    let one = |(rate, ((ids, skew), (bytes, reads)))| {
        World::of(
            workload.ids.at(ids),
            workload.events_per_second_per_id.at(rate),
            workload.skew.at(skew),
            workload.event_bytes.at(bytes),
            workload.reads_per_second.at(reads),
        )
    };
    rates.into_iter().zip(others).map(one).collect()
}

/// The world in which every guess is in the middle.
pub(crate) fn middle(workload: &Workload) -> World {
    World::of(
        workload.ids.mid,
        workload.events_per_second_per_id.mid,
        workload.skew.mid,
        workload.event_bytes.mid,
        workload.reads_per_second.mid,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guess;
    use crate::workload::tests::sensors;

    #[test]
    fn a_seed_decides_and_every_guess_is_covered() {
        let found = worlds(&sensors());
        assert_eq!(found.len(), 128);
        assert_eq!(found, worlds(&sensors()));
        assert_ne!(found, worlds(&Workload { seed: 8, ..sensors() }));
        let under = |limit: f64| found.iter().filter(|world| world.ids < limit).count();
        assert_eq!(under(10_000.0), 64, "half are under the middle");
        assert!((5..=7).contains(&under(1_000.0)) && (121..=123).contains(&under(100_000.0)));
    }

    #[test]
    fn guesses_are_independent_of_each_other() {
        let known = worlds(&Workload { ids: Guess::exactly(50.0), ..sensors() });
        assert!(known.iter().all(|world| world.ids == 50.0));
        let bytes = |worlds: &[World]| worlds.iter().map(|world| world.event_bytes).collect::<Vec<_>>();
        assert_eq!(bytes(&known), bytes(&worlds(&sensors())));
    }
}
