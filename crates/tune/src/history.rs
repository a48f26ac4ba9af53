//! How often a namespace was changed back and forth, and how patient that makes.

use model::ShapeSpec;

use crate::evidence::EVIDENCE_SLICES;

/// Which way a change went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More and smaller partitions: done eagerly, wide ones hurt most.
    More,
    /// Fewer and larger ones: done lazily.
    Fewer,
}

impl Direction {
    /// Its name, as people and programs see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Fewer => "fewer",
        }
    }
}

/// From `from` on, slices have another shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where the first such slice starts, nanoseconds since 1970.
    pub from: i64,
    /// The shape.
    pub shape: ShapeSpec,
}

/// Which way it is from one shape to another; none where as many partitions come to a stretch of time.
pub fn direction(from: ShapeSpec, to: ShapeSpec) -> Option<Direction> {
    let density = |a: ShapeSpec, b: ShapeSpec| u64::from(a.buckets_per_id) * u64::from(b.seconds_per_bucket);
    match density(from, to).cmp(&density(to, from)) {
        std::cmp::Ordering::Less => Some(Direction::More),
        std::cmp::Ordering::Greater => Some(Direction::Fewer),
        std::cmp::Ordering::Equal => None,
    }
}

/// Slices after which a change back is no longer held against a namespace.
const REMEMBERED_SLICES: i64 = 400;
/// Patience is doubled so often at most: 192 slices. That is more than are kept, so then nothing is widened until a change back is
/// forgotten.
const DOUBLINGS_MAX: u32 = 6;

/// So many slices in a row have to say that there are too many partitions before there are fewer: three, and twice as many for
/// every time that fewer were taken back not long ago. So a load that swings as if to provoke changes gets ever fewer of them.
pub(crate) fn patience(changes: &[Change], now: i64, seconds_per_slice: u32) -> usize {
    let width = i64::from(seconds_per_slice).saturating_mul(model::time::NANOS_PER_SECOND);
    let oldest = now.saturating_sub(width.saturating_mul(REMEMBERED_SLICES));
    let steps: Vec<(i64, Direction)> = changes
        .windows(2)
        .filter_map(|pair| match pair {
            [before, after] => Some((after.from, direction(before.shape, after.shape)?)),
            _ => None,
        })
        .collect();
    let is_back = |pair: &&[(i64, Direction)]| match pair {
        [(_, Direction::Fewer), (from, Direction::More)] => *from >= oldest,
        _ => false,
    };
    let backs = steps.windows(2).filter(is_back).count();
    EVIDENCE_SLICES << u32::try_from(backs).unwrap_or(u32::MAX).min(DOUBLINGS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000_000;

    fn shape(seconds_per_bucket: u32, buckets_per_id: u16) -> ShapeSpec {
        ShapeSpec { seconds_per_slice: 86_400, seconds_per_bucket, buckets_per_id }
    }

    #[test]
    fn a_direction_is_that_of_the_number_of_partitions() {
        assert_eq!(direction(shape(60, 1), shape(3_600, 1)), Some(Direction::Fewer));
        assert_eq!(direction(shape(3_600, 4), shape(3_600, 8)), Some(Direction::More));
        assert_eq!(direction(shape(3_600, 4), shape(1_800, 2)), None);
    }

    #[test]
    fn patience_doubles_with_every_change_back_and_recovers() {
        let widths =
            [3_600, 7_200, 3_600, 7_200, 3_600, 7_200, 3_600, 7_200, 3_600, 7_200, 3_600, 7_200, 3_600];
        let changes: Vec<Change> = (0_i64..)
            .zip(widths)
            .map(|(at, width)| Change { from: at * 10 * DAY, shape: shape(width, 4) })
            .collect();
        let now = 120 * DAY;
        let of = |count: usize| patience(&changes[..count], now, 86_400);
        assert_eq!([of(1), of(2), of(3), of(5), of(7), of(9), of(13)], [3, 3, 6, 12, 24, 48, 192]);
        assert_eq!(patience(&changes, now + 401 * DAY, 86_400), 3);
    }
}
