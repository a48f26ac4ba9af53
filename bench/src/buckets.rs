//! A histogram as `/metrics` shows it. Pure.

use anyhow::{Context, Result};

/// How many observations took no longer than each edge, the edges rising.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Buckets {
    edges: Vec<(f64, u64)>,
}

impl Buckets {
    /// The histogram of this name; it has no labels but its edges.
    pub(crate) fn parse(metrics: &str, name: &str) -> Self {
        let start = format!("{name}_bucket{{le=\"");
        let edge = |line: &str| -> Option<(f64, u64)> {
            let (edge, count) = line.strip_prefix(&start)?.split_once("\"} ")?;
            let edge = if edge == "+Inf" { f64::INFINITY } else { edge.parse().ok()? };
            Some((edge, count.parse().ok()?))
        };
        let mut edges: Vec<(f64, u64)> = metrics.lines().filter_map(edge).collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { edges }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.edges.last().map_or(0, |(_, count)| *count)
    }

    /// What came since an earlier look.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let had =
            |edge: f64| before.edges.iter().find(|(other, _)| *other == edge).map_or(0, |(_, count)| *count);
        Self { edges: self.edges.iter().map(|(edge, count)| (*edge, count - had(*edge))).collect() }
    }

    /// The edge within which this share of them lies.
    pub(crate) fn within(&self, share: f64) -> Result<f64> {
        let wanted = self.count() as f64 * share;
        let found = self.edges.iter().find(|(_, count)| *count > 0 && *count as f64 >= wanted);
        Ok(found.context("nothing was observed")?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_lie_within_edges_and_earlier_ones_do_not_count() {
        let text = |counts: [u64; 3]| {
            let [low, high, all] = counts;
            format!(
                "took_bucket{{le=\"0.1\"}} {low}\nother_bucket{{le=\"0.1\"}} 7\n\
                 took_bucket{{le=\"+Inf\"}} {all}\ntook_bucket{{le=\"0.2\"}} {high}\ntook_sum 4.0\n"
            )
        };
        let before = Buckets::parse(&text([100, 100, 100]), "took");
        let now = Buckets::parse(&text([150, 199, 200]), "took");
        let since = now.since(&before);
        assert_eq!((now.count(), since.count()), (200, 100));
        assert_eq!((since.within(0.5).unwrap(), since.within(0.51).unwrap()), (0.1, 0.2));
        assert_eq!(since.within(1.0).unwrap(), f64::INFINITY);
        assert!(Buckets::default().within(0.5).is_err());
    }
}
