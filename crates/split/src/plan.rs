//! From what a partition is to how it is cut. Pure.

use crate::{Profile, Reason, Strategy, TargetLayout};

/// What a namespace wishes of splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// A partition with more bytes is wide.
    pub threshold_bytes: u64,
    /// Bytes that a target should have.
    pub target_bytes: u64,
    /// Targets at most.
    pub max_split_buckets: u16,
    /// How to cut.
    pub strategy: StrategyWish,
}

/// Which strategy a namespace wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrategyWish {
    /// By time where that cuts it, else by hash.
    #[default]
    Auto,
    /// By hash.
    EventBucket,
    /// By time; where one timestamp is larger than a target, by hash.
    TimeRange,
}

/// How a partition is read, as far as the planner's server has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Reads that began in it.
    pub begun: u64,
    /// Those that read more of it than makes it wide.
    pub long: u64,
    /// The store has machines that do not hold it: hash buckets would relieve those that do.
    pub spreads: bool,
}

/// So many reads say how a partition is mostly read.
const READS_MIN: u64 = 20;

impl Usage {
    /// Whether the partition is mostly read whole, and one set of replicas has to be relieved.
    fn wants_hash(&self) -> bool {
        self.spreads && self.begun >= READS_MIN && self.long >= self.begun / 5 * 4
    }
}

/// How a partition is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How rows are spread.
    pub strategy: Strategy,
    /// How a target keeps them.
    pub layout: TargetLayout,
    /// It has more bytes than its targets should have together.
    pub capped: bool,
    /// Why this strategy.
    pub because: &'static str,
}

const ASKED: &str = "the namespace asks for it";
const ONE_TIME: &str = "events of one time are more than a target should have, so time cannot cut them";
const READ_WHOLE: &str = "it is mostly read whole, and hash buckets spread long reads over more machines";
const BY_TIME: &str = "ranges of time: narrow reads and first pages ask one target";

