//! Joining a cluster: the session, the metadata keyspace and its layout.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use env::Env;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::DefaultPolicy;
use store::{Error, ErrorKind, Result};

use crate::cluster::Cluster;
use crate::datacenter::{local_datacenter, replication};
use crate::failure::unreadable;
use crate::hedge::Hedges;
use crate::look::{self, Layout, Rights};
use crate::names::Names;
use crate::profiles::Profiles;
use crate::replicas::{Replicas, Voters};
use crate::retry::Task;
use crate::schema::{self, LAYOUT_VERSION};
use crate::statements::Lazy;
use crate::transaction::{self, Turn};
use crate::warnings::Warnings;
use crate::{Options, Tls, refusal};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A node that hangs closes no connection. So each is asked this often whether it is there, and has this long to answer;
/// then nothing more is sent to it. Together no longer than `retry` is patient, and longer than a node collects garbage.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long all nodes may take to agree on a schema, and how often they are asked.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(30);
const AGREEMENT_INTERVAL: Duration = Duration::from_millis(25);
/// The only row of the table `layout`.
pub(crate) const LAYOUT_PART: &str = "all";

/// Joins the cluster and makes sure that the metadata is there, in a layout that this version knows.
///
/// Fails as unavailable only while nobody answers: whatever else fails does so again until somebody changes something.
pub(crate) async fn connect(options: &Options, env: Env) -> Result<Cluster> {
    options.check()?;
    let session = open(options).await?;
    let local = local_datacenter(options, &session)?;
    let replication = replication(options, &local)?;
    let mut cluster = Cluster {
        env,
        // Until the replicas of the metadata are known. Nothing is decided before.
        profiles: Profiles::new(&local.name, Voters::All),
        names: Names::new(&options.keyspace_prefix),
        hedges: Hedges::default(),
        replication,
        warnings: Warnings::default(),
        session,
    };
    let user = options.credentials.as_ref().map(|credentials| credentials.user.as_str());
    let prepared = prepare(&mut cluster, user).await;
    prepared.map_err(|error| refusal::of_joining(user, error))?;
    Ok(cluster)
}

/// Looks first and makes what is missing then: where we may not, or in another layout, nothing is touched.
async fn prepare(cluster: &mut Cluster, user: Option<&str>) -> Result<()> {
    let (session, keyspace) = (&cluster.session, cluster.names.metadata());
    let local = Arc::clone(&cluster.profiles.datacenter);
    if let Rights::Missing(missing) = look::rights(session, &cluster.names, user).await?
        && let Some(first) = missing.first()
    {
        let user = user.unwrap_or_default();
        return Err(Error::invalid(format!(
            "user {user} lacks {}; as a superuser, run {}",
            first.what, first.grant
        )));
    }
    let found = look::tables(session, &keyspace).await?;
    // Whoever made them may not have waited until every node knows them.
    session.await_schema_agreement().await.map_err(|error| {
        let message = format!("the nodes do not agree on their schema ({error}); try again");
        Error::new(ErrorKind::Unavailable, message).caused_by(error)
    })?;
    // First of all: without a replica at home nobody answers what is asked of it.
    if let Some(replicas) = look::replicas(session, &keyspace).await? {
        replicas.voters(&keyspace, &local)?;
    }
    check_found(&keyspace, look::layout(session, &keyspace, &found).await?)?;
    if found.is_empty() {
        let text = schema::keyspace(&keyspace, &cluster.replication);
        cluster.define("make the metadata keyspace", None, text).await?;
    }
    // Somebody else may have made it meanwhile, with other replicas than ours: those that are there count.
    let replicas = look::replicas(session, &keyspace).await?.ok_or_else(|| {
        let message = format!("keyspace {keyspace} was dropped by somebody while we joined; try again");
        Error::new(ErrorKind::Unavailable, message)
    })?;
    let voters = replicas.voters(&keyspace, &local)?;
    tell_other_replicas(&keyspace, &replicas, &cluster.replication);
    cluster.profiles = Profiles::new(&local, voters);
    make_tables(cluster, &keyspace, &found).await
}

/// Settings that say something else are no reason not to serve; `braid doctor` says what to do.
fn tell_other_replicas(keyspace: &str, found: &Replicas, wanted: &BTreeMap<String, usize>) {
    if !found.are(wanted) {
        let wanted = Replicas::ByDatacenter(wanted.clone());
        tracing::warn!("keyspace {keyspace} has other replicas ({found}) than the settings name ({wanted})");
    }
}

/// Makes the tables of the metadata that were not found.
async fn make_tables(cluster: &Cluster, keyspace: &str, found: &[String]) -> Result<()> {
    let [layout, tables, records, histograms] = schema::metadata_tables(keyspace);
    let all =
        [("layout", layout), ("tables", tables), ("records", records), ("partition_histograms", histograms)];
    for (name, text) in all {
        // In another layout, which somebody may have made since we looked, nothing more is made.
        if !found.iter().any(|found| found == name) {
            cluster.define(&format!("make the table {name}"), None, text).await?;
        }
        if name == "layout" {
            cluster.session.refresh_metadata().await.map_err(|error| {
                let message = format!("Cassandra does not tell its keyspaces ({error}); try again");
                Error::new(ErrorKind::Unavailable, message).caused_by(error)
            })?;
            check_layout(cluster).await?;
        }
    }
    Ok(())
}

/// Refuses what another version, or somebody else, made.
fn check_found(keyspace: &str, found: Layout) -> Result<()> {
    let message = match found {
        Layout::NotMade | Layout::Version(LAYOUT_VERSION) => return Ok(()),
        Layout::Version(version) => return Err(other_layout(keyspace, version)),
        Layout::Foreign => {
            format!("keyspace {keyspace} has tables and none of them is Braid's; set another keyspace_prefix")
        }
    };
    Err(Error::new(ErrorKind::Corrupt, message))
}

fn other_layout(keyspace: &str, version: i32) -> Error {
    let message = format!(
        "keyspace {keyspace} has layout version {version}, this server knows {LAYOUT_VERSION}; \
         run the version that wrote it, or set another keyspace_prefix"
    );
    Error::new(ErrorKind::Corrupt, message)
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
    let encryption = options.tls.as_ref().map(Tls::config).transpose()?;
    if let Some(encryption) = &encryption {
        builder = builder.tls_context(Some(Arc::clone(&encryption.config)));
    }
    // What has no profile of its own is asked at home too.
    if let Some(datacenter) = &options.local_datacenter {
        let routing = DefaultPolicy::builder().prefer_datacenter(datacenter.clone()).build();
        let profile = ExecutionProfile::builder().load_balancing_policy(routing).build();
        builder = builder.default_execution_profile_handle(profile.into_handle());
    }
    builder.build().await.map_err(|error| {
        let asked = encryption.is_some_and(|encryption| encryption.was_asked());
        refusal::of_session(options, asked, error)
    })
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
            Some((version,)) => return Err(other_layout(&keyspace, version)),
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
