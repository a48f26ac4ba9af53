//! The latch: once a commit has failed, nothing is acknowledged any more until the store is opened again.
//!
//! What a failed write or sync left behind is not known to this process, so going on could acknowledge what the disk
//! does not have. Opening again reads the journal and settles it.

use store::{Error, ErrorKind};
use tokio::sync::watch;

/// Set once, never reset.
#[derive(Clone, Debug)]
pub(crate) struct Latch {
    reason: watch::Sender<Option<String>>,
}

impl Latch {
    /// An open latch.
    pub(crate) fn new() -> Self {
        Self { reason: watch::Sender::new(None) }
    }

    /// Latches for `reason`. The first reason stays.
    pub(crate) fn set(&self, reason: &str) {
        self.reason.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                tracing::error!(reason, "the embedded store stopped acknowledging writes");
                *current = Some(reason.to_owned());
            }
            first
        });
    }

    /// Fails once latched.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.reason.borrow().as_deref() {
            None => Ok(()),
            Some(reason) => Err(Error::new(
                ErrorKind::Latched,
                format!(
                    "the store stopped taking writes because a commit failed ({reason}); \
                     free disk space or repair the disk, then start the process again: acknowledged data is safe"
                ),
            )),
        }
    }

    /// Completes once latched.
    pub(crate) async fn latched(&self) {
        let mut changes = self.reason.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _outlived = changes.wait_for(Option::is_some).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_stays_and_says_what_to_do() {
        let latch = Latch::new();
        assert!(latch.check().is_ok());
        latch.set("no space left on device");
        latch.set("another");
        latch.latched().await;
        let error = latch.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Latched);
        assert!(
            error.to_string().contains("no space left")
                && error.to_string().contains("start the process again")
        );
    }
}
