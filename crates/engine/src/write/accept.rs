//! What a namespace accepts at one moment. Asked before an event goes to the store, and again before it is
//! acknowledged: the second answer is the commit point of a write.
//!
//! Invariant: nothing is acknowledged that is older than closed time, than its namespace accepts by the clock of that
//! moment, or into a namespace or slice that is gone. So whoever reads behind closed time has seen every acknowledged write.

use std::sync::Arc;

use model::{NamespaceName, Timestamp};
use store::Consistency;

use super::place::PlacedEvent;
use super::window::Window;
use crate::catalog::{Catalog, Dataset};
use crate::view::Standing;
use crate::{Error, Reason, Result};

/// A namespace at one moment.
pub(crate) struct Accepting {
    dataset: Arc<Dataset>,
    standing: Standing,
    now: i64,
}

impl Accepting {
    /// The namespace as it is at `now`; fails if it is gone or was made again, or this server may not write any more.
    pub(crate) fn at(catalog: &Catalog, name: &NamespaceName, incarnation: u32, now: i64) -> Result<Self> {
        // The lease first: what is known is then at least as new as it.
        let standing = may_write(catalog.standing())?;
        Ok(Self { dataset: catalog.find_same(name, incarnation)?, standing, now })
    }

    /// What a write of this moment asks for.
    pub(crate) fn consistency(&self) -> Consistency {
        self.dataset.namespace.spec.consistency
    }

    /// Whether an event of this time is not too old: inside the accept limit, its slice not closed.
    pub(crate) fn takes(&self, time: Timestamp) -> bool {
        Window::of(&self.dataset, self.standing, self.now).takes(time)
    }

    /// Events that are acknowledged, and those that have grown too old.
    pub(super) fn part(&self, events: Vec<PlacedEvent>) -> (Vec<PlacedEvent>, Vec<PlacedEvent>) {
        events.into_iter().partition(|event| self.takes(event.time))
    }
}

/// Refuses to write for a server that has known nothing of the others for too long.
pub(crate) fn may_write(standing: Standing) -> Result<Standing> {
    if standing != Standing::Stale {
        return Ok(standing);
    }
    let message = "this server has not reached its metadata for more than an hour and takes no writes; write to another \
                   one, and look at the store";
    Err(Error::new(Reason::NotReady, message))
}

/// The store has taken an event, too late to say so.
pub(crate) fn unknown_outcome() -> Error {
    let message = "the event grew too old while it was written, so it may be stored or not; \
                   send it again, and raise accept_limit if it is refused then";
    Error::new(Reason::BackendTimeout, message)
}
