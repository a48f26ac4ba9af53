//! The way from one server to the cluster, which can be cut while others go on.
//!
//! Invariant: a cut hides answers and stops requests; it never undoes what was sent, and never claims that it did not
//! happen.

use std::fmt::Arguments;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use env::BoxFuture;
use store::layer::{Call, Layer, Layered, Op, Outcome};
use store::{Result, Store};
use tokio::sync::Notify;

use super::Cluster;
use super::handle::{unavailable, unknown};

/// How long it takes a server to find out that nobody is there.
const DEAD_LINE: Duration = Duration::from_millis(100);

/// What does not get through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Everything does.
    #[default]
    Nothing,
    /// Metadata records and tables, as in an outage of metadata, for this server alone.
    Metadata,
    /// Changes of them; they are still read.
    MetadataChanges,
    /// Nothing does.
    Everything,
}

impl Cut {
    fn stops(self, op: Op) -> bool {
        let agreed = op.is_meta() || matches!(op, Op::CreateTable | Op::DropTable | Op::ListTables);
        match self {
            Self::Nothing => false,
            Self::Metadata => agreed,
            Self::MetadataChanges => matches!(op, Op::MetaCas | Op::CreateTable | Op::DropTable),
            Self::Everything => true,
        }
    }
}

/// The way from one server to the cluster. Clones are the same way.
#[derive(Clone)]
pub struct Link {
    name: Arc<str>,
    cluster: Cluster,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cut: Mutex<Cut>,
    changed: Notify,
}

impl Cluster {
    /// A way to the cluster for the server of this name, and the cluster as that server sees it.
    pub fn link(&self, name: &str) -> (Link, Arc<dyn Store>) {
        let link = Link { name: name.into(), cluster: self.clone(), state: Arc::default() };
        (link.clone(), Arc::new(Layered::new(Arc::new(self.clone()), link)))
    }
}

impl Link {
    /// Cuts it, or mends it. Calls under way lose their answer: changes end unknown, reads unavailable.
    pub fn cut(&self, cut: Cut) {
        self.note(format_args!("is cut: {cut:?}"));
        *self.state.cut.lock().unwrap_or_else(PoisonError::into_inner) = cut;
        self.state.changed.notify_waiters();
    }

    fn note(&self, what: Arguments<'_>) {
        self.cluster.note(format_args!("link of {} {what}", self.name));
    }

    fn stops(&self, op: Op) -> bool {
        self.state.cut.lock().unwrap_or_else(PoisonError::into_inner).stops(op)
    }

    async fn stopping(&self, op: Op) {
        loop {
            let changed = self.state.changed.notified();
            if self.stops(op) {
                return;
            }
            changed.await;
        }
    }
}

impl Layer for Link {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let name = call.op.as_str();
        if self.stops(call.op) {
            drop(next);
            self.note(format_args!("stops {name}"));
            self.cluster.sleep_until(self.cluster.now() + DEAD_LINE).await;
            return Err(unavailable(name));
        }
        tokio::select! {
            // What has come counts. And no order by chance: that chance has no seed.
            biased;
            answer = next => answer,
            () = self.stopping(call.op) => {
                self.note(format_args!("loses the answer of {name}"));
                Err(if call.changes { unknown(name) } else { unavailable(name) })
            }
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}
