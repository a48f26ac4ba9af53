//! From what a partition is to how it is cut. Pure.

use crate::{ChunkCodec, Packing, Profile, Reason, Strategy};

/// What a namespace, or whoever asked, wishes of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// A partition with more bytes is wide.
    pub threshold_bytes: u64,
    /// Bytes that a target should have, as the store keeps them.
    pub target_bytes: u64,
    /// Targets at most.
    pub max_split_buckets: u16,
    /// How to cut.
    pub strategy: StrategyWish,
    /// How targets keep events.
    pub layout: LayoutWish,
    /// Somebody asked for it to be packed, also if it is not wide.
    pub even_if_narrow: bool,
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

/// Which layout a namespace wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayoutWish {
    /// Packed where that pays; rows where hash buckets are asked for.
    #[default]
    Auto,
    /// One stored row per item.
    Rows,
    /// Chunks.
    Packed,
}

/// How a partition is read, as far as the planner's server has seen, and what the store is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Reads that began in it.
    pub begun: u64,
    /// Those that read more of it than makes it wide.
    pub long: u64,
    /// The store has machines that do not hold it: hash buckets would relieve those that do.
    pub spreads: bool,
    /// The store is elsewhere: fewer bytes are worth more than quick ones.
    pub is_remote: bool,
}

/// So many reads say how a partition is mostly read.
const READS_MIN: u64 = 20;
/// Logical bytes of a chunk: where pages, drains and disk were measured to be best together.
const CHUNK_BYTES: u64 = 64 << 10;
/// The same of larger events that travel: a chunk of few has too large a part of it in its header and in the tables of its codec.
const LARGER_CHUNK_BYTES: u64 = 128 << 10;
/// A chunk is one stored row, and this still fits into one.
const LARGEST_EVENT_BYTES: u64 = 768 << 10;
/// Up to here the store's work for a row is more than that for its bytes, so packing pays whether it shrinks them or not: where a
/// row has to travel, and where it has not.
const SMALL_EVENT_BYTES: u64 = 2 << 10;
const SMALL_NEAR_EVENT_BYTES: u64 = 512;

impl Usage {
    /// Whether the partition is mostly read whole, and one set of replicas has to be relieved.
    fn wants_hash(&self) -> bool {
        self.spreads && self.begun >= READS_MIN && self.long >= self.begun / 5 * 4
    }

    /// How events of such a mean size are packed.
    pub fn packing(&self, event_bytes: u64) -> Packing {
        let is_large = self.is_remote && event_bytes > SMALL_NEAR_EVENT_BYTES;
        let chunk_bytes = if is_large { LARGER_CHUNK_BYTES } else { CHUNK_BYTES };
        Packing { chunk_bytes, codec: self.codec(event_bytes) }
    }

    /// How chunks of such events are compressed.
    fn codec(&self, event_bytes: u64) -> ChunkCodec {
        if self.is_remote && event_bytes <= SMALL_EVENT_BYTES { ChunkCodec::Zstd } else { ChunkCodec::Lz4 }
    }
}

/// How a partition is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How rows are spread.
    pub strategy: Strategy,
    /// How a target packs them; none: it keeps rows.
    pub packing: Option<Packing>,
    /// It has more bytes than its targets should have together.
    pub capped: bool,
    /// Why this strategy.
    pub because: &'static str,
    /// Why this layout.
    pub layout_because: &'static str,
}

