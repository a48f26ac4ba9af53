//! Stores on the node, with the settings of every test that has no others.

use store_cassandra::CassandraStore;
use tokio::sync::OnceCell;

use crate::node::{connect_with, options};

/// The store that tests share.
pub(crate) async fn store() -> CassandraStore {
    static SHARED: OnceCell<CassandraStore> = OnceCell::const_new();
    SHARED.get_or_init(connect).await.clone()
}

/// Another store on the same keyspaces, as another server has.
pub(crate) async fn connect() -> CassandraStore {
    connect_with(options().await).await.unwrap()
}
