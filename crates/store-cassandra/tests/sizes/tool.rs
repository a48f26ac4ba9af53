//! Cassandra's own tool, for one test at a time.

use tokio::sync::{Mutex, MutexGuard};

use crate::node::dev_cassandra;

/// Held while a test runs.
pub(crate) async fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::const_new(());
    ALONE.lock().await
}

/// Runs it.
pub(crate) fn nodetool(arguments: &[&str]) -> String {
    dev_cassandra(&[&["nodetool"], arguments].concat())
}
