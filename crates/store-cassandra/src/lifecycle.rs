//! Making and dropping tables, with any number of servers at it.
//!
//! Cassandra cannot make a table under a condition: two that make one at once draw two ids and fall out. So whoever
//! comes first draws the id and writes it into the table's row; everybody then makes the table with that id, which is
//! the same statement however often it is sent. Any server can finish what another began and died over.
//!
//! One hole is left, since a table cannot be dropped by its id: a server that stalls between seeing the old id and
//! dropping the name could drop a table that two others dropped and made again in those milliseconds.

use env::fresh_id;
use model::TableRef;
use scylla::value::CqlValue;
use store::{Error, ErrorKind, Result, Storage, TableOutcome};
use tokio::sync::Mutex;

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::registry::{Entry, Registry, State};
use crate::retry::{self, Task};
use crate::schema;
use crate::statements::Lazy;
use crate::storage;
use crate::transaction::{self, Turn};

/// Makes and drops tables.
pub(crate) struct Lifecycle {
    registry: Registry,
    schema_id: Lazy,
    tables_max: usize,
    /// Cassandra changes its schema one step at a time anyway, and transactions of one process need not compete.
    one_at_a_time: Mutex<()>,
}

impl Lifecycle {
    /// For at most so many tables.
    pub(crate) fn new(cluster: &Cluster, tables_max: usize) -> Self {
        let text = "SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
        Self {
            registry: Registry::new(cluster),
            schema_id: Lazy::new(&cluster.profiles.metadata, text.to_owned()),
            tables_max,
            one_at_a_time: Mutex::new(()),
        }
    }

    /// The tables that are there, in the order of their names.
    pub(crate) async fn list(&self, cluster: &Cluster) -> Result<Vec<TableRef>> {
        let all = self.registry.list(cluster).await?;
        Ok(all.into_iter().filter(|(_, state)| *state == State::Live).map(|(table, _)| table).collect())
    }

    /// Whether a table is there, whatever a node of the cluster says.
    pub(crate) async fn is_live(&self, cluster: &Cluster, table: &TableRef) -> Result<bool> {
        Ok(self.registry.get(cluster, table).await?.is_some_and(|entry| entry.state == State::Live))
    }

    /// Makes a table.
    pub(crate) async fn create(
        &self,
        cluster: &Cluster,
        table: &TableRef,
        storage: &Storage,
    ) -> Result<TableOutcome> {
        cluster.names.keyspace(table)?;
        let _alone = self.one_at_a_time.lock().await;
        let stamp = cluster.env.random.next_u64().cast_signed();
        for attempt in 0..transaction::ATTEMPTS_MAX {
            let turn = match self.registry.get(cluster, table).await? {
                None => {
                    self.check_room(cluster).await?;
                    let bits = u128::from_str_radix(&fresh_id(&*cluster.env.random), 16).unwrap_or_default();
                    self.registry.claim(cluster, table, &schema::uuid(bits), stamp).await?
                }
                // Somebody moved it there; it was us if no answer came and our stamp is in it.
                Some(Entry { state: State::Live, stamp: found, .. }) if found == stamp => {
                    return Ok(TableOutcome::Done);
                }
                Some(Entry { state: State::Live, .. }) => return Ok(TableOutcome::Already),
                Some(entry @ Entry { state: State::Making, .. }) => {
                    self.make(cluster, table, storage, &entry.id).await?;
                    match self.registry.advance(cluster, table, &entry, (State::Live, stamp)).await? {
                        Turn::Applied => return Ok(TableOutcome::Done),
                        turn => turn,
                    }
                }
                Some(Entry { state: State::Dropping, id, .. }) => {
                    self.finish_drop(cluster, table, &id).await?
                }
            };
            settle(cluster, turn, attempt).await;
        }
        Err(contended(table))
    }

