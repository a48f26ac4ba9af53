//! From a port to a server: listen first, so that probes and clients are told why nothing is served yet; then open the store
//! and load what is in it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use engine::{Engine, Member, Options, ReadLimits, SplitLimits};
use env::Env;
use prometheus_client::registry::Registry;
use rpc::{Health, Host, Limits, Readiness, Serving};
use store::Store;
use tokio::sync::watch;

use crate::backend::{self, Opened};
use crate::config::{Config, Role};
use crate::listen::{Listening, listen};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::server::Running;
use crate::upkeep::Sign;
use crate::{Error, Server, keys, readiness};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Between two attempts to reach a store elsewhere.
const TRY_EVERY: Duration = Duration::from_secs(2);

/// A server that listens and has nothing to serve yet: `/readyz` and every call say so.
pub struct Starting {
    config: Config,
    env: Env,
    listening: Listening,
    sign: Arc<Sign>,
}

/// What a store gives a server.
struct Loaded {
    backend: Opened,
    store: Arc<dyn Store>,
    engine: Engine,
    keys: api::token::TokenKeys,
    queue: Queue,
    registry: Registry,
}

impl Starting {
    /// Listens.
    pub async fn listen(config: Config, env: Env) -> Result<Self, Error> {
        let health = Health::new().await?;
        let (told, readiness) = watch::channel(Readiness::NotReady("starting; try again soon".to_owned()));
        let router = rpc::waiting(&health, readiness.clone()).merge(probes(readiness));
        let listening = listen(config.server.listen, config.limits.connections, router, &env).await?;
        Ok(Self { config, env, listening, sign: Arc::new(Sign { readiness: told, health }) })
    }

    /// Where it listens: with port 0 asked for, the one it got.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Opens the store and serves. When this returns, requests are answered.
    pub async fn open(self) -> Result<Server, Error> {
        let loaded = load(&self.config, self.address(), &self.env).await?;
        self.serve(loaded).await
    }

    /// The same, but where the store is another machine's, waits for it: tries again and again, and says so. What no
    /// waiting can mend is still an error.
    pub async fn open_when_there(self) -> Result<Server, Error> {
        loop {
            match load(&self.config, self.address(), &self.env).await {
                Ok(loaded) => return self.serve(loaded).await,
                Err(error) if self.config.store.backend.is_elsewhere() && error.may_pass() => {
                    if self.sign.set(Readiness::NotReady(error.to_string())).await {
                        let (address, seconds) = (self.address(), TRY_EVERY.as_secs());
                        tracing::warn!("not ready at {address}, trying again every {seconds} s: {error}");
                    }
                    self.env.clock.sleep(TRY_EVERY).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn serve(self, loaded: Loaded) -> Result<Server, Error> {
        let Self { config, env, listening, sign } = self;
        let Loaded { backend, store, engine, keys, queue, registry } = loaded;
        let host = Host {
            engine: engine.clone(),
            keys,
            env: env.clone(),
            version: VERSION,
            backend: config.store.backend.as_str(),
            started: env.clock.wall(),
            readiness: sign.readiness.subscribe(),
            queue: queue.state(),
        };
        let limits = Limits { requests: config.limits.requests, streams: config.limits.streams };
        let serving = Serving { limits, reflection: config.server.reflection, api: config.has(Role::Api) };
        let calls = rpc::router(&host, serving, &sign.health)?;
        let metrics = Metrics::new(registry, &engine, VERSION);
        let shown = Router::new().route("/metrics", get(move || std::future::ready(metrics.show())));
        listening.replace(calls.merge(probes(sign.readiness.subscribe())).merge(shown));
        sign.set(Readiness::Ready).await;
        let grace = config.server.shutdown_grace;
        let roles = config.server.roles;
        Ok(Server::run(Running { listening, engine, backend, queue, sign, grace, env }, store, roles))
    }
}

/// Opens the store and loads what is in it.
async fn load(config: &Config, address: SocketAddr, env: &Env) -> Result<Loaded, Error> {
    let backend = Opened::open(config, env).await?;
    let mut registry = Registry::default();
    backend.register_metrics(&mut registry);
    let store = backend::layered(backend.store(), backend::lanes(config), &mut registry, env);
    let reads = ReadLimits { running: config.limits.reads, waiting: config.limits.reads_waiting };
    let member = Member {
        address: address.to_string(),
        program: format!("braid {VERSION}"),
        // The embedded store belongs to one process.
        alone: !config.store.backend.is_elsewhere(),
        roles: config.roles(),
    };
    let splits = SplitLimits {
        at_once: config.limits.splits,
        bytes_per_second: config.limits.split_bytes_per_second,
        ..SplitLimits::default()
    };
    let options = Options { reads, member, splits, ..Options::default() };
    let engine = Engine::open_with(Arc::clone(&store), env.clone(), options).await?;
    let keys = keys::load_or_make(&*store, &*env.random).await?;
    let queue = Queue::open(config, &engine, &mut registry, env).await?;
    Ok(Loaded { backend, store, engine, keys, queue, registry })
}

fn probes(readiness: watch::Receiver<Readiness>) -> Router {
    Router::new()
        .route("/healthz", get(readiness::healthz))
        .route("/readyz", get(move || readiness::readyz(readiness.clone())))
}
