//! Which memtables to write to disk: idle ones, then the coldest until the rest fits the budget.
//!
//! The engine bounds each memtable, not their sum: with hundreds of slices that take a few late events each, their
//! memory and the journal that they pin would grow without limit. Pure: numbers in, choice out.

use std::time::Duration;

/// One active memtable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memtable {
    /// What it holds.
    pub(crate) bytes: u64,
    /// Time since its table was last written.
    pub(crate) idle: Duration,
}

/// Indexes of the memtables to write to disk now.
pub(crate) fn to_flush(memtables: &[Memtable], budget_bytes: u64, idle_after: Duration) -> Vec<usize> {
    let mut filled: Vec<(usize, Memtable)> =
        memtables.iter().copied().enumerate().filter(|(_, memtable)| memtable.bytes > 0).collect();
    // Coldest first; of equally cold ones the larger, which frees more.
    filled.sort_by_key(|(_, memtable)| std::cmp::Reverse((memtable.idle, memtable.bytes)));
    let mut left: u64 = filled.iter().map(|(_, memtable)| memtable.bytes).sum();
    let mut chosen = Vec::new();
    for (index, memtable) in filled {
        if memtable.idle < idle_after && left <= budget_bytes {
            break;
        }
        left -= memtable.bytes;
        chosen.push(index);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(memtables: &[(u64, u64)], budget: u64, expect: &[usize]) {
        let memtables: Vec<Memtable> = memtables
            .iter()
            .map(|(bytes, idle)| Memtable { bytes: *bytes, idle: Duration::from_secs(*idle) })
            .collect();
        assert_eq!(to_flush(&memtables, budget, Duration::from_secs(30)), expect);
    }

    #[test]
    fn within_the_budget_only_idle_ones_go() {
        check(&[(10, 1), (10, 31), (0, 99), (5, 30)], 100, &[1, 3]);
        check(&[], 100, &[]);
        check(&[(100, 0)], 100, &[]);
    }

    #[test]
    fn over_the_budget_the_coldest_go_until_it_fits() {
        check(&[(40, 0), (40, 5), (40, 9)], 100, &[2]);
        check(&[(40, 0), (40, 5), (40, 9)], 50, &[2, 1]);
        check(&[(40, 5), (60, 5)], 70, &[1]);
        check(&[(400, 0)], 100, &[0]);
    }
}
