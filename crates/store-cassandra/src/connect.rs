//! Joining a cluster: the session, the local data centre, the metadata keyspace and its layout.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use env::Env;
use scylla::client::PoolSize;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use store::{Error, ErrorKind, Result};

use crate::Options;
use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::hedge::Hedges;
use crate::names::Names;
use crate::profiles::Profiles;
use crate::retry::Task;
use crate::schema::{self, LAYOUT_VERSION};
use crate::statements::Lazy;
use crate::transaction::{self, Turn};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A node that hangs closes no connection. So each is asked this often whether it is there, and has this long to answer;
/// then nothing more is sent to it. Together no longer than `retry` is patient, and longer than a node collects garbage.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long all nodes may take to agree on a schema, and how often they are asked.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(30);
const AGREEMENT_INTERVAL: Duration = Duration::from_millis(25);
/// Replicas where the settings name none and there are nodes enough.
const REPLICAS: usize = 3;
/// The only row of the table `layout`.
const LAYOUT_PART: &str = "all";

/// Joins the cluster and makes sure that the metadata is there, in a layout that this version knows.
pub(crate) async fn connect(options: &Options, env: Env) -> Result<Cluster> {
    options.check()?;
    let session = open(options).await?;
    let local = local_datacenter(options, &session)?;
    let replication = replication(options, &local);
    let cluster = Cluster {
        env,
        profiles: Profiles::new(&local.name, replication.len() > 1),
        names: Names::new(&options.keyspace_prefix),
        hedges: Hedges::default(),
        replication,
        session,
    };
    let keyspace = cluster.names.metadata();
    cluster
        .define("make the metadata keyspace", None, schema::keyspace(&keyspace, &cluster.replication))
        .await?;
    let [layout, tables, records] = schema::metadata_tables(&keyspace);
    cluster.define("make the table of the layout", None, layout).await?;
    cluster.session.refresh_metadata().await.map_err(|error| {
        let message = format!("Cassandra does not tell its keyspaces ({error}); try again");
        Error::new(ErrorKind::Unavailable, message).caused_by(error)
    })?;
    // Before anything else is made: in another layout nothing may be touched.
    check_layout(&cluster).await?;
    cluster.define("make the table of tables", None, tables).await?;
    cluster.define("make the table of records", None, records).await?;
    Ok(cluster)
}

/// A session with the cluster; nothing is made there.
pub(crate) async fn open(options: &Options) -> Result<Session> {
    let connections = NonZeroUsize::new(options.connections_per_node).unwrap_or(NonZeroUsize::MIN);
    let mut builder = SessionBuilder::new()
        .known_nodes(&options.contact_points)
        .pool_size(PoolSize::PerHost(connections))
        .connection_timeout(CONNECT_TIMEOUT)
        .keepalive_interval(ALIVE_INTERVAL)
        .keepalive_timeout(ALIVE_TIMEOUT)
        .schema_agreement_timeout(AGREEMENT_TIMEOUT)
        .schema_agreement_interval(AGREEMENT_INTERVAL)
        // Routing needs the replicas of a keyspace, not the columns of everybody's tables.
        .fetch_full_schema_metadata(false)
        .refresh_metadata_on_auto_schema_agreement(false);
    if let Some(credentials) = &options.credentials {
        builder = builder.user(&credentials.user, &credentials.password);
    }
    builder.build().await.map_err(|error| {
        let message = format!(
            "cannot join the Cassandra cluster at {} ({error}); check the contact points, user and password",
            options.contact_points.join(", ")
        );
        Error::new(ErrorKind::Unavailable, message).caused_by(error)
    })
}

/// The data centre that this process is in.
struct Datacenter {
    name: String,
    nodes: usize,
}

fn local_datacenter(options: &Options, session: &Session) -> Result<Datacenter> {
    let state = session.get_cluster_state();
    let of_nodes: Vec<&str> =
        state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref()).collect();
    let there: BTreeSet<&str> = of_nodes.iter().copied().collect();
    let name = choose(options.local_datacenter.as_deref(), &there)?;
    let nodes = of_nodes.iter().filter(|datacenter| **datacenter == name).count();
    Ok(Datacenter { name: name.to_owned(), nodes })
}

