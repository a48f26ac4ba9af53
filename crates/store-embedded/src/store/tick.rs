//! The store's clockwork: tells the committer that time has passed, and notices where it hangs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use env::blocking;
use tokio::sync::mpsc;

use super::Shared;
use crate::change::Change;
use crate::committer::boot_millis;

/// A commit that takes longer than this makes the watchdog ask whether the engine still lives.
const COMMIT_SLOW: Duration = Duration::from_secs(1);

/// Ticks the committer for as long as the store is open, and watches that it does not hang on a dead engine.
pub(super) fn start(shared: &Arc<Shared>, every: Duration) {
    let (weak, changes) = (Arc::downgrade(shared), shared.changes.downgrade());
    let (clock, busy_since) = (Arc::clone(&shared.env.clock), Arc::clone(&shared.busy_since));
    shared.env.spawn.task(
        "embedded-store-tick",
        Box::pin(async move {
            loop {
                clock.sleep(every).await;
                let Some(sender) = changes.upgrade() else { return };
                // A full queue means that the committer is busy anyway.
                if matches!(sender.try_send(Change::Tick), Err(mpsc::error::TrySendError::Closed(_))) {
                    return;
                }
                let since = busy_since.load(Ordering::Acquire);
                let slow = u64::try_from(COMMIT_SLOW.as_millis()).unwrap_or(u64::MAX);
                if since == 0 || boot_millis(clock.boot()).saturating_sub(since) < slow {
                    continue;
                }
                let Some(shared) = weak.upgrade() else { return };
                let engine = shared.engine.clone();
                if let Ok(Err(error)) = blocking(&*shared.env.spawn, move || engine.check_alive()).await {
                    shared.latch.set(&shared.engine.describe(&error));
                }
            }
        }),
    );
}
