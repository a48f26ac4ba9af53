//! Opens a namespace for old events and closes it again: a backfill of its whole past, on every server.
//!
//! It ends also after an error or Ctrl-C; after kill -9 it does not, so the text at the start says how to end it, and the next
//! import says what it finds.

use std::time::Duration;

use api::admin::v1 as admin;
use api::convert::timestamp_to_wire;
use env::Env;
use rpc::client::CallError;
use tokio::sync::mpsc;

use super::retry::{TRIES_MAX, back_off};
use super::target::Target;
use crate::output::value::count;

/// Events that are recent now grow old while a long import runs; those of the next day are taken whatever their age is then.
const AHEAD: Duration = Duration::from_secs(86_400);
const REASON: &str = "braid import --backfill";

/// A namespace that takes old events.
#[derive(Debug)]
pub(crate) struct Backfill {
    namespace: String,
    id: u64,
}

impl Backfill {
    /// Opens the namespace. The text is what people should know.
    pub(crate) async fn open(
        target: &dyn Target,
        env: &Env,
        namespace: &str,
    ) -> Result<(Self, String), CallError> {
        let ahead = i64::try_from(AHEAD.as_nanos()).unwrap_or(i64::MAX);
        let wanted = admin::BeginBackfillRequest {
            namespace: namespace.to_owned(),
            start: Some(timestamp_to_wire(0)),
            end: Some(timestamp_to_wire(env.clock.wall().saturating_add(ahead))),
            validate_only: false,
            reason: REASON.to_owned(),
        };
        let others = target.backfills(namespace).await?.backfills;
        let id = begin(target, env, &wanted, &others).await?;
        let opened = Self { namespace: namespace.to_owned(), id };
        let mut note = format!(
            "{namespace} takes events of any age until this ends (by hand: {})",
            end_command(namespace, id)
        );
        if !others.is_empty() {
            let (count, list) = (count(others.len() as u64, "other backfill"), list_command(namespace));
            note.push_str(&format!(
                "\n{namespace} has {count}, perhaps of imports that were killed; {list} shows them and how to end them"
            ));
        }
        Ok((opened, note))
    }

    /// Closes it again. The first Ctrl-C only stops an import, also one that is at its end: what it opened is closed. The
    /// next one ends the trying; `interrupted` says that the first one was before.
    pub(crate) async fn close(
        self,
        target: &dyn Target,
        env: &Env,
        interrupts: &mut mpsc::Receiver<()>,
        mut interrupted: bool,
    ) -> Result<String, CallError> {
        let Self { namespace, id } = &self;
        let mut end = std::pin::pin!(end(target, env, namespace, *id));
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut end => break ended,
                Some(()) = interrupts.recv() => {
                    if std::mem::replace(&mut interrupted, true) {
                        break Err(abandoned());
                    }
                }
            }
        };
        match ended {
            Ok(()) => Ok(format!("{namespace} takes old events no longer")),
            Err(error) => {
                let (problem, command) = (&error.message, end_command(namespace, *id));
                let message =
                    format!("{namespace} still takes events of any age: {problem}; end that with {command}");
                Err(CallError { message, ..error })
            }
        }
    }
}

/// Begins a backfill, again until the answer arrives; gives back its id.
async fn begin(
    target: &dyn Target,
    env: &Env,
    wanted: &admin::BeginBackfillRequest,
    others: &[admin::Backfill],
) -> Result<u64, CallError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let error = match target.begin_backfill(wanted.clone()).await {
            Ok(begun) => return Ok(begun.id),
            Err(error) => error,
        };
        let wait = error.retry_after.filter(|_| tries < TRIES_MAX);
        if let Some(wait) = wait {
            env.clock.sleep(wait.min(back_off(tries))).await;
        }
        // Where an answer is lost, it may have begun, or half: its end in nanoseconds tells whose it is.
        let found = target.backfills(&wanted.namespace).await.unwrap_or_default().backfills;
        let ours = |found: &&admin::Backfill| found.end == wanted.end && !others.contains(found);
        match found.iter().find(ours) {
            Some(ours) if ours.open => return Ok(ours.id),
            Some(half) => {
                // Whoever announced it is gone. If this fails too, it is among the others of the next import.
                let _left = target.end_backfill(ending(&wanted.namespace, half.id)).await;
            }
            None => {}
        }
        if wait.is_none() {
            return Err(error);
        }
    }
}

/// Ends a backfill, again until the answer arrives. One that has ended is what is wanted.
async fn end(target: &dyn Target, env: &Env, namespace: &str, id: u64) -> Result<(), CallError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match target.end_backfill(ending(namespace, id)).await {
            Ok(_) => return Ok(()),
            Err(error) if error.reason.as_deref() == Some("ETAG_MISMATCH") => return Ok(()),
            Err(error) => match error.retry_after {
                Some(wait) if tries < TRIES_MAX => env.clock.sleep(wait.min(back_off(tries))).await,
                _ => return Err(error),
            },
        }
    }
}

fn ending(namespace: &str, id: u64) -> admin::EndBackfillRequest {
    let (namespace, reason) = (namespace.to_owned(), REASON.to_owned());
    admin::EndBackfillRequest { namespace, id, validate_only: false, reason }
}

fn abandoned() -> CallError {
    let message = "ending it was interrupted".to_owned();
    CallError { code: "CANCELLED", reason: None, message, retry_after: None }
}

fn list_command(namespace: &str) -> String {
    format!("`braid ns backfills {namespace}`")
}

fn end_command(namespace: &str, id: u64) -> String {
    format!("`braid ns backfills {namespace} --end {id}`")
}

#[cfg(test)]
#[path = "backfill_tests.rs"]
mod tests;