    /// Drops a table.
    pub(crate) async fn drop(&self, cluster: &Cluster, table: &TableRef) -> Result<TableOutcome> {
        cluster.names.keyspace(table)?;
        let _alone = self.one_at_a_time.lock().await;
        let stamp = cluster.env.random.next_u64().cast_signed();
        // The table that we were asked to drop; one that others make under its name meanwhile is not ours to touch.
        let mut asked: Option<String> = None;
        let mut outcome = TableOutcome::Already;
        for attempt in 0..transaction::ATTEMPTS_MAX {
            let Some(entry) = self.registry.get(cluster, table).await? else {
                return Ok(outcome);
            };
            if asked.get_or_insert_with(|| entry.id.clone()) != &entry.id {
                return Ok(outcome);
            }
            let turn = if entry.state == State::Dropping {
                if entry.stamp == stamp {
                    outcome = TableOutcome::Done;
                }
                match self.finish_drop(cluster, table, &entry.id).await? {
                    Turn::Applied | Turn::Refused => return Ok(outcome),
                    turn => turn,
                }
            } else {
                let turn = self.registry.advance(cluster, table, &entry, (State::Dropping, stamp)).await?;
                // Without an answer it may be somebody else who dropped it. It is gone, as we asked.
                if !matches!(turn, Turn::Refused) {
                    outcome = TableOutcome::Done;
                }
                turn
            };
            settle(cluster, turn, attempt).await;
        }
        Err(contended(table))
    }

    async fn check_room(&self, cluster: &Cluster) -> Result<()> {
        let max = self.tables_max;
        if self.registry.list(cluster).await?.len() < max {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "there are {max} tables already; shorten retention, widen slices or raise [store] max_tables"
        )))
    }

    /// Makes the table in the schema, with this id and no other.
    async fn make(&self, cluster: &Cluster, table: &TableRef, storage: &Storage, id: &str) -> Result<()> {
        let keyspace = cluster.names.keyspace(table)?;
        if cluster.session.get_cluster_state().get_keyspace(&keyspace).is_none() {
            make_keyspace(cluster, &keyspace).await?;
        }
        // One that was being made while its row was removed: nobody can have written to it.
        if self.id_in_schema(cluster, table).await?.is_some_and(|found| found != id) {
            drop_in_schema(cluster, table).await?;
        }
        let text = schema::data_table(&cluster.names.table(table)?, id) + &storage::options(storage);
        match cluster.define("make a table", Some(table), text.clone()).await {
            // The keyspace was known and is gone.
            Err(error) if error.kind() == ErrorKind::NoTable => {
                make_keyspace(cluster, &keyspace).await?;
                cluster.define("make a table", Some(table), text).await
            }
            made => made,
        }
    }

    /// Drops the table with this id from the schema, then its row.
    async fn finish_drop(&self, cluster: &Cluster, table: &TableRef, id: &str) -> Result<Turn> {
        if self.id_in_schema(cluster, table).await?.is_some_and(|found| found == id) {
            drop_in_schema(cluster, table).await?;
        }
        self.registry.remove(cluster, table, id).await
    }

    async fn id_in_schema(&self, cluster: &Cluster, table: &TableRef) -> Result<Option<String>> {
        let keyspace = cluster.names.keyspace(table)?;
        let task = Task { what: "look into the schema", table: None, writes: false };
        let rows = cluster.small(task, &self.schema_id, &(keyspace.as_str(), table.name.as_str())).await?;
        let row = rows.maybe_first_row::<(CqlValue,)>().map_err(|error| unreadable("schema", error))?;
        Ok(row.and_then(|(id,)| id.as_uuid()).map(|id| id.to_string()))
    }
}

async fn make_keyspace(cluster: &Cluster, keyspace: &str) -> Result<()> {
    let text = schema::keyspace(keyspace, &cluster.replication);
    cluster.define("make a keyspace", None, text).await?;
    // The driver routes by the replicas of a keyspace. If it does not learn them now, it does within a minute.
    if let Err(error) = cluster.session.refresh_metadata().await {
        tracing::debug!(%error, keyspace, "the driver does not know a new keyspace yet");
    }
    Ok(())
}

async fn drop_in_schema(cluster: &Cluster, table: &TableRef) -> Result<()> {
    let text = format!("DROP TABLE IF EXISTS {}", cluster.names.table(table)?);
    match cluster.define("drop a table", Some(table), text).await {
        // Its keyspace is gone, and it with it.
        Err(error) if error.kind() == ErrorKind::NoTable => Ok(()),
        done => done,
    }
}

/// Lets others come first where no answer came; the next look tells how it ended.
async fn settle(cluster: &Cluster, turn: Turn, attempt: u32) {
    if matches!(turn, Turn::Unclear(_)) {
        retry::back_off(&cluster.env, attempt).await;
    }
}

fn contended(table: &TableRef) -> Error {
    let message =
        format!("table `{table}` is being made and dropped by others, or the cluster is busy; try again");
    Error::new(ErrorKind::Unknown, message)
}
