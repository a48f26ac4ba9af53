//! Start and stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use engine::{Engine, ReadLimits};
use env::Env;
use prometheus_client::registry::Registry;
use rpc::{Host, Limits, Readiness, Serving};
use store::Store;
use tokio::sync::watch;

use crate::backend::{self, Opened};
use crate::config::Config;
use crate::listen::{Listening, listen};
use crate::metrics::Metrics;
use crate::upkeep::{Sign, Upkeep};
use crate::{Error, keys, readiness};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A server that runs. It goes on until [`Server::stop`].
pub struct Server {
    listening: Listening,
    engine: Engine,
    backend: Opened,
    sign: Arc<Sign>,
    upkeep: watch::Sender<bool>,
    grace: Duration,
    env: Env,
}

impl Server {
    /// Opens the store, loads what is in it, and serves. When this returns, requests are answered.
    pub async fn start(config: Config, env: Env) -> Result<Self, Error> {
        let backend = Opened::open(&config, &env).await?;
        let mut registry = Registry::default();
        let store = backend::layered(backend.store(), backend::lanes(&config), &mut registry, &env);
        let reads = ReadLimits { running: config.limits.reads, waiting: config.limits.reads_waiting };
        let engine = Engine::open_with(Arc::clone(&store), env.clone(), reads).await?;
        let keys = keys::load_or_make(&*store, &*env.random).await?;
        let (told, readiness) = watch::channel(Readiness::NotReady("starting; try again soon".to_owned()));
        let host = Host {
            engine: engine.clone(),
            keys,
            env: env.clone(),
            version: VERSION,
            backend: config.store.backend.as_str(),
            started: env.clock.wall(),
            readiness: readiness.clone(),
        };
        let limits = Limits { requests: config.limits.requests, streams: config.limits.streams };
        let serving = Serving { limits, reflection: config.server.reflection };
        let (calls, health) = rpc::router(&host, serving)?;
        let metrics = Metrics::new(registry, &engine, VERSION);
        let router = calls.merge(operating(metrics, readiness));
        let listening = listen(config.server.listen, config.limits.connections, router, &env).await?;
        let sign = Arc::new(Sign { readiness: told, health });
        sign.set(Readiness::Ready).await;
        let upkeep = upkeep(&engine, store, &sign, &env);
        let grace = config.server.shutdown_grace;
        Ok(Self { listening, engine, backend, sign, upkeep, grace, env })
    }

    /// Where it listens: with port 0 asked for, the one it got.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Stops: says that it is not ready, takes no more calls, lets those under way end, stores what is queued, closes the
    /// store.
    pub async fn stop(self) {
        self.upkeep.send_replace(true);
        self.sign
            .set(Readiness::NotReady("stopping; use another server, or start it again".to_owned()))
            .await;
        self.listening.stop(&*self.env.clock, self.grace).await;
        self.engine.flush_queue().await;
        drop(self.engine);
        self.backend.close().await;
    }
}

fn operating(metrics: Metrics, readiness: watch::Receiver<Readiness>) -> Router {
    Router::new()
        .route("/healthz", get(readiness::healthz))
        .route("/readyz", get(move || readiness::readyz(readiness.clone())))
        .route("/metrics", get(move || std::future::ready(metrics.show())))
}

fn upkeep(engine: &Engine, store: Arc<dyn Store>, sign: &Arc<Sign>, env: &Env) -> watch::Sender<bool> {
    let (stop, stopped) = watch::channel(false);
    let upkeep = Upkeep { engine: engine.clone(), store, sign: Arc::clone(sign), env: env.clone() };
    env.spawn.task("braid-upkeep", Box::pin(upkeep.run(stopped)));
    stop
}
