//! Changing what all servers know: one compare-and-set on the head of the log.
//!
//! A change is decided on the newest state and holds only if that is still the newest when it is written. So whatever the
//! decision looked at is true at the moment of the change, whoever else changes something.

use env::fresh_id;
use store::{CasOutcome, ErrorKind, MetaChange};

use super::head::{Cause, Entry, Put, head_key};
use super::sync::Synced;
use crate::catalog::{Catalog, Known};
use crate::{Error, Reason, Result};

/// How often a change is decided anew because somebody else was faster.
const TRIES: u32 = 64;

/// What a decision makes of what is known.
pub(crate) struct Decided<T> {
    /// Nothing to put: nothing changes.
    pub(crate) puts: Vec<Put>,
    /// What to tell the caller.
    pub(crate) answer: T,
}

impl Catalog {
    /// Decides on the newest state and makes the change the next epoch; gives back the answer and the epoch in which it is
    /// in force. `decide` gets the epoch that the change will have.
    pub(crate) async fn change<T>(
        &self,
        cause: Option<&Cause>,
        decide: impl Fn(&Known, u64) -> Result<Decided<T>>,
    ) -> Result<(T, u64)> {
        let _changing = self.changing.lock().await;
        // Attempts whose outcome nobody knew: one of them may be among what is new, now or after the next one has failed.
        let mut unknown: Vec<(String, T)> = Vec::new();
        for _ in 0..TRIES {
            let synced = self.sync().await?;
            if let Some((answer, epoch)) = ours(&synced, &mut unknown) {
                return Ok((answer, epoch));
            }
            if synced.head.is_full() {
                self.settle(&synced).await?;
                continue;
            }
            let epoch = synced.head.epoch + 1;
            let Decided { puts, answer } = decide(&self.known(), epoch)?;
            if puts.is_empty() {
                return Ok((answer, synced.head.epoch));
            }
            let attempt = fresh_id(&*self.env.random);
            let entry = self.entry(epoch, &attempt, cause, puts).await;
            let mut head = synced.head.with(entry.clone());
            head.passed = head.passed.max(self.me.passed());
            let put = MetaChange::Put(head.encode()?);
            match self.store.meta_cas(&head_key(), synced.version, put).await {
                Ok(CasOutcome::Applied(_)) => {
                    self.me.saw_head(false, head.passed);
                    self.apply(&[entry]).await?;
                    return Ok((answer, epoch));
                }
                Ok(CasOutcome::Conflict(_)) => {}
                Err(error) if error.kind() == ErrorKind::Unknown => unknown.push((attempt, answer)),
                Err(error) => return Err(error.into()),
            }
        }
        let message = "others change the configuration all the time; try again soon";
        Err(Error::new(Reason::BackendOverloaded, message))
    }

    async fn entry(&self, epoch: u64, attempt: &str, cause: Option<&Cause>, puts: Vec<Put>) -> Entry {
        Entry {
            epoch,
            time: self.env.clock.wall(),
            server: self.me.registration.lock().await.id.clone(),
            attempt: attempt.to_owned(),
            cause: cause.cloned(),
            puts,
        }
    }

    /// Writes the records of entries that only the head has, if it has any, and which barriers have passed; every second, by
    /// the server that made the newest entry, and after a while by any.
    pub(crate) async fn settle_if_due(&self) -> Result<()> {
        if !self.me.may_have_to_settle() {
            return Ok(());
        }
        let _changing = self.changing.lock().await;
        let synced = self.sync().await?;
        let Some(newest) = synced.head.entries.last() else { return Ok(()) };
        let is_due = synced.head.settled < synced.head.epoch || synced.head.passed < self.me.passed();
        let ours = newest.server == self.me.registration.lock().await.id;
        if is_due && (ours || self.me.is_overdue(synced.head.settled, self.env.clock.boot())) {
            self.settle(&synced).await?;
        }
        Ok(())
    }

    /// Writes all records now.
    pub(crate) async fn settle_now(&self) -> Result<()> {
        let _changing = self.changing.lock().await;
        let synced = self.sync().await?;
        if synced.head.unsettled().is_empty() {
            return Ok(());
        }
        self.settle(&synced).await
    }

    /// Writes the records of entries that only the head has, and says so in the head.
    pub(super) async fn settle(&self, synced: &Synced) -> Result<()> {
        let mut head = synced.head.clone();
        for entry in synced.head.unsettled() {
            self.write_entry(entry).await?;
        }
        head.settled = head.epoch;
        head.passed = head.passed.max(self.me.passed());
        let put = MetaChange::Put(head.encode()?);
        // Whoever was faster has changed the head; it is settled the next time.
        self.store.meta_cas(&head_key(), synced.version, put).await?;
        Ok(())
    }
}

/// The answer and the epoch of an attempt that came through after all.
fn ours<T>(synced: &Synced, unknown: &mut Vec<(String, T)>) -> Option<(T, u64)> {
    let seen = || synced.new.iter().chain(&synced.head.entries);
    let found = unknown.iter().enumerate().find_map(|(at, (attempt, _))| {
        let entry = seen().find(|entry| entry.attempt == *attempt)?;
        Some((at, entry.epoch))
    });
    let (at, epoch) = found?;
    Some((unknown.swap_remove(at).1, epoch))
}
