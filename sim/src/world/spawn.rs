//! Spawning on a machine: every task belongs to the life that started it, and blocking work is a task too.

use std::io;
use std::sync::Arc;

use env::{BoxFuture, Spawn, Work};

use super::life::Life;

/// Starts work in one life of a machine.
pub(super) struct LifeSpawn {
    pub(super) life: Arc<Life>,
}

impl Spawn for LifeSpawn {
    fn task(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        // Whatever is started after the crash was started by something that does not run any more.
        let _after_the_crash = self.life.start(name, task);
    }

    /// Runs the work in one step, after whoever asked has come to an await. It takes no simulated time.
    fn pooled(&self, work: Work) {
        let _after_the_crash = self.life.start("pooled work", Box::pin(async move { work() }));
    }

    /// Always an error: work that blocks for long would stop the one thread on which the world runs.
    fn thread(&self, name: &'static str, _work: Work) -> io::Result<()> {
        let message = format!("thread `{name}` cannot run in a simulated machine; make it a task");
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}
