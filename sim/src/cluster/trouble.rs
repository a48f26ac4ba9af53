//! Tables that cannot be read for a while, though they are there: whoever is asked does not know them. Their rows stay as they
//! are, and what is written to them arrives.

use std::collections::BTreeMap;

use model::TableRef;

use super::Cluster;
use super::state::State;

/// A trouble that no scan gets through.
pub const EVERY_SCAN: u16 = 1_000;

/// So many of a thousand scans of each table find no table.
pub(super) type Troubles = BTreeMap<TableRef, u16>;

impl Cluster {
    /// From now on so many of a thousand scans of a table find no table; none do with zero.
    pub fn set_trouble(&self, table: &TableRef, per_thousand: u16) {
        self.with(|state, now| {
            state
                .trace
                .record(now, format_args!("cluster: {per_thousand} of 1000 scans do not find {table}"));
            if per_thousand == 0 {
                state.troubles.remove(table);
            } else {
                state.troubles.insert(table.clone(), per_thousand);
            }
        });
    }
}

impl State {
    /// Whether a scan of this table finds it.
    pub(super) fn finds(&self, table: &TableRef) -> bool {
        let trouble = self.troubles.get(table).copied().unwrap_or(0);
        self.tables.contains_key(table) && !self.dice.chance(trouble)
    }
}