impl Plan {
    /// Both, for people.
    pub fn reason(&self) -> String {
        let both = [self.because, self.layout_because];
        both.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

const ASKED: &str = "the namespace asks for it";
const ONE_TIME: &str = "events of one time are more than a target should have, so time cannot cut them";
const READ_WHOLE: &str = "it is mostly read whole, and hash buckets spread long reads over more machines";
const BY_TIME: &str = "ranges of time: narrow reads and first pages ask one target";

const ROWS_ASKED: &str = "rows, as was asked for";
const PACKED_ASKED: &str = "packed, as was asked for";
const HASHED: &str = "rows, as hash buckets were asked for";
const LARGE_EVENT: &str = "rows, as one of its events is larger than a chunk can be";
const SMALL_EVENTS: &str = "packed, as what a store does for a row costs more than the bytes of these events";
const SHRINKS: &str = "packed, as that shrinks these events by more than a third";
const NOT_WORTH: &str = "rows, as these events are large and packing shrinks them little";

/// Whether to pack, and why.
fn packing(profile: &Profile, wish: &Wish, usage: &Usage) -> (Option<Packing>, &'static str) {
    let event_bytes = profile.event_bytes();
    let small = if usage.is_remote { SMALL_EVENT_BYTES } else { SMALL_NEAR_EVENT_BYTES };
    let packing = Some(usage.packing(event_bytes));
    match wish.layout {
        LayoutWish::Rows => (None, ROWS_ASKED),
        _ if profile.largest_event_bytes > LARGEST_EVENT_BYTES => (None, LARGE_EVENT),
        LayoutWish::Packed => (packing, PACKED_ASKED),
        LayoutWish::Auto if wish.strategy == StrategyWish::EventBucket => (None, HASHED),
        LayoutWish::Auto if event_bytes <= small => (packing, SMALL_EVENTS),
        LayoutWish::Auto if profile.packed_bytes(30) <= 20 => (packing, SHRINKS),
        LayoutWish::Auto => (None, NOT_WORTH),
    }
}

/// Cuts a partition, or says why not.
pub fn plan(profile: &Profile, wish: &Wish, usage: &Usage) -> Result<Plan, Reason> {
    let (packing, layout_because) = packing(profile, wish, usage);
    if profile.bytes <= wish.threshold_bytes && !(wish.even_if_narrow && packing.is_some()) {
        return Err(Reason::NotWide);
    }
    // An event is never cut: where one is nearly all there is, targets would be as wide as the origin.
    if profile.events < 2 || profile.largest_event_bytes > profile.bytes / 10 * 9 {
        return Err(Reason::Indivisible);
    }
    let stored = |bytes: u64| if packing.is_some() { profile.packed_bytes(bytes) } else { bytes };
    let bytes = stored(profile.bytes);
    let cap = u64::from(wish.max_split_buckets.max(2));
    let wanted = bytes.div_ceil(wish.target_bytes.max(1));
    // What is packed may fit into one.
    let count = wanted.clamp(if packing.is_some() { 1 } else { 2 }, cap);
    let by_hash =
        Strategy::EventBucket { target_event_buckets: u16::try_from(count.max(2)).unwrap_or(u16::MAX) };
    let share = bytes.div_ceil(count).max(wish.target_bytes);
    let (strategy, because) = match wish.strategy {
        StrategyWish::EventBucket => (by_hash, ASKED),
        StrategyWish::Auto | StrategyWish::TimeRange if stored(profile.largest_time_bytes) > share => {
            (by_hash, ONE_TIME)
        }
        // Packing relieves one set of replicas more than spreading does.
        StrategyWish::Auto if usage.wants_hash() && packing.is_none() => (by_hash, READ_WHOLE),
        wished => match profile.boundaries(count) {
            boundaries if boundaries.is_empty() && count > 1 => (by_hash, ONE_TIME),
            boundaries => {
                let because = if wished == StrategyWish::Auto { BY_TIME } else { ASKED };
                (Strategy::TimeRange { boundaries }, because)
            }
        },
    };
    Ok(Plan { strategy, packing, capped: wanted > cap, because, layout_because })
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
        layout: LayoutWish::Rows,
        even_if_narrow: false,
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
        let whole = Usage { begun: 20, long: 16, spreads: true, is_remote: true };
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

    #[test]
    fn what_is_packed_is_cut_by_time_also_where_it_is_mostly_read_whole() {
        let whole = Usage { begun: 20, long: 20, spreads: true, is_remote: true };
        let of = |layout, thousandths| {
            let wish = Wish { layout, ..WISH };
            let cut = plan(&shrinking(5_000, 200, thousandths), &wish, &whole).unwrap();
            (matches!(cut.strategy, Strategy::TimeRange { .. }), cut.because, cut.layout_because)
        };
        assert_eq!(of(LayoutWish::Auto, 500), (true, BY_TIME, SHRINKS));
        assert_eq!(of(LayoutWish::Auto, 950), (false, READ_WHOLE, NOT_WORTH));
        assert_eq!(of(LayoutWish::Packed, 950), (true, BY_TIME, PACKED_ASKED));
        assert_eq!(of(LayoutWish::Rows, 500), (false, READ_WHOLE, ROWS_ASKED));
    }

    /// A profile whose sample was packed to so many of a thousand bytes.
    fn shrinking(event_bytes: usize, events: i64, thousandths: u64) -> Profile {
        let mut profile = profile((0..events).map(|time| (time, event_bytes)));
        profile.sampled(1_000_000, thousandths * 1_000);
        profile
    }

    #[test]
    fn packing_is_chosen_where_it_pays() {
        let of = |profile: &Profile, wish: Wish| {
            let cut = plan(profile, &wish, &Usage { is_remote: true, ..Usage::default() }).unwrap();
            (cut.packing.map(|packing| packing.codec), cut.layout_because)
        };
        let auto = Wish { layout: LayoutWish::Auto, ..WISH };
        let packed = Wish { layout: LayoutWish::Packed, ..WISH };
        let hashed = Wish { strategy: StrategyWish::EventBucket, ..auto };
        let (small, large) = (shrinking(480, 2_000, 950), shrinking(5_000, 200, 950));
        assert_eq!(of(&small, auto), (Some(ChunkCodec::Zstd), SMALL_EVENTS));
        assert_eq!(of(&large, auto), (None, NOT_WORTH));
        assert_eq!(of(&shrinking(5_000, 200, 500), auto), (Some(ChunkCodec::Lz4), SHRINKS));
        assert_eq!(of(&large, packed), (Some(ChunkCodec::Lz4), PACKED_ASKED));
        assert_eq!(of(&small, hashed), (None, HASHED));
        assert_eq!(of(&small, Wish { strategy: StrategyWish::EventBucket, ..packed }).1, PACKED_ASKED);
        assert_eq!(of(&small, WISH), (None, ROWS_ASKED));
        assert_eq!(of(&shrinking(800_000, 4, 100), packed), (None, LARGE_EVENT));
        let packing_of = |events: Profile, usage| plan(&events, &auto, &usage).unwrap().packing.unwrap();
        let travels = Usage { is_remote: true, ..Usage::default() };
        assert_eq!(packing_of(small.clone(), travels).chunk_bytes, CHUNK_BYTES);
        assert_eq!(packing_of(shrinking(1_000, 1_000, 500), travels).chunk_bytes, LARGER_CHUNK_BYTES);
        let near = packing_of(shrinking(1_000, 1_000, 500), Usage::default());
        assert_eq!(near, Packing { chunk_bytes: CHUNK_BYTES, codec: ChunkCodec::Lz4 });
        assert_eq!(packing_of(small, Usage::default()).codec, ChunkCodec::Lz4);
        let near = |events: Profile| plan(&events, &auto, &Usage::default()).unwrap().layout_because;
        assert_eq!(near(shrinking(1_000, 1_000, 950)), NOT_WORTH);
        assert_eq!(near(shrinking(1_000, 1_000, 500)), SHRINKS);
    }

    #[test]
    fn packed_targets_are_counted_in_stored_bytes_and_may_be_one() {
        let packed = Wish { layout: LayoutWish::Packed, ..WISH };
        let of = |thousandths, wish: &Wish| {
            let cut = plan(&shrinking(500, 2_000, thousandths), wish, &Usage::default()).unwrap();
            (cut.strategy.targets(), cut.capped, matches!(cut.strategy, Strategy::TimeRange { .. }))
        };
        assert_eq!(of(1_000, &packed), (16, true, true));
        assert_eq!(of(200, &packed), (5, false, true));
        assert_eq!(of(20, &packed), (1, false, true));
        assert_eq!(of(20, &Wish { strategy: StrategyWish::EventBucket, ..packed }), (2, false, false));
        let narrow = shrinking(500, 100, 200);
        assert_eq!(plan(&narrow, &packed, &Usage::default()), Err(Reason::NotWide));
        let asked = Wish { even_if_narrow: true, ..packed };
        assert_eq!(plan(&narrow, &asked, &Usage::default()).unwrap().strategy.targets(), 1);
        let rows = Wish { layout: LayoutWish::Rows, ..asked };
        assert_eq!(plan(&narrow, &rows, &Usage::default()), Err(Reason::NotWide));
    }
}
