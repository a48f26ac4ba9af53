//! What a namespace accepts at one moment. Asked before an event goes to the store, and again before it is
//! acknowledged: the second answer is the commit point of a write.
//!
//! Invariant: nothing is acknowledged that is older than its namespace accepts by the clock of that moment, nor into a
//! namespace that is gone. So whoever reads behind the accept limit has seen every acknowledged write.

use std::sync::Arc;

use model::{NamespaceName, Timestamp};
use store::Consistency;

use super::validate::Window;
use crate::catalog::{Catalog, Dataset};
use crate::{Error, Reason, Result, SliceState};

/// A namespace at one moment.
pub(crate) struct Accepting {
    dataset: Arc<Dataset>,
    window: Window,
    now: i64,
}

impl Accepting {
    /// The namespace as it is at `now`; fails if it is gone or was made again.
    pub(crate) fn at(catalog: &Catalog, name: &NamespaceName, incarnation: u32, now: i64) -> Result<Self> {
        let dataset = catalog.find_same(name, incarnation)?;
        let window = Window::of(&dataset.namespace.spec, now);
        Ok(Self { dataset, window, now })
    }

    /// What a write of this moment asks for.
    pub(crate) fn consistency(&self) -> Consistency {
        self.dataset.namespace.spec.consistency
    }

    /// Whether an event of this time is not too old: inside the accept limit, its slice not closed.
    pub(crate) fn takes(&self, time: Timestamp) -> bool {
        let slice = self.dataset.timeline.slice_of(time);
        !self.window.is_too_old(time) && self.dataset.state_of(slice, self.now) == SliceState::Open
    }
}

/// The store has taken an event, too late to say so.
pub(crate) fn unknown_outcome() -> Error {
    let message = "the event grew too old while it was written, so it may be stored or not; \
                   send it again, and raise accept_limit if it is refused then";
    Error::new(Reason::BackendTimeout, message)
}
