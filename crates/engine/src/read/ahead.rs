//! How far to read ahead: learned from what groups of a namespace have given, and from those of the read itself. Pure.

/// Groups that are opened ahead at most.
const GROUPS_MAX: usize = 32;
/// Partitions in them: a page of every one is held.
const PARTITIONS_MAX: usize = 256;
/// Bytes in them, as far as that can be known.
const BYTES_MAX: f64 = (4 << 20) as f64;
/// How much of what was learned the newest page is: an eighth.
const NEWEST_SHARE: f64 = 0.125;
/// Groups are not thought emptier than this.
const ROWS_MIN: f64 = 0.01;

/// What a group gives of one series, on the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Density {
    pub(crate) rows: f64,
    pub(crate) bytes: f64,
}

impl Density {
    /// Of groups of one series that gave this together; none without any.
    pub(crate) fn of(groups: usize, rows: usize, bytes: u64) -> Option<Self> {
        let groups = Some(groups as f64).filter(|groups| *groups > 0.0)?;
        Some(Self { rows: rows as f64 / groups, bytes: bytes as f64 / groups })
    }

    /// What is known after a page that found `newest`. Where the page ended inside of a group it has not seen all of it: then it
    /// can only teach that there is more than was known.
    pub(crate) fn after(known: Option<Self>, newest: Self, ended_inside: bool) -> Self {
        let newest = match known {
            Some(old) if ended_inside => {
                Self { rows: newest.rows.max(old.rows), bytes: newest.bytes.max(old.bytes) }
            }
            _ => newest,
        };
        let mix = |old: f64, new: f64| old + (new - old) * NEWEST_SHARE;
        known.map_or(newest, |old| Self {
            rows: mix(old.rows, newest.rows),
            bytes: mix(old.bytes, newest.bytes),
        })
    }
}

/// The read-ahead of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAhead {
    /// What pages before have taught, as much as one group.
    learned: Option<Density>,
    groups: f64,
    rows: f64,
    bytes: f64,
    partitions_per_group: usize,
}

impl ReadAhead {
    /// For a read of so many series whose groups have so many partitions each.
    pub(super) fn new(learned: Option<Density>, series: usize, partitions_per_series: usize) -> Self {
        let of_all = |one: f64| one * series as f64;
        let learned = learned.map(|one| Density { rows: of_all(one.rows), bytes: of_all(one.bytes) });
        let partitions_per_group = series * partitions_per_series;
        Self { learned, groups: 0.0, rows: 0.0, bytes: 0.0, partitions_per_group }
    }

    /// One more group was read.
    pub(super) fn saw(&mut self, rows: usize, bytes: u64) {
        self.groups += 1.0;
        self.rows += rows as f64;
        self.bytes += bytes as f64;
    }

    /// Groups to open ahead of the next one, where so many rows are still wanted. Nothing is known at the beginning: most reads are
    /// answered by their first group.
    pub(super) fn groups(&self, rows_wanted: usize) -> usize {
        let Some(expected) = self.expected() else { return 0 };
        let needed = (rows_wanted as f64 / expected.rows.max(ROWS_MIN)).ceil() - 1.0;
        let affordable = BYTES_MAX / expected.bytes.max(1.0);
        let few = (PARTITIONS_MAX / self.partitions_per_group.max(1)).clamp(1, GROUPS_MAX);
        let groups = needed.min(affordable.max(1.0)).clamp(0.0, few as f64);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was just clamped to a small range"
        )]
        let few_groups = groups as usize;
        few_groups
    }

    fn expected(&self) -> Option<Density> {
        let seen = |learned: f64, seen: f64| (learned + seen) / (1.0 + self.groups);
        match self.learned {
            Some(learned) => {
                Some(Density { rows: seen(learned.rows, self.rows), bytes: seen(learned.bytes, self.bytes) })
            }
            None if self.groups > 0.0 => {
                Some(Density { rows: self.rows / self.groups, bytes: self.bytes / self.groups })
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense() -> Density {
        Density { rows: 10_000.0, bytes: 2e6 }
    }

    fn sparse() -> Density {
        Density { rows: 2.0, bytes: 400.0 }
    }

    #[test]
    fn a_dense_series_is_not_read_ahead_and_a_sparse_one_is() {
        assert_eq!(ReadAhead::new(Some(dense()), 1, 4).groups(100), 0);
        assert_eq!(ReadAhead::new(Some(sparse()), 1, 4).groups(100), 32);
        assert_eq!(ReadAhead::new(Some(sparse()), 1, 4).groups(6), 2);
        assert_eq!(ReadAhead::new(Some(sparse()), 3, 4).groups(6), 0);
    }

    #[test]
    fn without_knowledge_the_first_group_goes_alone_and_empty_ones_open_the_way() {
        let mut ahead = ReadAhead::new(None, 1, 4);
        assert_eq!(ahead.groups(100), 0);
        ahead.saw(0, 0);
        assert_eq!(ahead.groups(100), 32);
        ahead.saw(1_000, 100_000);
        assert_eq!(ahead.groups(100), 0);
    }

    #[test]
    fn a_sparse_series_of_a_dense_namespace_is_found_out_as_it_is_read() {
        let mut ahead = ReadAhead::new(Some(dense()), 1, 1);
        let mut depths = Vec::new();
        for _ in 0..1_000 {
            ahead.saw(0, 0);
            depths.push(ahead.groups(1_000));
        }
        assert!(depths.is_sorted(), "{depths:?}");
        assert_eq!((depths.first(), depths.last()), (Some(&0), Some(&32)));
    }

    #[test]
    fn what_is_opened_ahead_is_limited_in_partitions_and_bytes() {
        assert_eq!(ReadAhead::new(Some(sparse()), 1, 64).groups(10_000), 4);
        assert_eq!(ReadAhead::new(Some(sparse()), 100, 5).groups(10_000), 1);
        assert_eq!(ReadAhead::new(Some(dense()), 1, 1).groups(1_000_000), 2);
        let huge = Density { rows: 10.0, bytes: 1e9 };
        assert_eq!(ReadAhead::new(Some(huge), 1, 1).groups(1_000_000), 1);
    }

    #[test]
    fn what_is_known_moves_towards_what_was_seen() {
        assert_eq!(Density::of(0, 0, 0), None);
        let once = Density::after(None, dense(), true);
        assert_eq!(once, dense());
        let mut known = once;
        for _ in 0..100 {
            known = Density::after(Some(known), sparse(), false);
        }
        assert!((known.rows - sparse().rows).abs() < 1.0, "{known:?}");
        assert_eq!(Density::after(Some(dense()), sparse(), true), dense(), "half a group says nothing");
        assert!(Density::after(Some(sparse()), dense(), true).rows > 1_000.0);
    }
}
