//! The server of a demo: one of its own in a fresh directory, or one that is already there.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use env::{Env, blocking, fresh_id};
use rpc::client::Client;
use server::Server;
use server::config::{Config, Server as Listen, Store};

use crate::failure::Failure;

/// Where a demo runs.
pub(crate) enum Host {
    /// A server in this process, with its data.
    Own(Box<Server>, PathBuf),
    /// One that was there before and stays.
    Given,
}

impl Host {
    /// Starts a server with nothing in it, on any free port of this machine.
    pub(crate) async fn start(env: &Env) -> Result<(Self, Client), Failure> {
        let data = std::env::temp_dir().join(format!("braid-demo-{}", fresh_id(&*env.random)));
        let config = Config {
            server: Listen { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..Listen::default() },
            store: Store { data: data.clone(), ..Store::default() },
            ..Config::default()
        };
        let server = match Box::pin(Server::start(config, env.clone())).await {
            Ok(server) => server,
            Err(error) => {
                remove(env, data).await?;
                return Err(Failure::Other(error.to_string()));
            }
        };
        let client = Client::new(&server.address().to_string())?;
        Ok((Self::Own(Box::new(server), data), client))
    }

    /// Where its data is; none where that is not ours to know.
    pub(crate) fn data(&self) -> Option<String> {
        match self {
            Self::Own(_, data) => Some(data.display().to_string()),
            Self::Given => None,
        }
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
        let Self::Own(server, data) = self else { return Ok(()) };
        Box::pin(server.stop()).await;
        if keep {
            return Ok(());
        }
        remove(env, data).await
    }
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
