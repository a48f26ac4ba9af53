//! The runtime, for commands that need one, and what Ctrl-C does to them.

use std::future::Future;

use env::Env;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::Global;
use crate::failure::{Failure, INTERRUPTED};
use crate::session::Session;

/// Runs a command that talks to a server. Ctrl-C ends it at once.
pub(crate) fn calling<F>(global: &Global, command: impl FnOnce(Session) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    runtime()?.block_on(async {
        end_on_interrupt(&Env::system());
        let session = Session::new(global)?;
        Box::pin(command(session)).await
    })
}

/// Runs a command that talks to a server and looks after Ctrl-C itself.
pub(crate) fn following<F>(global: &Global, command: impl FnOnce(Session) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    runtime()?.block_on(async {
        let session = Session::new(global)?;
        Box::pin(command(session)).await
    })
}

/// Runs a command that is a server and looks after Ctrl-C itself.
pub(crate) fn serving<F>(command: impl FnOnce() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    runtime()?.block_on(async { Box::pin(command()).await })
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Failure::Other(format!("cannot start threads ({error}); raise the limits of this user"))
    })
}

/// On a thread of the runtime, because the command's own thread may be waiting for whoever reads stdout.
fn end_on_interrupt(env: &Env) {
    let watch = async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    env.spawn.task("braid-interrupt", Box::pin(watch));
}

/// Ctrl-C, and what supervisors send.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn new() -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::Other(format!("cannot listen for signals: {error}"));
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    /// Completes with the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
