//! A server that runs, and its stop.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use env::Env;
use rpc::Readiness;
use store::Store;
use tokio::sync::watch;

use crate::backend::Opened;
use crate::config::{Config, Role};
use crate::listen::Listening;
use crate::queue::Queue;
use crate::upkeep::{Sign, Upkeep};
use crate::{Error, Starting};

/// A server that runs. It goes on until [`Server::stop`].
pub struct Server {
    running: Running,
    upkeep: watch::Sender<bool>,
}

/// What runs.
pub(crate) struct Running {
    pub(crate) listening: Listening,
    pub(crate) engine: Engine,
    pub(crate) backend: Opened,
    pub(crate) queue: Queue,
    pub(crate) sign: Arc<Sign>,
    pub(crate) grace: Duration,
    pub(crate) env: Env,
}

impl Server {
    /// Opens the store, loads what is in it, and serves. When this returns, requests are answered.
    pub async fn start(config: Config, env: Env) -> Result<Self, Error> {
        Starting::listen(config, env).await?.open().await
    }

    /// Looks after what runs from now on.
    pub(crate) fn run(running: Running, store: Arc<dyn Store>, roles: BTreeSet<Role>) -> Self {
        let Running { engine, sign, env, queue, .. } = &running;
        let (upkeep, stopped) = watch::channel(false);
        let (queue, sign) = (queue.clone(), Arc::clone(sign));
        Upkeep { engine: engine.clone(), store, queue, sign, env: env.clone() }.start(&roles, &stopped);
        Self { running, upkeep }
    }

    /// Where it listens: with port 0 asked for, the one it got.
    pub fn address(&self) -> SocketAddr {
        self.running.listening.address
    }

    /// Stops: says that it is not ready, takes no more calls, lets those under way end, stores what is queued, closes the
    /// store.
    pub async fn stop(self) {
        self.upkeep.send_replace(true);
        let Running { listening, engine, backend, queue, sign, grace, env } = self.running;
        sign.set(Readiness::NotReady("stopping; use another server, or start it again".to_owned())).await;
        listening.stop(&*env.clock, grace).await;
        engine.flush_queue().await;
        queue.close(&env).await;
        // Nobody has to wait for it any more.
        if let Err(error) = engine.leave().await {
            tracing::debug!(%error, "the others are not told that this server is gone; they find out");
        }
        drop(engine);
        backend.close().await;
    }
}