/// The one that was named, if it is there; else the only one.
fn choose<'a>(named: Option<&'a str>, there: &BTreeSet<&'a str>) -> Result<&'a str> {
    let list = || there.iter().copied().collect::<Vec<_>>().join(", ");
    match (named, there.first()) {
        (Some(name), _) if there.contains(name) => Ok(name),
        (None, Some(only)) if there.len() == 1 => Ok(only),
        (Some(name), _) => Err(Error::invalid(format!(
            "the cluster has no data centre `{name}`; set local_datacenter to one of: {}",
            list()
        ))),
        (None, _) => Err(Error::invalid(format!(
            "the cluster has several data centres; set local_datacenter to one of: {}",
            list()
        ))),
    }
}

fn replication(options: &Options, local: &Datacenter) -> BTreeMap<String, usize> {
    if options.replication.is_empty() {
        return [(local.name.clone(), local.nodes.clamp(1, REPLICAS))].into();
    }
    options.replication.clone()
}

/// The first server writes which layout this is; every other one compares.
async fn check_layout(cluster: &Cluster) -> Result<()> {
    let (keyspace, profiles) = (cluster.names.metadata(), &cluster.profiles);
    let read = Lazy::serial(profiles, format!("SELECT version FROM \"{keyspace}\".layout WHERE part = ?"));
    let claim = Lazy::conditional(
        profiles,
        format!("INSERT INTO \"{keyspace}\".layout (part, version) VALUES (?, ?) IF NOT EXISTS"),
    );
    let task = Task { what: "read the layout's version", table: None, writes: false };
    for attempt in 0..transaction::ATTEMPTS_MAX {
        let rows = cluster.small(task, &read, &(LAYOUT_PART,)).await?;
        let found = rows.maybe_first_row::<(i32,)>().map_err(|error| unreadable("layout", error))?;
        match found {
            Some((LAYOUT_VERSION,)) => return Ok(()),
            Some((version,)) => {
                let message = format!(
                    "keyspace {keyspace} has layout version {version}, this server knows {LAYOUT_VERSION}; \
                     run the version that wrote it, or set another keyspace_prefix"
                );
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            None => {
                let turn = transaction::run(
                    cluster,
                    "write the layout's version",
                    &claim,
                    &(LAYOUT_PART, LAYOUT_VERSION),
                )
                .await?;
                if let Turn::Unclear(_) = turn {
                    crate::retry::back_off(&cluster.env, attempt).await;
                }
            }
        }
    }
    Err(Error::new(
        ErrorKind::Unavailable,
        format!("keyspace {keyspace} does not take its layout's version; try again"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: Option<&str>, there: &[&str], expect: std::result::Result<&str, &str>) {
        let found = choose(named, &there.iter().copied().collect());
        assert_eq!(found.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
    }

    #[test]
    fn the_local_datacenter_is_the_named_or_the_only_one() {
        check(Some("a"), &["a", "b"], Ok("a"));
        check(None, &["a"], Ok("a"));
        check(
            Some("c"),
            &["b", "a"],
            Err("the cluster has no data centre `c`; set local_datacenter to one of: a, b"),
        );
        check(
            None,
            &["b", "a"],
            Err("the cluster has several data centres; set local_datacenter to one of: a, b"),
        );
    }

    #[test]
    fn replicas_follow_the_nodes_unless_they_are_named() {
        let of = |nodes, options: &Options| {
            replication(options, &Datacenter { name: "dc1".to_owned(), nodes })
                .into_values()
                .collect::<Vec<_>>()
        };
        let mut options = Options::default();
        assert_eq!([of(1, &options), of(3, &options), of(9, &options)], [[1], [3], [3]]);
        options.replication = [("dc1".to_owned(), 5), ("dc2".to_owned(), 2)].into();
        assert_eq!(of(1, &options), [5, 2]);
    }
}
