//! What the targets of a completed split hold, and which of them a read has to ask. Pure.

use model::{Interval, Order};

use crate::{PostSplit, Record, State, Strategy, TargetLayout};

/// What the targets of a split hold, as its record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// How rows are spread.
    pub strategy: Strategy,
    /// The event bucket of the first target.
    pub start_event_bucket: u32,
    /// The targets hold everything of the origin before this time; the rest only the origin has.
    pub covered_until: i64,
    /// How the targets keep events.
    pub layout: CoverLayout,
}

/// How targets keep events, for whoever reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverLayout {
    /// One stored row per item.
    Rows,
    /// Chunks.
    Packed {
        /// Rows that a chunk has on the average: how many to ask for.
        rows_per_chunk: u32,
    },
}

/// Where a part of a partition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the partition itself.
    Origin,
    /// In the target with this event bucket.
    Target(u32),
}

/// A part of a partition that is read in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Where.
    pub place: Place,
    /// Which part.
    pub interval: Interval,
}

impl Cover {
    /// Of a record; none unless it was completed, in a form that this version can read.
    pub fn of(record: &Record) -> Option<Self> {
        let post = record.post_split_data.as_ref().filter(|_| record.state == State::Completed)?;
        let layout = match post.layout {
            TargetLayout::Rows => CoverLayout::Rows,
            TargetLayout::Packed => CoverLayout::Packed { rows_per_chunk: rows_per_chunk(post) },
        };
        let (strategy, start_event_bucket) = post.strategy()?;
        let known = record.version == crate::record::VERSION && strategy.targets() > 0;
        let covered_until = record.covered_until;
        known.then_some(Self { strategy, start_event_bucket, covered_until, layout })
    }

    /// The ways on which a part of the partition is read: rows of different ways are merged, the legs of one way follow each
    /// other in the order of the read. There is at least one way, and none is without legs.
    pub fn ways(&self, interval: Interval, order: Order) -> Vec<Vec<Leg>> {
        let covered = before(interval, self.covered_until);
        let rest = from(interval, self.covered_until);
        let origin = (!rest.is_empty()).then_some(Leg { place: Place::Origin, interval: rest });
        let target = |number: usize, interval| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            Leg { place: Place::Target(self.start_event_bucket.saturating_add(number)), interval }
        };
        let mut ways: Vec<Vec<Leg>> = match &self.strategy {
            Strategy::EventBucket { .. } => {
                let targets = (0..self.strategy.targets()).filter(|_| !covered.is_empty());
                targets
                    .map(|number| vec![target(number, covered)])
                    .chain(origin.map(|leg| vec![leg]))
                    .collect()
            }
            Strategy::TimeRange { boundaries } => {
                let edge = |number: usize| boundaries.get(number).copied();
                let of = |number: usize| {
                    let after =
                        number.checked_sub(1).and_then(edge).map_or(covered, |edge| from(covered, edge));
                    target(number, edge(number).map_or(after, |edge| before(after, edge)))
                };
                let legs = (0..self.strategy.targets()).map(of).filter(|leg| !leg.interval.is_empty());
                let mut legs: Vec<Leg> = legs.chain(origin).collect();
                if order == Order::NewestFirst {
                    legs.reverse();
                }
                vec![legs]
            }
        };
        ways.retain(|legs| !legs.is_empty());
        if ways.is_empty() {
            ways.push(vec![Leg { place: Place::Origin, interval }]);
        }
        ways
    }
}

fn rows_per_chunk(post: &PostSplit) -> u32 {
    let (rows, chunks) = post
        .partitions
        .iter()
        .fold((0, 0), |(rows, chunks), target| (rows + target.rows, chunks + target.stored_rows));
    u32::try_from(rows / chunks.max(1)).unwrap_or(u32::MAX).max(1)
}

/// The part before a time.
fn before(interval: Interval, time: i64) -> Interval {
    let end = time.clamp(interval.start(), interval.end());
    Interval::new(interval.start(), end).unwrap_or(interval)
}

