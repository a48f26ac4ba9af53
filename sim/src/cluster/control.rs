//! What a tormentor can do to the cluster. Nothing here fails: what makes no sense is ignored, and says so.

use std::time::Duration;

use model::{PartitionKey, TableRef};
use store::ScanPage;

use super::state::State;
use super::timeline::Message;
use super::{Cluster, Faults, held};

/// Within this everything arrives that is on its way when the cluster calms down.
const SOON: Duration = Duration::from_secs(1);

impl Cluster {
    /// How many replicas there are.
    pub fn replicas(&self) -> usize {
        self.with(|state, _| state.replicas.len())
    }

    /// Takes a replica down or brings it back. Down, it takes nothing and answers nothing, and keeps what it has; what
    /// arrives meanwhile becomes a hint. Says whether that changed anything.
    pub fn set_up(&self, replica: usize, up: bool) -> bool {
        self.with(|state, now| {
            let changed = state.set_up(now, replica, up);
            state
                .trace
                .record(now, format_args!("cluster: replica {replica} is up: {up}, changed: {changed}"));
            changed
        })
    }

    /// Makes everything to and from a replica take so many times longer; 1 is as usual. Says whether it exists.
    pub fn set_slowness(&self, replica: usize, times: u32) -> bool {
        self.with(|state, now| {
            state.trace.record(now, format_args!("cluster: replica {replica} is {times} times slower"));
            let Some(slow) = state.replicas.get_mut(replica) else {
                return false;
            };
            slow.slowness = times.max(1);
            true
        })
    }

    /// Makes every message take so many hundredths of the usual time; 100 is as usual.
    pub fn set_lag_percent(&self, percent: u32) {
        self.with(|state, now| {
            state.trace.record(now, format_args!("cluster: lag is {percent} percent"));
            state.lag_percent = percent;
        });
    }

    /// Begins or ends an outage of what has to be agreed on: records and tables. Rows are not touched by it.
    pub fn meta_outage(&self, on: bool) {
        self.with(|state, now| {
            state.trace.record(now, format_args!("cluster: metadata outage: {on}"));
            state.meta_outage = on;
        });
    }

    /// From now on other faults.
    pub fn set_faults(&self, faults: Faults) {
        self.with(|state, now| {
            state.trace.record(now, format_args!("cluster: other faults"));
            state.faults = faults;
        });
    }

    /// Ends every fault: all replicas run at their usual speed, nothing is lost any more, and whatever is on its way,
    /// hints and late changes too, arrives within a second.
    pub fn calm(&self) {
        self.with(|state, now| {
            state.trace.record(now, format_args!("cluster: calm"));
            state.calm(now);
        });
    }

    /// How much is on its way or waits for a replica to come back. Zero: what is read now stays so.
    pub fn in_flight(&self) -> usize {
        self.with(|state, _| {
            let hints: usize = state.replicas.iter().map(|replica| replica.hints.len()).sum();
            state.timeline.len() + hints
        })
    }

    /// The tables that there are, without asking anybody.
    pub fn tables(&self) -> Vec<TableRef> {
        self.with(|state, _| state.tables.keys().cloned().collect())
    }

    /// What one replica has of a partition, whether it is up or not; none where there is no such replica or table.
    pub fn replica_rows(
        &self,
        replica: usize,
        table: &TableRef,
        partition: &PartitionKey,
    ) -> Option<ScanPage> {
        self.with(|state, _| state.replicas.get(replica)?.held.scan(&held::everything(table, partition)).ok())
    }
}

impl State {
    fn set_up(&mut self, now: Duration, replica: usize, up: bool) -> bool {
        let Some(place) = self.replicas.get_mut(replica) else {
            return false;
        };
        let changed = place.up != up;
        place.up = up;
        if up {
            for write in std::mem::take(&mut place.hints) {
                let at = now + self.dice.up_to(self.faults.hint_most);
                self.timeline.send(at, Message::Rows { replica, write });
            }
        }
        changed
    }

    fn calm(&mut self, now: Duration) {
        self.faults = Faults::none();
        self.lag_percent = 100;
        self.meta_outage = false;
        self.troubles.clear();
        for replica in 0..self.replicas.len() {
            self.set_up(now, replica, true);
        }
        self.replicas.iter_mut().for_each(|replica| replica.slowness = 1);
        let dice = &self.dice;
        self.timeline.hasten(now + SOON, || now + dice.up_to(SOON));
    }
}
