//! Reads of rows: from as many replicas as the call needs, by chance, at one moment between the call and its answer.

use std::ops::Bound;
use std::time::Duration;

use model::{Rows, TableRef};
use store::{
    Consistency, Effort, Enumerate, Error, Histogram, HistogramSource, PartitionPage, Result, Scan, ScanPage,
};

use super::handle::unavailable;
use super::held::Held;
use super::state::State;
use super::{Cluster, replica};

/// Whom a read asks, and when.
struct Asked {
    replicas: Vec<usize>,
    /// When they look.
    moment: Duration,
    /// How long the answer takes.
    answer: Duration,
}

impl Cluster {
    pub(super) async fn scan_rows(&self, scan: Scan) -> Result<ScanPage> {
        scan.check()?;
        if self.with(|state, _| state.dice.chance(state.faults.read_in_steps)) {
            self.scan_in_steps(&scan).await
        } else {
            self.scan_at_once(&scan).await
        }
    }

    async fn scan_at_once(&self, scan: &Scan) -> Result<ScanPage> {
        let read = |asked: &[Held]| replica::scan(asked, scan);
        self.look("scan", &scan.table, scan.consistency, read).await
    }

    /// The first rows at one moment and the rest at a later one, from other replicas perhaps.
    async fn scan_in_steps(&self, scan: &Scan) -> Result<ScanPage> {
        let half = Scan { rows_max: scan.rows_max.div_ceil(2), ..scan.clone() };
        let first = self.scan_at_once(&half).await?;
        let rest_rows = scan.rows_max.saturating_sub(first.rows.len());
        let rest_bytes = scan.bytes_max.saturating_sub(first.bytes);
        let Some(last) = first.rows.last() else {
            return Ok(first);
        };
        if !first.more || rest_rows == 0 || rest_bytes == 0 {
            return Ok(first);
        }
        let from = Bound::Excluded(last.key);
        let rest = Scan { from, rows_max: rest_rows, bytes_max: rest_bytes, ..scan.clone() };
        let second = self.scan_at_once(&rest).await?;
        let rows: Rows = first.rows.to_vec().iter().chain(&second.rows.to_vec()).collect();
        Ok(ScanPage { rows, bytes: first.bytes + second.bytes, more: second.more })
    }

    pub(super) async fn list_partitions(&self, request: Enumerate) -> Result<PartitionPage> {
        request.check()?;
        let read = |asked: &[Held]| replica::enumerate(asked, &request);
        self.look("enumerate", &request.table, request.consistency, read).await
    }

    pub(super) async fn measure(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        match effort {
            Effort::Measure => {
                let read = |asked: &[Held]| replica::measure(asked, table);
                self.look("histogram", table, Consistency::LocalQuorum, read).await
            }
            // One replica says what it has; nobody says that this is all.
            Effort::Cheap => {
                let read = |asked: &[Held]| replica::measure(asked, table);
                let found = self.look("histogram", table, Consistency::LocalOne, read).await?;
                Ok(Histogram::estimated(found.sizes, HistogramSource::Cql))
            }
        }
    }

    /// Reads from the replicas of a call: asks, waits, reads at one moment, waits for the answer.
    async fn look<T>(
        &self,
        what: &str,
        table: &TableRef,
        consistency: Consistency,
        read: impl FnOnce(&[Held]) -> Result<T>,
    ) -> Result<T> {
        let needed = self.with(|state, _| state.needed(consistency));
        let asked = match self.with(|state, now| state.ask(now, needed)) {
            Ok(asked) => asked,
            Err(at) => {
                self.sleep_until(at).await;
                return Err(unavailable(what));
            }
        };
        self.sleep_until(asked.moment).await;
        let found = self.with(|state, _| {
            if !state.finds(table) {
                return Err(Error::no_table(table));
            }
            let answering = state.answering(asked.replicas, needed).ok_or_else(|| unavailable(what))?;
            read(&answering)
        });
        self.sleep_until(self.now() + asked.answer).await;
        found
    }
}

impl State {
    /// Chooses the replicas of a read. An error says when the caller hears that there is none.
    fn ask(&self, now: Duration, needed: usize) -> std::result::Result<Asked, Duration> {
        let up = self.up();
        let enough = up.len() >= needed && !self.dice.chance(self.faults.refuse_read);
        let replicas = self.dice.some(up, needed);
        let there = self.lag_of_most(&replicas, needed);
        let back = self.lag_of_most(&replicas, needed);
        if !enough {
            return Err(now + back);
        }
        if there + back > self.options.timeout {
            return Err(now + self.options.timeout);
        }
        Ok(Asked { replicas, moment: now + there, answer: back })
    }

    /// What the replicas hold that were asked, or of others where one of them is down by now.
    fn answering(&self, asked: Vec<usize>, needed: usize) -> Option<Vec<Held>> {
        let up = self.up();
        let chosen =
            if asked.iter().all(|replica| up.contains(replica)) { asked } else { self.dice.some(up, needed) };
        let held = chosen.iter().filter_map(|at| self.replicas.get(*at)).map(|replica| replica.held.clone());
        let held: Vec<Held> = held.collect();
        (held.len() >= needed).then_some(held)
    }
}
