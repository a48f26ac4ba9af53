//! The histogram that a node keeps of its files: an array of counts whose edges are fixed. Pure.
//!
//! Cassandra's `EstimatedHistogram`: bucket `i` counts sizes above edge `i - 1` up to edge `i`, each edge a fifth above
//! the one before; the last number counts what is larger than the last edge. Percentiles, smallest and largest are computed
//! as `nodetool tablehistograms` does, so that both show the same.

use model::{SizeHistogram, SizeSummary};

/// Numbers that an array may have; Cassandra 5.0 has 156.
const COUNTS_MAX: usize = 256;

/// The counts of one node, or of several added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Buckets {
    counts: Vec<u64>,
    /// Partitions above the last edge.
    beyond: u64,
}

impl Buckets {
    /// Reads an array as a node gives it; none if that is longer than any node's. It is empty where there is no file.
    pub(super) fn of(raw: &[u64]) -> Option<Self> {
        if raw.len() > COUNTS_MAX {
            return None;
        }
        let Some((beyond, counts)) = raw.split_last() else {
            return Some(Self::default());
        };
        Some(Self { counts: counts.to_vec(), beyond: *beyond })
    }

    /// Adds those of another node. A release with fewer buckets has the same edges, only not the last ones.
    pub(super) fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (slot, more) in self.counts.iter_mut().zip(&other.counts) {
            *slot = slot.saturating_add(*more);
        }
        self.beyond = self.beyond.saturating_add(other.beyond);
    }

    /// The sizes as nodetool would show them. What lies beyond the last edge counts as if it lay there: nodetool shows
    /// no percentiles then.
    pub(super) fn summary(&self) -> SizeSummary {
        let partitions = self.filled().map(|(_, _, count)| count).fold(0, u64::saturating_add);
        SizeSummary {
            p50: self.percentile(partitions, 0.5),
            p75: self.percentile(partitions, 0.75),
            p95: self.percentile(partitions, 0.95),
            p98: self.percentile(partitions, 0.98),
            p99: self.percentile(partitions, 0.99),
            min: self.filled().next().map_or(0, |(above, _, _)| if above == 0 { 0 } else { above + 1 }),
            max: self.filled().last().map_or(0, |(_, upto, _)| upto),
            partitions,
        }
    }

    /// The same sizes in our own buckets, each partition as large as its edge allows.
    pub(super) fn sizes(&self) -> SizeHistogram {
        let mut sizes = SizeHistogram::default();
        self.filled().for_each(|(_, upto, count)| sizes.record_many(upto, count));
        sizes
    }

    /// In floating point, as Cassandra rounds the rank: a whole number would sometimes be one bucket off.
    fn percentile(&self, partitions: u64, share: f64) -> u64 {
        let rank = (partitions as f64 * share).ceil();
        let mut seen = 0_u64;
        for (_, upto, count) in self.filled() {
            seen = seen.saturating_add(count);
            if seen as f64 >= rank {
                return upto;
            }
        }
        0
    }

    /// Buckets with partitions: the edge below, the edge above, how many.
    fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let below = std::iter::once(0).chain(edges());
        let last = edges().nth(self.counts.len().saturating_sub(1)).unwrap_or(0);
        let inside = below.zip(edges()).zip(&self.counts).map(|((above, upto), count)| (above, upto, *count));
        inside.chain(std::iter::once((last, last, self.beyond))).filter(|(_, _, count)| *count > 0)
    }
}

/// The edges, without end.
fn edges() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_u64), |edge| {
        let next = u64::try_from((u128::from(*edge) * 12 + 5) / 10).ok()?;
        Some(next.max(edge + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of 5.0 with these counts at these places.
    fn raw(filled: &[(usize, u64)]) -> Vec<u64> {
        let mut raw = vec![0; 156];
        filled.iter().for_each(|(at, count)| raw[*at] = *count);
        raw
    }

    #[test]
    fn edges_are_those_of_cassandra() {
        let edges: Vec<u64> = edges().take(155).collect();
        assert_eq!(edges[..12], [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17]);
        assert_eq!([75, 84, 98, 106].map(|at| edges[at]), [1_955_666, 10_090_808, 129_557_750, 557_074_610]);
        assert_eq!(edges[154], 3_520_571_548_412);
    }

    #[test]
    fn a_summary_is_what_nodetool_shows() {
        // 601 partitions of one compacted file, and nodetool's own lines for them.
        let buckets = Buckets::of(&raw(&[(20, 15), (38, 300), (60, 280), (75, 5), (98, 1)])).unwrap();
        let edge = |at| edges().nth(at).unwrap();
        let expect = SizeSummary {
            p50: edge(38),
            p75: edge(60),
            p95: edge(60),
            p98: edge(60),
            p99: edge(60),
            min: edge(19) + 1,
            max: 129_557_750,
            partitions: 601,
        };
        assert_eq!(buckets.summary(), expect);
        let sizes = buckets.sizes();
        assert_eq!((sizes.count(), sizes.max()), (601, 129_557_750));
    }

    #[test]
    fn nothing_is_all_zero() {
        for nothing in [&[][..], &[0], &raw(&[])] {
            assert_eq!(Buckets::of(nothing).unwrap().summary(), SizeSummary::default());
        }
        assert_eq!(Buckets::of(&[0; COUNTS_MAX + 1]), None);
    }

    #[test]
    fn nodes_of_two_releases_add_up() {
        let mut old = vec![0; 151];
        old[149] = 2;
        old[150] = 1;
        let mut both = Buckets::of(&old).unwrap();
        both.add(&Buckets::of(&raw(&[(154, 3)])).unwrap());
        let mut other = Buckets::of(&raw(&[(154, 3)])).unwrap();
        other.add(&Buckets::of(&old).unwrap());
        assert_eq!(both, other);
        let summary = both.summary();
        assert_eq!((summary.partitions, summary.max), (6, 3_520_571_548_412));
        assert_eq!(summary.min, edges().nth(148).unwrap() + 1);
    }

    #[test]
    fn the_smallest_bucket_starts_at_nothing() {
        let summary = Buckets::of(&raw(&[(0, 1), (1, 1)])).unwrap().summary();
        assert_eq!((summary.min, summary.p50, summary.max), (0, 1, 2));
    }
}
