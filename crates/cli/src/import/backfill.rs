//! Opens a namespace for old events and closes it again: `accept_limit` is 0 in between.
//!
//! What was there before is put back also after an error or Ctrl-C; after kill -9 it is not, so the text at the start
//! says what it was. A namespace that takes old events already is left alone.

use std::time::Duration;

use api::admin::v1 as admin;
use env::Env;
use rpc::client::CallError;
use tokio::sync::mpsc;

use super::retry::{TRIES_MAX, back_off};
use super::target::Target;
use crate::output::value;

/// A namespace that takes old events.
#[derive(Debug)]
pub(crate) struct Backfill {
    namespace: String,
    /// What to put back; none where nothing was changed.
    before: Option<prost_types::Duration>,
}

impl Backfill {
    /// Opens the namespace. The text is what people should know.
    pub(crate) async fn open(
        target: &dyn Target,
        env: &Env,
        namespace: &str,
    ) -> Result<(Self, String), CallError> {
        let name = namespace.to_owned();
        let changed = change(target, env, namespace, |found| {
            let limit = limit(found);
            (!limit.is_zero()).then_some(prost_types::Duration::default())
        });
        let before = changed.await?;
        let note = match &before {
            Some(before) => {
                let shown = show(*before);
                let back = restore_command(&name, *before);
                format!("accept_limit of {name} is 0 until this ends, then {shown} again (by hand: {back})")
            }
            None => format!(
                "accept_limit of {name} is 0 already, perhaps since a backfill was killed: it stays 0; \
                 `braid ns set {name} --accept-limit 10m` ends that"
            ),
        };
        Ok((Self { namespace: name, before }, note))
    }

    /// Closes it again; Ctrl-C ends the trying. Where somebody else has set a limit meanwhile, that one stays.
    pub(crate) async fn close(
        self,
        target: &dyn Target,
        env: &Env,
        interrupts: &mut mpsc::Receiver<()>,
    ) -> Result<String, CallError> {
        let name = &self.namespace;
        let Some(before) = self.before else {
            return Ok(format!("accept_limit of {name} is still 0"));
        };
        let wanted = |found: &admin::Namespace| limit(found).is_zero().then_some(before);
        let changed = tokio::select! {
            biased;
            changed = change(target, env, name, wanted) => changed,
            Some(()) = interrupts.recv() => Err(abandoned()),
        };
        match changed {
            Ok(Some(_)) => Ok(format!("accept_limit of {name} is {} again", show(before))),
            Ok(None) => Ok(format!("accept_limit of {name} was set by somebody else meanwhile, and stays")),
            Err(error) => {
                let (problem, back) = (&error.message, restore_command(name, before));
                let message =
                    format!("accept_limit of {name} is still 0: {problem}; put it back with {back}");
                Err(CallError { message, ..error })
            }
        }
    }
}

fn abandoned() -> CallError {
    let message = "putting it back was interrupted".to_owned();
    CallError { code: "CANCELLED", reason: None, message, retry_after: None }
}

/// Reads the namespace and sets the limit that `decide` gives for it, again until nobody changes it in between. Gives
/// back the limit that was there; none where `decide` gave none.
async fn change(
    target: &dyn Target,
    env: &Env,
    namespace: &str,
    decide: impl Fn(&admin::Namespace) -> Option<prost_types::Duration>,
) -> Result<Option<prost_types::Duration>, CallError> {
    // Where an answer is lost, the change may have been made: then it is found made, and was made by us.
    let mut perhaps_changed = None;
    let mut tries = 0;
    loop {
        tries += 1;
        let error = match target.namespace(namespace).await {
            Ok(found) => {
                let Some(wanted) = decide(&found) else { return Ok(perhaps_changed) };
                let before = found.accept_limit.unwrap_or_default();
                match target.update(request(found, wanted)).await {
                    Ok(_) => return Ok(Some(before)),
                    Err(error) => {
                        perhaps_changed = Some(before).filter(|_| error.retry_after.is_some());
                        error
                    }
                }
            }
            Err(error) => error,
        };
        let raced = error.reason.as_deref() == Some("ETAG_MISMATCH");
        match error.retry_after.or_else(|| raced.then_some(Duration::ZERO)) {
            Some(wait) if tries < TRIES_MAX => env.clock.sleep(wait.min(back_off(tries))).await,
            _ => return Err(error),
        }
    }
}

fn request(found: admin::Namespace, accept_limit: prost_types::Duration) -> admin::UpdateNamespaceRequest {
    let namespace = admin::Namespace {
        name: found.name,
        accept_limit: Some(accept_limit),
        etag: found.etag,
        ..admin::Namespace::default()
    };
    admin::UpdateNamespaceRequest {
        namespace: Some(namespace),
        update_mask: Some(prost_types::FieldMask { paths: vec!["accept_limit".to_owned()] }),
        validate_only: false,
        reason: "braid import --backfill".to_owned(),
    }
}

fn limit(namespace: &admin::Namespace) -> Duration {
    value::from_wire(namespace.accept_limit)
}

fn show(limit: prost_types::Duration) -> String {
    value::duration(value::from_wire(Some(limit)))
}

fn restore_command(namespace: &str, limit: prost_types::Duration) -> String {
    format!("`braid ns set {namespace} --accept-limit {}`", show(limit))
}

#[cfg(test)]
#[path = "backfill_tests.rs"]
mod tests;
