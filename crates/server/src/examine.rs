//! A look at the cluster that a server with certain settings would use, for whoever wants to know before it starts.

use env::Env;
pub use store_cassandra::{Examined, LAYOUT_VERSION, Layout, MissingRight, Node, Replicas, Rights};

use crate::config::{Backend, Config};
use crate::{Error, backend};

/// Looks at the cluster of `config`, as the server would see it, and makes nothing there. Nothing for the embedded store.
pub async fn examine(config: &Config, env: &Env) -> Result<Option<Examined>, Error> {
    match config.store.backend {
        Backend::Embedded => Ok(None),
        Backend::Cassandra => {
            let options = backend::options(config, env).await?;
            store_cassandra::examine(&options).await.map(Some).map_err(Error::Join)
        }
    }
}