/// Cuts a partition, or says why not.
pub fn plan(profile: &Profile, wish: &Wish, usage: &Usage) -> Result<Plan, Reason> {
    if profile.bytes <= wish.threshold_bytes {
        return Err(Reason::NotWide);
    }
    // An event is never cut: where one is nearly all there is, targets would be as wide as the origin.
    if profile.events < 2 || profile.largest_event_bytes > profile.bytes / 10 * 9 {
        return Err(Reason::Indivisible);
    }
    let cap = u64::from(wish.max_split_buckets.max(2));
    let wanted = profile.bytes.div_ceil(wish.target_bytes.max(1));
    let count = wanted.clamp(2, cap);
    let by_hash = Strategy::EventBucket { target_event_buckets: u16::try_from(count).unwrap_or(u16::MAX) };
    let share = profile.bytes.div_ceil(count).max(wish.target_bytes);
    let (strategy, because) = match wish.strategy {
        StrategyWish::EventBucket => (by_hash, ASKED),
        StrategyWish::Auto | StrategyWish::TimeRange if profile.largest_time_bytes > share => {
            (by_hash, ONE_TIME)
        }
        StrategyWish::Auto if usage.wants_hash() => (by_hash, READ_WHOLE),
        wished => match profile.boundaries(count) {
            boundaries if boundaries.is_empty() => (by_hash, ONE_TIME),
            boundaries => {
                let because = if wished == StrategyWish::Auto { BY_TIME } else { ASKED };
                (Strategy::TimeRange { boundaries }, because)
            }
        },
    };
    Ok(Plan { strategy, layout: TargetLayout::Rows, capped: wanted > cap, because })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::{EventId, ItemKey, Row, RowKey, Timestamp};

    use super::*;

    const WISH: Wish = Wish {
        threshold_bytes: 100_000,
        target_bytes: 50_000,
        max_split_buckets: 16,
        strategy: StrategyWish::Auto,
    };

    /// Events of so many bytes each, at these times, newest first.
    fn profile(events: impl IntoIterator<Item = (i64, usize)>) -> Profile {
        let mut profile = Profile::default();
        for (at, (age, bytes)) in events.into_iter().enumerate() {
            let time = 1_000_000 - age;
            let key = RowKey {
                event_time: Timestamp::from_nanos(time).unwrap(),
                event_id: EventId::new(format!("e{at:06}")).unwrap(),
                item_key: ItemKey::new("k").unwrap(),
            };
            let row = Row { key, write_time: 0, value: Bytes::from(vec![0; bytes]), metadata: Bytes::new() };
            profile.add(&row.view());
        }
        profile
    }

    #[test]
    fn what_is_not_wide_or_cannot_be_cut_is_refused() {
        assert_eq!(
            plan(&profile((0..10).map(|time| (time, 1_000))), &WISH, &Usage::default()),
            Err(Reason::NotWide)
        );
        assert_eq!(plan(&profile([(0, 900_000)]), &WISH, &Usage::default()), Err(Reason::Indivisible));
        assert_eq!(
            plan(&profile([(0, 900_000), (1, 10)]), &WISH, &Usage::default()),
            Err(Reason::Indivisible)
        );
        assert!(plan(&profile([(0, 900_000), (1, 900_000)]), &WISH, &Usage::default()).is_ok());
    }

    #[test]
    fn the_number_of_targets_follows_the_bytes_up_to_the_cap() {
        let of = |events: i64, strategy| {
            let plan = plan(
                &profile((0..events).map(|time| (time, 1_000))),
                &Wish { strategy, ..WISH },
                &Usage::default(),
            )
            .unwrap();
            (plan.strategy.targets(), plan.capped)
        };
        for strategy in [StrategyWish::Auto, StrategyWish::EventBucket] {
            assert_eq!(of(120, strategy), (3, false));
            assert_eq!(of(780, strategy), (16, false));
            assert_eq!(of(900, strategy), (16, true));
        }
    }

    #[test]
    fn time_is_cut_unless_one_timestamp_is_too_much() {
        let spread = plan(&profile((0..400).map(|time| (time, 1_000))), &WISH, &Usage::default()).unwrap();
        assert!(matches!(spread.strategy, Strategy::TimeRange { .. }), "{spread:?}");
        for strategy in [StrategyWish::Auto, StrategyWish::TimeRange] {
            let wish = Wish { strategy, ..WISH };
            let burst =
                plan(&profile((0..400).map(|time| (time / 300, 1_000))), &wish, &Usage::default()).unwrap();
            assert!(matches!(burst.strategy, Strategy::EventBucket { .. }), "{burst:?}");
        }
        let hashed = Wish { strategy: StrategyWish::EventBucket, ..WISH };
        let hashed = plan(&profile((0..400).map(|time| (time, 1_000))), &hashed, &Usage::default()).unwrap();
        assert!(matches!(hashed.strategy, Strategy::EventBucket { .. }), "{hashed:?}");
    }

    #[test]
    fn what_is_mostly_read_whole_is_spread_over_machines_where_there_are_any() {
        let of = |usage: Usage, strategy| {
            let cut = plan(&profile((0..400).map(|time| (time, 1_000))), &Wish { strategy, ..WISH }, &usage)
                .unwrap();
            (matches!(cut.strategy, Strategy::EventBucket { .. }), cut.because)
        };
        let whole = Usage { begun: 20, long: 16, spreads: true };
        assert_eq!(of(whole, StrategyWish::Auto), (true, READ_WHOLE));
        assert_eq!(of(whole, StrategyWish::TimeRange), (false, ASKED));
        for usage in [
            Usage { spreads: false, ..whole },
            Usage { long: 15, ..whole },
            Usage { begun: 19, long: 19, ..whole },
            Usage::default(),
        ] {
            assert_eq!(of(usage, StrategyWish::Auto), (false, BY_TIME), "{usage:?}");
        }
    }
}
