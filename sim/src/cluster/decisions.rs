//! What has to be agreed on: metadata records and tables. A change has one moment, a read one moment; both need most
//! replicas and no outage then.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use model::TableRef;
use store::{
    CasOutcome, MetaChange, MetaKey, MetaPage, MetaRecord, MetaVersion, Result, Storage, Store, TableOutcome,
    check_meta_key, check_meta_range, check_meta_value,
};

use super::dice::Fate;
use super::handle::{unavailable, unknown};
use super::held::at_once;
use super::state::State;
use super::timeline::{Cas, Message, TableChange, Verdict};
use super::{Chances, Cluster, Faults};

/// What became of a change when it was sent.
enum Sent {
    /// Nothing was sent; the caller hears so then.
    Not(Duration),
    /// The caller hears then that nobody knows.
    Unheard(Duration),
    /// It is decided at the first time, and the caller hears it so much later.
    Decided(Duration, Duration),
}

impl Cluster {
    pub(super) async fn cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        check_meta_key(key)?;
        if let MetaChange::Put(value) = &change {
            check_meta_value(value)?;
        }
        let message = |_: &State, verdict, late| {
            Some(Message::Cas(Cas { key: key.clone(), expected, change, late, verdict }))
        };
        self.decide("meta_cas", |faults| faults.records, message).await
    }

    pub(super) async fn make_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        let (table, change) = (table.clone(), TableChange::Make(*storage));
        let message = |_: &State, verdict, _| Some(Message::Table { table, change, verdict });
        self.decide("create_table", |faults| faults.tables, message).await
    }

    pub(super) async fn remove_table(&self, table: &TableRef) -> Result<TableOutcome> {
        let message = |state: &State, verdict, late| {
            // A late drop knows which table it was for, and a table that was not there cannot be dropped late.
            let there = state.tables.get(table).copied();
            let only = if late { Some(there?) } else { None };
            Some(Message::Table { table: table.clone(), change: TableChange::Drop(only), verdict })
        };
        self.decide("drop_table", |faults| faults.tables, message).await
    }

    pub(super) async fn list(&self) -> Result<Vec<TableRef>> {
        self.read("list_tables", |state, _| Ok(state.tables.keys().cloned().collect())).await
    }

    pub(super) async fn record(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        check_meta_key(key)?;
        self.read("meta_get", |state, now| {
            state.settle(now, |touched| touched == key);
            at_once(state.records.meta_get(key))
        })
        .await
    }

    pub(super) async fn records(
        &self,
        group: &[u8],
        after: Option<&[u8]>,
        records_max: usize,
    ) -> Result<MetaPage> {
        check_meta_range(group, after, records_max)?;
        let touched = Bytes::copy_from_slice(group);
        self.read("meta_range", |state, now| {
            state.settle(now, |key| key.group == touched);
            at_once(state.records.meta_range(group, after, records_max))
        })
        .await
    }

    /// Changes what is agreed on, and answers as the contract allows.
    async fn decide<T: Clone>(
        &self,
        what: &str,
        chances: impl FnOnce(&Faults) -> Chances,
        message: impl FnOnce(&State, Verdict<T>, bool) -> Option<Message>,
    ) -> Result<T> {
        let verdict: Verdict<T> = Arc::new(OnceLock::new());
        let sent = self.with(|state, now| {
            let chances = chances(&state.faults);
            let fate = state.dice.fate(chances);
            let message = message(state, Arc::clone(&verdict), fate == Fate::Late);
            state.send_decision(now, fate, message)
        });
        let (moment, answer) = match sent {
            Sent::Not(at) => {
                self.sleep_until(at).await;
                return Err(unavailable(what));
            }
            Sent::Unheard(at) => {
                self.sleep_until(at).await;
                return Err(unknown(what));
            }
            Sent::Decided(moment, answer) => (moment, answer),
        };
        self.sleep_until(moment).await;
        self.with(|_, _| ());
        match verdict.get() {
            Some(Some(outcome)) => {
                self.sleep_until(self.now() + answer).await;
                // Who decides may be lost between the decision and the answer.
                if self.with(|state, _| state.decides()) { Ok(outcome.clone()) } else { Err(unknown(what)) }
            }
            Some(None) => Err(unavailable(what)),
            None => Err(unknown(what)),
        }
    }

    /// Reads what is agreed on, at one moment.
    async fn read<T>(&self, what: &str, read: impl FnOnce(&mut State, Duration) -> Result<T>) -> Result<T> {
        let (there, back, refused) = self.with(|state, now| {
            let refused = !state.decides() || state.dice.chance(state.faults.refuse_read);
            (now + state.decision_lag(), state.decision_lag(), refused)
        });
        self.sleep_until(there).await;
        if refused {
            return Err(unavailable(what));
        }
        let found = self.with(|state, now| {
            if !state.decides() {
                return Err(unavailable(what));
            }
            read(state, now)
        });
        self.sleep_until(self.now() + back).await;
        found
    }
}

impl State {
    fn send_decision(&mut self, now: Duration, fate: Fate, message: Option<Message>) -> Sent {
        let (there, back) = (self.decision_lag(), self.decision_lag());
        if !self.decides() || fate == Fate::Refuse {
            return Sent::Not(now + back);
        }
        let unheard = now + self.dice.up_to(self.options.timeout);
        let at = match fate {
            Fate::LoseCall => return Sent::Unheard(unheard),
            Fate::Late => now + self.dice.up_to(self.faults.late_decisions_most),
            _ => now + there,
        };
        if let Some(message) = message {
            self.timeline.send(at, message);
        }
        if fate != Fate::Pass {
            return Sent::Unheard(unheard);
        }
        if there + back > self.options.timeout {
            return Sent::Unheard(now + self.options.timeout);
        }
        Sent::Decided(at, back)
    }

    /// How long it takes until most replicas have a message.
    fn decision_lag(&self) -> Duration {
        self.lag_of_most(&self.up(), self.quorum())
    }
}
