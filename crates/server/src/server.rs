//! Start and stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use engine::Engine;
use env::Env;
use prometheus_client::registry::Registry;
use rpc::{Host, Limits, Readiness, Serving};
use store::Store;
use store::layer::{Deadlines, Layered, MetricsLayer, Op, TimeoutLayer};
use store_embedded::EmbeddedStore;
use tokio::sync::watch;

use crate::config::{Backend, Config};
use crate::listen::{Listening, listen};
use crate::metrics::Metrics;
use crate::upkeep::{Sign, Upkeep};
use crate::{Error, keys, readiness};

/// A store call that takes longer has an unknown outcome.
const STORE_WITHIN: Duration = Duration::from_secs(30);
/// Measuring a table reads all of it.
const MEASURE_WITHIN: Duration = Duration::from_secs(3_600);
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A server that runs. It goes on until [`Server::stop`].
pub struct Server {
    listening: Listening,
    engine: Engine,
    backend: EmbeddedStore,
    sign: Arc<Sign>,
    upkeep: watch::Sender<bool>,
    grace: Duration,
    env: Env,
}

impl Server {
    /// Opens the store, loads what is in it, and serves. When this returns, requests are answered.
    pub async fn start(config: Config, env: Env) -> Result<Self, Error> {
        let Backend::Embedded = config.store.backend;
        let backend = open(&config, &env).await?;
        let mut registry = Registry::default();
        let store = layered(backend.clone(), &mut registry, &env);
        let engine = Engine::open(Arc::clone(&store), env.clone()).await?;
        let keys = keys::load_or_make(&*store, &*env.random).await?;
        let (told, readiness) = watch::channel(Readiness::NotReady("starting; try again soon".to_owned()));
        let host = Host {
            engine: engine.clone(),
            keys,
            env: env.clone(),
            version: VERSION,
            backend: "embedded",
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

async fn open(config: &Config, env: &Env) -> Result<EmbeddedStore, Error> {
    let path = &config.store.data;
    EmbeddedStore::open(path, config.embedded_options(), env.clone())
        .await
        .map_err(|source| Error::Open { path: path.display().to_string(), source })
}

fn layered(backend: EmbeddedStore, registry: &mut Registry, env: &Env) -> Arc<dyn Store> {
    let deadlines = Deadlines::all(STORE_WITHIN).with(Op::Histogram, MEASURE_WITHIN);
    let timed = Layered::new(Arc::new(backend), TimeoutLayer::new(Arc::clone(&env.clock), deadlines));
    Arc::new(Layered::new(Arc::new(timed), MetricsLayer::new(registry, Arc::clone(&env.clock))))
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
