//! Which tables exist: one row each, changed by transactions only.
//!
//! The row is the truth; the schema follows it. All rows lie in one partition, so that one serial read lists them in
//! the order of their names.

use model::{NamespaceName, TableName, TableRef};
use store::{Error, ErrorKind, Result};

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::retry::Task;
use crate::statements::Lazy;
use crate::transaction::{self, Turn};

/// The partition that holds all rows.
const PART: &str = "all";

/// How far a table has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Somebody is making it; whoever comes by finishes.
    Making,
    /// It is there.
    Live,
    /// Somebody is dropping it; whoever comes by finishes.
    Dropping,
}

impl State {
    const fn text(self) -> &'static str {
        match self {
            Self::Making => "making",
            Self::Live => "live",
            Self::Dropping => "dropping",
        }
    }

    fn from_text(text: &str) -> Result<Self> {
        [Self::Making, Self::Live, Self::Dropping].into_iter().find(|state| state.text() == text).ok_or_else(
            || {
                let message = format!("a table has the state `{text}`; a newer version may have written it");
                Error::new(ErrorKind::Corrupt, message)
            },
        )
    }
}

/// A table as its row tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its id in the schema: another one under the same name is another table.
    pub(crate) id: String,
    pub(crate) state: State,
    /// Drawn by whoever moved it to this state.
    pub(crate) stamp: i64,
}

/// The rows.
pub(crate) struct Registry {
    list: Lazy,
    get: Lazy,
    claim: Lazy,
    advance: Lazy,
    remove: Lazy,
}

type Key<'a> = (&'static str, &'a str, i64, &'a str);

fn key(table: &TableRef) -> Key<'_> {
    (PART, table.namespace.as_str(), i64::from(table.incarnation), table.name.as_str())
}

impl Registry {
    /// The rows in the metadata keyspace of `cluster`.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let (table, profiles) = (format!("\"{}\".tables", cluster.names.metadata()), &cluster.profiles);
        let whose = "WHERE part = ? AND namespace = ? AND incarnation = ? AND name = ?";
        let insert = format!(
            "INSERT INTO {table} (part, namespace, incarnation, name, id, state, stamp) \
             VALUES (?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS"
        );
        Self {
            list: Lazy::serial(
                profiles,
                format!("SELECT namespace, incarnation, name, state FROM {table} WHERE part = ?"),
            ),
            get: Lazy::serial(profiles, format!("SELECT id, state, stamp FROM {table} {whose}")),
            claim: Lazy::conditional(profiles, insert),
            advance: Lazy::conditional(
                profiles,
                format!("UPDATE {table} SET state = ?, stamp = ? {whose} IF id = ? AND state = ?"),
            ),
            remove: Lazy::conditional(
                profiles,
                format!("DELETE FROM {table} {whose} IF id = ? AND state = ?"),
            ),
        }
    }

    /// All tables with their states, in the order of their names.
    pub(crate) async fn list(&self, cluster: &Cluster) -> Result<Vec<(TableRef, State)>> {
        let task = Task { what: "list tables", table: None, writes: false };
        let rows = cluster.small(task, &self.list, &(PART,)).await?;
        let rows =
            rows.rows::<(&str, i64, &str, &str)>().map_err(|error| unreadable("list of tables", error))?;
        rows.map(|row| {
            let (namespace, incarnation, name, state) =
                row.map_err(|error| unreadable("list of tables", error))?;
            let incarnation =
                u32::try_from(incarnation).map_err(|error| unreadable("list of tables", error))?;
            let table = TableRef {
                namespace: NamespaceName::new(namespace)?,
                incarnation,
                name: TableName::new(name)?,
            };
            Ok((table, State::from_text(state)?))
        })
        .collect()
    }

    /// The row of a table.
    pub(crate) async fn get(&self, cluster: &Cluster, table: &TableRef) -> Result<Option<Entry>> {
        let task = Task { what: "look up a table", table: None, writes: false };
        let rows = cluster.small(task, &self.get, &key(table)).await?;
        let row = rows
            .maybe_first_row::<(&str, &str, i64)>()
            .map_err(|error| unreadable("row of a table", error))?;
        row.map(|(id, state, stamp)| Ok(Entry { id: id.to_owned(), state: State::from_text(state)?, stamp }))
            .transpose()
    }

    /// Begins to make a table, unless it has a row.
    pub(crate) async fn claim(
        &self,
        cluster: &Cluster,
        table: &TableRef,
        id: &str,
        stamp: i64,
    ) -> Result<Turn> {
        let (part, namespace, incarnation, name) = key(table);
        let values = (part, namespace, incarnation, name, id, State::Making.text(), stamp);
        transaction::run(cluster, "claim a table", &self.claim, &values).await
    }

    /// Moves a table on, unless somebody else did.
    pub(crate) async fn advance(
        &self,
        cluster: &Cluster,
        table: &TableRef,
        from: &Entry,
        to: (State, i64),
    ) -> Result<Turn> {
        let (part, namespace, incarnation, name) = key(table);
        let (state, stamp) = to;
        let values = (state.text(), stamp, part, namespace, incarnation, name, &from.id, from.state.text());
        transaction::run(cluster, "move a table on", &self.advance, &values).await
    }

    /// Removes the row of a table that is dropped, unless somebody else did.
    pub(crate) async fn remove(&self, cluster: &Cluster, table: &TableRef, id: &str) -> Result<Turn> {
        let (part, namespace, incarnation, name) = key(table);
        let values = (part, namespace, incarnation, name, id, State::Dropping.text());
        transaction::run(cluster, "forget a table", &self.remove, &values).await
    }
}
