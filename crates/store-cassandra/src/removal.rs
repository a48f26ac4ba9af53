//! Everything of one installation gone: for demos and tests, which have a prefix of their own.

use store::{Error, ErrorKind, Result};

use crate::connect::open;
use crate::names::Names;
use crate::{Options, failure};

/// Drops every keyspace with the prefix of `options`: all namespaces, and the metadata last, so that a second attempt
/// finds what a first one left. Servers that use them fail from then on.
pub async fn drop_keyspaces(options: &Options) -> Result<()> {
    options.check()?;
    let session = open(options).await?;
    let failed = |what: &str, error: &(dyn std::error::Error + 'static)| {
        let message = format!("Cassandra failed to {what} ({error}); try again");
        Error::new(ErrorKind::Unavailable, message)
    };
    let found = session.query_unpaged("SELECT keyspace_name FROM system_schema.keyspaces", ()).await;
    let found = found.map_err(|error| failed("list keyspaces", &error))?;
    let found = found.into_rows_result().map_err(|error| failure::unreadable("list of keyspaces", error))?;
    let rows = found.rows::<(&str,)>().map_err(|error| failure::unreadable("list of keyspaces", error))?;
    let names = Names::new(&options.keyspace_prefix);
    let mut ours = Vec::new();
    for row in rows {
        let (name,) = row.map_err(|error| failure::unreadable("list of keyspaces", error))?;
        if names.owns(name) {
            ours.push(name.to_owned());
        }
    }
    ours.sort_by_key(|name| *name == names.metadata());
    for name in ours {
        let dropped = session.query_unpaged(format!("DROP KEYSPACE IF EXISTS \"{name}\""), ()).await;
        dropped.map_err(|error| failed(&format!("drop the keyspace {name}"), &error))?;
    }
    Ok(())
}
