//! Stopping blocking reads whose caller went away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use env::{Spawn, blocking};
use store::{Error, ErrorKind, Result};

/// Asked now and then by a long read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    /// Fails once the caller is gone.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Unavailable, "the read was cancelled; send it again"));
        }
        Ok(())
    }
}

struct CancelOnDrop(Cancelled);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a read on the blocking pool. It is told to stop when the caller drops this future.
pub(crate) async fn read<T: Send + 'static>(
    spawn: &dyn Spawn,
    work: impl FnOnce(&Cancelled) -> Result<T> + Send + 'static,
) -> Result<T> {
    let guard = CancelOnDrop(Cancelled::default());
    let cancelled = guard.0.clone();
    blocking(spawn, move || work(&cancelled)).await.map_err(|error| {
        Error::new(
            ErrorKind::Unavailable,
            "a read of the embedded store ended without an answer; send it again",
        )
        .caused_by(error)
    })?
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use env::Env;

    use super::*;

    #[tokio::test]
    async fn a_dropped_read_is_told_to_stop() {
        let env = Env::system();
        let (started, has_started) = sync_channel(1);
        let (stopped, has_stopped) = sync_channel(1);
        let mut reading = Box::pin(read(&*env.spawn, move |cancelled| {
            started.send(()).unwrap();
            while cancelled.check().is_ok() {
                std::thread::yield_now();
            }
            stopped.send(()).unwrap();
            Ok(())
        }));
        tokio::select! {
            biased;
            _ = &mut reading => panic!("it runs until it is cancelled"),
            () = std::future::ready(()) => {}
        }
        has_started.recv().unwrap();
        drop(reading);
        has_stopped.recv().unwrap();
    }
}
