//! A joined cluster: what every part of the store runs its statements through.

use std::collections::BTreeMap;
use std::sync::Arc;

use env::Env;
use model::TableRef;
use scylla::client::session::Session;
use scylla::cluster::Node;
use scylla::errors::ExecutionError;
use scylla::response::query_result::QueryRowsResult;
use scylla::serialize::row::SerializeRow;
use scylla::statement::Statement;
use scylla::statement::prepared::PreparedStatement;
use store::Result;

use crate::failure::unreadable;
use crate::hedge::Hedges;
use crate::names::Names;
use crate::profiles::Profiles;
use crate::retry::{self, Task};
use crate::statements::Lazy;
use crate::warnings::Warnings;

/// A session and what belongs to it.
pub(crate) struct Cluster {
    pub(crate) env: Env,
    pub(crate) session: Session,
    pub(crate) profiles: Profiles,
    pub(crate) names: Names,
    /// Second attempts of reads that take long.
    pub(crate) hedges: Hedges,
    /// Replicas of what is made here.
    pub(crate) replication: BTreeMap<String, usize>,
    /// What came with answers.
    pub(crate) warnings: Warnings,
}

impl Cluster {
    /// Whether a data centre has nodes that do not hold a given partition.
    pub(crate) fn has_more_nodes_than_replicas(&self) -> bool {
        let state = self.session.get_cluster_state();
        let nodes = |datacenter: &str| {
            let of = state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref());
            of.filter(|of| *of == datacenter).count()
        };
        self.replication.iter().any(|(datacenter, replicas)| nodes(datacenter) > *replicas)
    }

    /// The nodes of the local data centre: those of others hold copies of the same and are not asked.
    pub(crate) fn local_nodes(&self) -> Vec<Arc<Node>> {
        let state = self.session.get_cluster_state();
        let local = Some(&*self.profiles.datacenter);
        let nodes = state.get_nodes_info().iter();
        nodes.filter(|node| node.datacenter.as_deref() == local).cloned().collect()
    }

    /// A statement, ready to be run.
    pub(crate) async fn prepared<'a>(
        &self,
        statement: &'a Lazy,
        table: Option<&TableRef>,
    ) -> Result<&'a PreparedStatement> {
        statement.prepared(&self.env, &self.session, table).await
    }

    /// Reads an answer that is known to be small, whole.
    pub(crate) async fn small(
        &self,
        task: Task<'_>,
        statement: &Lazy,
        values: &(impl SerializeRow + Sync),
    ) -> Result<QueryRowsResult> {
        let statement = self.prepared(statement, task.table).await?;
        let found =
            retry::idempotent(&self.env, task, || self.session.execute_unpaged(statement, values)).await?;
        found.into_rows_result().map_err(|error| unreadable(&format!("answer to {}", task.what), error))
    }

    /// A statement that is run now and then, of which nobody waits for the answer.
    pub(crate) fn sweep(&self, text: &str) -> Statement {
        let mut statement = Statement::new(text);
        statement.set_execution_profile_handle(Some(self.profiles.sweeping.clone()));
        statement
    }

    /// Changes the schema, by a statement that may be sent twice, and waits until all nodes agree on it.
    pub(crate) async fn define(&self, what: &str, table: Option<&TableRef>, text: String) -> Result<()> {
        let mut statement = Statement::new(text);
        statement.set_execution_profile_handle(Some(self.profiles.metadata.clone()));
        let task = Task { what, table, writes: true };
        let run = || async {
            self.session.query_unpaged(statement.clone(), ()).await.map(drop)?;
            // Also where nothing changed: whoever changed it may not have waited.
            self.session.await_schema_agreement().await.map(drop).map_err(ExecutionError::from)
        };
        retry::idempotent(&self.env, task, run).await
    }
}
