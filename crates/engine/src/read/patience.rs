//! How long a page may take.

use std::time::Duration;

use env::{BootTime, BoxFuture, Clock};

use crate::NamespaceSpec;

/// Waits for the store until the time of the page is over.
pub(super) struct Patience<'a> {
    clock: &'a dyn Clock,
    end: BootTime,
    over: BoxFuture<'static, ()>,
    /// Whose limit it is.
    pub(super) reason: &'static str,
}

impl<'a> Patience<'a> {
    /// From now on, as long as the request allows, or else the namespace.
    pub(super) fn new(clock: &'a dyn Clock, asked: Option<Duration>, spec: &NamespaceSpec) -> Self {
        let (limit, reason) = asked.map_or((spec.read_max, "READ_MAX"), |limit| (limit, "MAX_LATENCY"));
        Self { clock, end: clock.boot() + limit, over: clock.sleep(limit), reason }
    }

    /// What `work` gives, unless the time is over before. Work that is dropped then ends soon.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        if self.clock.boot() >= self.end {
            return None;
        }
        tokio::select! {
            // What is there counts, even at the last moment.
            biased;
            done = work => Some(done),
            () = &mut self.over => None,
        }
    }
}