/// The part from a time on.
fn from(interval: Interval, time: i64) -> Interval {
    let start = time.clamp(interval.start(), interval.end());
    Interval::new(start, interval.end()).unwrap_or(interval)
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn interval(start: i64, end: i64) -> Interval {
        Interval::new(start, end).unwrap()
    }

    fn by_time(covered_until: i64) -> Cover {
        let strategy = Strategy::TimeRange { boundaries: vec![10, 20] };
        Cover { strategy, start_event_bucket: 32, covered_until, layout: CoverLayout::Rows }
    }

    fn shown(ways: Vec<Vec<Leg>>) -> String {
        let leg = |leg: &Leg| {
            let place = match leg.place {
                Place::Origin => "origin".to_owned(),
                Place::Target(bucket) => bucket.to_string(),
            };
            format!("{place}[{},{})", leg.interval.start(), leg.interval.end())
        };
        let way = |legs: &Vec<Leg>| legs.iter().map(leg).collect::<Vec<_>>().join(" ");
        ways.iter().map(way).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_narrow_read_of_ranges_asks_few_and_a_wide_one_asks_them_in_order() {
        let newest = |part| shown(by_time(40).ways(part, Order::NewestFirst));
        let oldest = |part| shown(by_time(40).ways(part, Order::OldestFirst));
        assert_eq!(newest(interval(11, 12)), "33[11,12)");
        assert_eq!(oldest(interval(0, 40)), "32[0,10) 33[10,20) 34[20,40)");
        assert_eq!(newest(interval(5, 25)), "34[20,25) 33[10,20) 32[5,10)");
        assert_eq!(newest(interval(10, 20)), "33[10,20)");
    }

    #[test]
    fn by_hash_every_target_is_asked() {
        let strategy = Strategy::EventBucket { target_event_buckets: 2 };
        let cover = Cover { strategy, start_event_bucket: 16, covered_until: 30, layout: CoverLayout::Rows };
        assert_eq!(shown(cover.ways(interval(5, 9), Order::NewestFirst)), "16[5,9) | 17[5,9)");
        assert_eq!(
            shown(cover.ways(interval(5, 50), Order::OldestFirst)),
            "16[5,30) | 17[5,30) | origin[30,50)"
        );
        assert_eq!(shown(cover.ways(interval(30, 50), Order::OldestFirst)), "origin[30,50)");
    }

    #[test]
    fn what_is_not_covered_comes_from_the_origin() {
        assert_eq!(
            shown(by_time(15).ways(interval(0, 40), Order::NewestFirst)),
            "origin[15,40) 33[10,15) 32[0,10)"
        );
        assert_eq!(shown(by_time(0).ways(interval(3, 4), Order::NewestFirst)), "origin[3,4)");
        assert_eq!(shown(by_time(40).ways(interval(7, 7), Order::NewestFirst)), "origin[7,7)");
    }

    proptest! {
        /// Every row is read in exactly one place: where it was copied to, or the origin.
        #[test]
        fn every_row_is_met_once(
            time in 0_i64..60,
            id in any::<Vec<u8>>(),
            until in 0_i64..60,
            start in 0_i64..30,
            width in 1_i64..30,
            by_hash in any::<bool>(),
            newest in any::<bool>(),
        ) {
            let strategy = if by_hash {
                Strategy::EventBucket { target_event_buckets: 3 }
            } else {
                Strategy::TimeRange { boundaries: vec![10, 20, 21] }
            };
            let target = u32::try_from(strategy.target_of(time, &id, 4)).unwrap();
            let cover = Cover { strategy, start_event_bucket: 16, covered_until: until, layout: CoverLayout::Rows };
            let order = if newest { Order::NewestFirst } else { Order::OldestFirst };
            let (asked, at) = (interval(start, start + width), Timestamp::from_nanos(time).unwrap());
            let home = if time < until { Place::Target(16 + target) } else { Place::Origin };
            let legs: Vec<Leg> = cover.ways(asked, order).into_iter().flatten().collect();
            let met = legs.iter().filter(|leg| leg.place == home && leg.interval.contains(at)).count();
            prop_assert_eq!(met, usize::from(asked.contains(at)));
        }
    }
}
