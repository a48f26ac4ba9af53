//! What the cluster holds, and how what was sent takes effect. Nothing here waits.
//!
//! Invariant: before anybody looks, everything that has arrived by then has taken effect, in the order of arrival.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::TableRef;
use store::{CasOutcome, Consistency, MemoryStore, MetaKey, Result, Store, TableOutcome};

use super::dice::Dice;
use super::held::{Held, at_once};
use super::inspect::Watched;
use super::replica::Replica;
use super::timeline::{Cas, Message, TableChange, Timeline, Write};
use super::trouble::Troubles;
use super::{Faults, Options};
use crate::Trace;

/// A late compare-and-set that is neither done nor given up at a read is, half of the time, done.
const HALF: u16 = 500;

pub(super) struct State {
    pub(super) options: Options,
    pub(super) faults: Faults,
    /// How long messages take, in hundredths of what the options say.
    pub(super) lag_percent: u32,
    pub(super) meta_outage: bool,
    pub(super) replicas: Vec<Replica>,
    /// Metadata records, agreed on.
    pub(super) records: MemoryStore,
    /// The tables, each with the number of its making.
    pub(super) tables: BTreeMap<TableRef, u64>,
    pub(super) timeline: Timeline,
    pub(super) dice: Dice,
    pub(super) trace: Trace,
    pub(super) watched: Watched,
    pub(super) troubles: Troubles,
    /// How many writes and tables there were.
    made: u64,
}

impl State {
    pub(super) fn new(options: Options, dice: Dice, trace: Trace) -> Self {
        let replicas = (0..options.replicas.max(1)).map(|_| Replica::new()).collect();
        Self {
            faults: options.faults,
            options,
            lag_percent: 100,
            meta_outage: false,
            replicas,
            records: MemoryStore::new(),
            tables: BTreeMap::new(),
            timeline: Timeline::default(),
            dice,
            trace,
            watched: Watched::default(),
            troubles: Troubles::default(),
            made: 0,
        }
    }

    /// A number that nothing else has.
    pub(super) fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Most of all replicas.
    pub(super) fn quorum(&self) -> usize {
        self.replicas.len() / 2 + 1
    }

    /// How many replicas a call needs.
    pub(super) fn needed(&self, consistency: Consistency) -> usize {
        match consistency.max(self.options.consistency_least) {
            Consistency::LocalOne => 1,
            Consistency::LocalQuorum | Consistency::EachQuorum => self.quorum(),
        }
    }

    /// The replicas that run.
    pub(super) fn up(&self) -> Vec<usize> {
        let up = self.replicas.iter().enumerate().filter(|(_, replica)| replica.up);
        up.map(|(at, _)| at).collect()
    }

    /// Whether records and tables can be read and changed now.
    pub(super) fn decides(&self) -> bool {
        !self.meta_outage && self.up().len() >= self.quorum()
    }

    /// How long a message to or from `replica` takes.
    pub(super) fn lag_of(&self, replica: usize) -> Duration {
        let slowness = self.replicas.get(replica).map_or(1, |replica| replica.slowness);
        let lag = self.dice.lag(self.options.lag).saturating_mul(slowness);
        lag.saturating_mul(self.lag_percent) / 100
    }

    /// How long it takes until the `needed` fastest of `replicas` have a message.
    pub(super) fn lag_of_most(&self, replicas: &[usize], needed: usize) -> Duration {
        let mut lags: Vec<Duration> = replicas.iter().map(|replica| self.lag_of(*replica)).collect();
        lags.sort_unstable();
        lags.get(needed.saturating_sub(1)).or_else(|| lags.last()).copied().unwrap_or_default()
    }

    /// Lets everything take effect that has arrived by `now`.
    pub(super) fn advance(&mut self, now: Duration) {
        while let Some((at, message)) = self.timeline.arrived(now) {
            match message {
                Message::Rows { replica, write } => self.land(at, replica, write),
                Message::Cas(cas) => {
                    self.settle(at, |key| *key == cas.key);
                    self.decide_cas(at, &cas);
                }
                Message::Table { table, change, verdict } => {
                    let outcome = self.decides().then(|| self.change_table(&table, &change));
                    self.trace.record(at, format_args!("cluster: table {table} {outcome:?}"));
                    // A message is taken once, so its verdict is empty.
                    let _empty = verdict.set(outcome);
                }
            }
        }
    }

    /// Late changes of the records that are about to be read or changed: each is done, given up, or stays late.
    pub(super) fn settle(&mut self, now: Duration, touched: impl Fn(&MetaKey) -> bool) {
        for (at, cas) in self.timeline.take_late_cas(touched) {
            if self.dice.chance(self.faults.cas_outlives_read) {
                self.timeline.send(at, Message::Cas(cas));
            } else if self.dice.chance(HALF) {
                self.decide_cas(now, &cas);
            }
        }
    }

    /// A change of rows arrives: it takes effect, or becomes a hint where the replica is down.
    fn land(&mut self, at: Duration, replica: usize, write: Arc<Write>) {
        if self.tables.get(write.change.table()) != Some(&write.generation) {
            return;
        }
        let quorum = self.quorum();
        let Some(place) = self.replicas.get_mut(replica) else {
            return;
        };
        let number = write.number;
        if !place.up {
            let spare = write.landed() >= quorum;
            if spare && self.dice.chance(self.faults.lose_hint) {
                self.trace.record(at, format_args!("cluster: replica {replica} never gets write {number}"));
            } else {
                place.hints.push(write);
            }
            return;
        }
        if place.held.take(&write.change).is_ok() {
            write.land();
            self.trace.record(at, format_args!("cluster: replica {replica} has write {number}"));
        }
    }

    fn decide_cas(&mut self, at: Duration, cas: &Cas) {
        let outcome = self
            .decides()
            .then(|| at_once(self.records.meta_cas(&cas.key, cas.expected, cas.change.clone())).ok());
        let outcome: Option<CasOutcome> = outcome.flatten();
        let applied = matches!(outcome, Some(CasOutcome::Applied(_)));
        if applied {
            self.watched.saw(&cas.key, &cas.change);
        }
        self.trace.record(at, format_args!("cluster: cas decided, applied: {applied}, late: {}", cas.late));
        // A message is taken once, so its verdict is empty.
        let _empty = cas.verdict.set(outcome);
    }

    fn change_table(&mut self, table: &TableRef, change: &TableChange) -> TableOutcome {
        match (change, self.tables.get(table).copied()) {
            (TableChange::Make(_), Some(_)) | (TableChange::Drop(_), None) => TableOutcome::Already,
            (TableChange::Drop(Some(only)), Some(generation)) if *only != generation => TableOutcome::Already,
            (TableChange::Make(storage), None) => {
                let generation = self.number();
                self.tables.insert(table.clone(), generation);
                self.on_replicas(|held| held.make_table(table, storage));
                TableOutcome::Done
            }
            (TableChange::Drop(_), Some(_)) => {
                self.tables.remove(table);
                self.on_replicas(|held| held.drop_table(table));
                TableOutcome::Done
            }
        }
    }

    fn on_replicas(&self, change: impl Fn(&Held) -> Result<TableOutcome>) {
        for replica in &self.replicas {
            // A store in memory has no way to fail at this.
            let _always = change(&replica.held);
        }
    }
}
