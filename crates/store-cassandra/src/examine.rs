//! What a cluster looks like to a server with certain settings, as data. Nothing is made or changed, and nothing is
//! judged: that is for whoever shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use scylla::client::session::Session;
use scylla::cluster::Node as DriverNode;
use scylla::statement::Statement;
use store::Result;

use crate::connect::open;
use crate::datacenter::{local_datacenter, replication};
use crate::failure::unreadable;
use crate::look::{self, Layout, Rights, question};
use crate::names::Names;
use crate::one_node::only_at;
use crate::replicas::Replicas;
use crate::{Options, rights};

/// Nodes that are asked at a time.
const NODES_AT_ONCE: usize = 16;

/// A cluster as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Every node that the cluster knows.
    pub nodes: Vec<Node>,
    /// The data centre that a server with these settings is in.
    pub datacenter: String,
    /// Replicas of what it would make, by data centre.
    pub replication: BTreeMap<String, usize>,
    /// Who it is there, if anybody.
    pub user: Option<String>,
    /// What that user may do.
    pub rights: Rights,
    /// The metadata keyspace.
    pub keyspace: String,
    /// The replicas that it has; none while it is not there.
    pub replicas: Option<Replicas>,
    /// Its layout; none where we may not look, and where no replica could answer.
    pub layout: Option<Layout>,
    /// Tables that were made; none where the layout is not known.
    pub tables: Option<usize>,
    /// Tables that may be made.
    pub tables_max: usize,
}

impl Examined {
    /// The statement that lets our user look at the settings of nodes.
    pub fn settings_grant(&self) -> Option<String> {
        let user = self.user.as_deref()?;
        Some(rights::grant("SELECT", "<keyspace system_views>", user))
    }
}

/// A node as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its address, with its port.
    pub address: String,
    /// Its data centre, where that is known.
    pub datacenter: String,
    /// Its release; none where it does not answer.
    pub release: Option<String>,
    /// Whether it keeps a snapshot of what is dropped; none where it does not tell.
    pub auto_snapshot: Option<bool>,
    /// When it puts what it acknowledges on its disk, in Cassandra's word; none where it does not tell.
    pub commitlog_sync: Option<String>,
}

/// Looks at the cluster of `options`.
///
/// Fails as [`CassandraStore::connect`](crate::CassandraStore::connect) does where nobody answers or we are not let in.
pub async fn examine(options: &Options) -> Result<Examined> {
    options.check()?;
    let session = open(options).await?;
    let local = local_datacenter(options, &session)?;
    let replication = replication(options, &local)?;
    let names = Names::new(&options.keyspace_prefix);
    let user = options.credentials.as_ref().map(|credentials| credentials.user.clone());
    let rights = look::rights(&session, &names, user.as_deref()).await?;
    let keyspace = names.metadata();
    let (mut layout, mut tables) = (None, None);
    let replicas = look::replicas(&session, &keyspace).await?;
    let away = replicas.as_ref().is_some_and(|replicas| replicas.has_none_in(&local.name));
    if !matches!(rights, Rights::Missing(_)) && !away {
        let found = look::tables(&session, &keyspace).await?;
        layout = Some(look::layout(&session, &keyspace, &found).await?);
        tables = match found.iter().any(|table| table == "tables") {
            true => Some(count(&session, &keyspace).await?),
            false => Some(0),
        };
    }
    let known = session.get_cluster_state().get_nodes_info().to_vec();
    let asked = known.into_iter().map(|node| ask(&session, node));
    Ok(Examined {
        nodes: futures::stream::iter(asked).buffered(NODES_AT_ONCE).collect().await,
        datacenter: local.name,
        replication,
        user,
        rights,
        keyspace,
        replicas,
        layout,
        tables,
        tables_max: options.tables_max,
    })
}

async fn count(session: &Session, keyspace: &str) -> Result<usize> {
    let text = format!("SELECT COUNT(*) FROM \"{keyspace}\".tables WHERE part = 'all'");
    let answer = look::rows(session, "number of tables", question(text), ()).await?;
    let (count,) = answer.first_row::<(i64,)>().map_err(|error| unreadable("number of tables", error))?;
    usize::try_from(count).map_err(|error| unreadable("number of tables", error))
}

/// What a node tells of itself. One that does not answer is a finding, not a failure.
async fn ask(session: &Session, node: Arc<DriverNode>) -> Node {
    let own = |text: &str| only_at(&node, question(text));
    let setting = |name| format!("SELECT value FROM system_views.settings WHERE name = '{name}'");
    let (release, auto_snapshot, commitlog_sync) = futures::join!(
        text(session, own("SELECT release_version FROM system.local")),
        text(session, own(&setting("auto_snapshot"))),
        text(session, own(&setting("commitlog_sync"))),
    );
    Node {
        address: format!("{}:{}", node.address.ip(), node.address.port()),
        datacenter: node.datacenter.clone().unwrap_or_default(),
        release,
        auto_snapshot: auto_snapshot.and_then(|value| value.parse().ok()),
        commitlog_sync,
    }
}

async fn text(session: &Session, statement: Statement) -> Option<String> {
    let answer = look::rows(session, "settings", statement, ()).await.ok()?;
    answer.maybe_first_row::<(String,)>().ok()?.map(|(value,)| value)
}
