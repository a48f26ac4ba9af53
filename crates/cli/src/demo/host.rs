//! The server of a demo: one of its own with a store of its own, or one that is already there.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use env::{Env, blocking, fresh_id};
use rpc::client::Client;
use server::Server;
use server::config::{self, Config, Flags};

use crate::commands::serve::load;
use crate::failure::Failure;

/// Keyspaces of a demo begin with it, and with a few letters of its own behind.
const PREFIX: &str = "demo";
/// So many letters are left for those.
const PREFIX_OWN_CHARS: usize = 6;

/// Where the events of a demo are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Backend {
    /// In a temporary directory
    #[default]
    Embedded,
    /// In the Cassandra cluster of the settings
    Cassandra,
}

/// How the demo's server hears of what its reads have found wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Queue {
    /// Through the store itself
    #[default]
    Embedded,
    /// Through the Kafka of the settings
    Kafka,
}

/// Where a demo runs.
pub(crate) enum Host {
    /// A server in this process, with its settings.
    Own(Box<Server>, Box<Config>),
    /// One that was there before and stays.
    Given,
}

impl Host {
    /// Starts a server with nothing in it, on any free port of this machine.
    pub(crate) async fn start(env: &Env, backend: Backend, queue: Queue) -> Result<(Self, Client), Failure> {
        let config = config(env, backend, queue)?;
        let server = match Box::pin(Server::start(config.clone(), env.clone())).await {
            Ok(server) => server,
            Err(error) => {
                // Of a cluster that does not answer nothing can be removed, and the first error says why.
                if backend == Backend::Embedded {
                    remove(env, config.store.data).await?;
                }
                return Err(Failure::Other(error.to_string()));
            }
        };
        let client = Client::new(&server.address().to_string())?;
        Ok((Self::Own(Box::new(server), Box::new(config)), client))
    }

    /// Where its data is; none where that is not ours to know.
    pub(crate) fn data(&self) -> Option<String> {
        match self {
            Self::Own(_, config) => Some(config.store.place()),
            Self::Given => None,
        }
    }

    /// How detections travel in it; none where that is not ours to know.
    pub(crate) fn queue(&self) -> Option<String> {
        let Self::Own(_, config) = self else { return None };
        Some(match config.queue.backend {
            config::QueueBackend::Embedded => "the store itself".to_owned(),
            config::QueueBackend::Kafka => {
                let kafka = &config.queue.kafka;
                format!("Kafka at {}, topic {}", kafka.bootstrap_servers.join(","), kafka.topic)
            }
        })
    }

    /// The command that serves its data again; none where that is not ours to know.
    pub(crate) fn again(&self) -> Option<String> {
        let Self::Own(_, config) = self else { return None };
        Some(match config.store.backend {
            config::Backend::Embedded => format!("braid serve --data {}", config.store.data.display()),
            config::Backend::Cassandra => format!(
                "BRAID__STORE__BACKEND=cassandra BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX={} braid serve",
                config.store.cassandra.keyspace_prefix
            ),
        })
    }

    /// Its address; none where somebody else started it.
    pub(crate) fn address(&self) -> Option<String> {
        match self {
            Self::Own(server, _) => Some(format!("http://{}", server.address())),
            Self::Given => None,
        }
    }

    /// Stops the server if it is our own, and removes its data unless it is to be kept.
    pub(crate) async fn end(self, env: &Env, keep: bool) -> Result<(), Failure> {
        let Self::Own(server, config) = self else { return Ok(()) };
        Box::pin(server.stop()).await;
        // Detections are of no use without the server: a later read finds what they told of.
        let dropped = server::drop_topics(&config, env).await;
        dropped.map_err(|error| Failure::Other(error.to_string()))?;
        match config.store.backend {
            _ if keep => Ok(()),
            config::Backend::Embedded => remove(env, config.store.data).await,
            config::Backend::Cassandra => {
                let failed = |error: server::Error| {
                    let prefix = &config.store.cassandra.keyspace_prefix;
                    Failure::Other(format!(
                        "cannot drop the keyspaces {prefix}_*: {error}; drop them by hand"
                    ))
                };
                server::drop_keyspaces(&config, env).await.map_err(failed)
            }
        }
    }
}

/// Settings with a place for the data that nobody else has. How to reach a cluster is the operator's to say.
fn config(env: &Env, backend: Backend, queue: Queue) -> Result<Config, Failure> {
    let id = fresh_id(&*env.random);
    let mut config = Config::default();
    config.server.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    match backend {
        Backend::Embedded => config.store.data = std::env::temp_dir().join(format!("braid-demo-{id}")),
        Backend::Cassandra => {
            config.store.backend = config::Backend::Cassandra;
            config.store.cassandra = load(&Flags::default())?.config.store.cassandra;
            let own: String = id.chars().take(PREFIX_OWN_CHARS).collect();
            config.store.cassandra.keyspace_prefix = format!("{PREFIX}{own}");
        }
    }
    if queue == Queue::Kafka {
        config.queue = load(&Flags::default())?.config.queue;
        config.queue.backend = config::QueueBackend::Kafka;
        let kafka = &mut config.queue.kafka;
        (kafka.topic, kafka.group) = (format!("braid-demo-{id}"), format!("braid-demo-{id}"));
    }
    Ok(config)
}

async fn remove(env: &Env, data: PathBuf) -> Result<(), Failure> {
    let shown = data.display().to_string();
    let removed = blocking(&*env.spawn, move || match std::fs::remove_dir_all(data) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    });
    let problem = match removed.await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Failure::Other(format!("cannot remove {shown}: {problem}; remove it by hand")))
}
