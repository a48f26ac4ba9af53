//! Prepared statements: made when first used, kept per table, dropped with it.
//!
//! Prepared, so that the driver knows the partition key and asks a replica. The statements of a table that somebody
//! else dropped fail as that table does, and are forgotten then.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use env::Env;
use model::TableRef;
use scylla::client::execution_profile::ExecutionProfileHandle;
use scylla::client::session::Session;
use scylla::errors::ExecutionError;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, Statement};
use store::Result;
use tokio::sync::OnceCell;

use crate::names::Names;
use crate::page_rows::RowBytes;
use crate::profiles::Profiles;
use crate::retry::{self, Task};
use crate::schema::{PARTITION, ROW};

/// A statement that is prepared when it is first used.
pub(crate) struct Lazy {
    text: String,
    profile: ExecutionProfileHandle,
    /// A level of its own instead of the profile's.
    level: Option<Consistency>,
    /// Whether every answer has the same columns, so that the server need not send their names again.
    regular: bool,
    prepared: OnceCell<PreparedStatement>,
}

impl Lazy {
    /// A statement for the purpose that `profile` stands for.
    pub(crate) fn new(profile: &ExecutionProfileHandle, text: String) -> Self {
        Self { text, profile: profile.clone(), level: None, regular: true, prepared: OnceCell::new() }
    }

    /// A transaction: its answer has other columns where its condition does not hold.
    pub(crate) fn conditional(profiles: &Profiles, text: String) -> Self {
        Self { regular: false, ..Self::new(&profiles.metadata, text) }
    }

    /// The same, linearizable with the transactions on its partition.
    pub(crate) fn serial(profiles: &Profiles, text: String) -> Self {
        Self { level: Some(profiles.serial), ..Self::new(&profiles.metadata, text) }
    }

    /// The statement, ready to be run.
    pub(crate) async fn prepared(
        &self,
        env: &Env,
        session: &Session,
        table: Option<&TableRef>,
    ) -> Result<&PreparedStatement> {
        let task = Task { what: "prepare a statement", table, writes: false };
        let prepare = || async {
            retry::idempotent(env, task, || async {
                session.prepare(Statement::new(self.text.clone())).await.map_err(ExecutionError::from)
            })
            .await
            .map(|mut prepared| {
                prepared.set_execution_profile_handle(Some(self.profile.clone()));
                prepared.set_use_cached_result_metadata(self.regular);
                if let Some(level) = self.level {
                    prepared.set_consistency(level);
                }
                prepared
            })
        };
        self.prepared.get_or_try_init(prepare).await
    }
}

/// What is kept for one table.
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: TableRef,
    /// Writes one row.
    pub(crate) upsert: Lazy,
    /// Deletes a partition.
    pub(crate) delete: Lazy,
    /// Reads rows between two keys, newest first.
    pub(crate) newest_first: Lazy,
    /// The same, oldest first.
    pub(crate) oldest_first: Lazy,
    /// Both without values.
    pub(crate) newest_headers: Lazy,
    pub(crate) oldest_headers: Lazy,
    /// Reads one row or none: whether the table is there, and the token of a partition.
    pub(crate) touch: Lazy,
    /// Lists partitions from the start.
    pub(crate) partitions: Lazy,
    /// Lists partitions from a token on.
    pub(crate) partitions_from: Lazy,
    /// Reads everything, partition by partition.
    pub(crate) everything: Lazy,
    /// How large its rows are.
    pub(crate) row_bytes: RowBytes,
}

impl Table {
    fn new(name: &TableRef, names: &Names, profiles: &Profiles) -> Result<Self> {
        let table = names.table(name)?;
        let whose = "WHERE time_series_id = ? AND time_bucket = ? AND event_bucket = ?";
        // In the order in which rows that are left in place have them.
        let columns = format!("{ROW}, value_metadata, event_item_value, WRITETIME(event_item_value)");
        // One form for both directions: from a key on, up to but not including another.
        let between = format!("({ROW}) >= (?, ?, ?) AND ({ROW}) < (?, ?, ?)");
        let scan = format!("SELECT {columns} FROM {table} {whose} AND {between}");
        let headers = format!("{ROW}, value_metadata, WRITETIME(value_metadata)");
        let headers = format!("SELECT {headers} FROM {table} {whose} AND {between}");
        let ascending = "ORDER BY event_time ASC, event_id ASC, event_item_key ASC";
        let list = format!("SELECT DISTINCT {PARTITION} FROM {table}");
        let upsert = format!(
            "INSERT INTO {table} ({PARTITION}, {ROW}, event_item_value, value_metadata) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"
        );
        let everything = format!(
            "SELECT {PARTITION}, event_id, event_item_key, event_item_value, value_metadata FROM {table}"
        );
        Ok(Self {
            name: name.clone(),
            upsert: Lazy::new(&profiles.writing, upsert),
            delete: Lazy::new(&profiles.writing, format!("DELETE FROM {table} USING TIMESTAMP ? {whose}")),
            oldest_first: Lazy::new(&profiles.serving, format!("{scan} {ascending}")),
            newest_first: Lazy::new(&profiles.serving, scan),
            oldest_headers: Lazy::new(&profiles.serving, format!("{headers} {ascending}")),
            newest_headers: Lazy::new(&profiles.serving, headers),
            touch: Lazy::new(&profiles.serving, format!("SELECT event_time FROM {table} {whose} LIMIT 1")),
            partitions_from: Lazy::new(&profiles.sweeping, format!("{list} WHERE token({PARTITION}) >= ?")),
            partitions: Lazy::new(&profiles.sweeping, list),
            everything: Lazy::new(&profiles.sweeping, everything),
            row_bytes: RowBytes::default(),
        })
    }
}

/// The tables that were used lately.
pub(crate) struct Tables {
    names: Names,
    profiles: Profiles,
    kept_max: usize,
    kept: RwLock<BTreeMap<TableRef, Arc<Table>>>,
}

impl Tables {
    /// Keeps at most so many tables.
    pub(crate) fn new(names: Names, profiles: Profiles, kept_max: usize) -> Self {
        Self { names, profiles, kept_max: kept_max.max(1), kept: RwLock::default() }
    }

    /// The statements of a table, whether it exists or not.
    pub(crate) fn of(&self, name: &TableRef) -> Result<Arc<Table>> {
        let found = self.kept.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(table) = found {
            return Ok(table);
        }
        let table = Arc::new(Table::new(name, &self.names, &self.profiles)?);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        // Only tables that others dropped bring it here; what is still used comes back by itself.
        if kept.len() >= self.kept_max {
            kept.clear();
        }
        Ok(Arc::clone(kept.entry(name.clone()).or_insert(table)))
    }

    /// Forgets a table that is gone.
    pub(crate) fn forget(&self, name: &TableRef) {
        self.kept.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use model::{NamespaceName, TableName};

    use super::*;
    use crate::replicas::Voters;

    fn tables(kept_max: usize) -> Tables {
        Tables::new(Names::new("braid"), Profiles::new("dc1", Voters::Local), kept_max)
    }

    fn name(number: u32) -> TableRef {
        let name = TableName::new(&format!("data_{number}")).unwrap();
        TableRef { namespace: NamespaceName::new("plays").unwrap(), incarnation: 1, name }
    }

    #[test]
    fn the_statements_of_a_table_are_made_once_and_go_with_it() {
        let tables = tables(8);
        let first = tables.of(&name(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &tables.of(&name(1)).unwrap()), "what is prepared is used again");
        assert!(!Arc::ptr_eq(&first, &tables.of(&name(2)).unwrap()));
        assert_eq!(first.name, name(1));
        tables.forget(&name(1));
        let again = tables.of(&name(1)).unwrap();
        assert!(!Arc::ptr_eq(&first, &again), "a table of this name may be another one by now");
        let other = tables.of(&name(2)).unwrap();
        tables.forget(&name(1));
        assert!(Arc::ptr_eq(&other, &tables.of(&name(2)).unwrap()), "no other table is forgotten with it");
    }

    #[test]
    fn no_more_tables_are_kept_than_there_may_be() {
        for kept_max in [0, 1, 3] {
            let tables = tables(kept_max);
            for number in 0..10 {
                let used = tables.of(&name(number)).unwrap();
                assert!(Arc::ptr_eq(&used, &tables.of(&name(number)).unwrap()), "the last one stays");
                let kept = tables.kept.read().unwrap().len();
                assert!(kept <= kept_max.max(1), "{kept} kept of {kept_max}");
            }
        }
    }

    #[test]
    fn what_names_a_partition_names_all_of_its_key() {
        // The driver finds the replicas of a statement only where every part of the partition key is given.
        let table = tables(1).of(&name(1)).unwrap();
        let whose = "time_series_id = ? AND time_bucket = ? AND event_bucket = ?";
        for statement in [
            &table.delete,
            &table.newest_first,
            &table.oldest_first,
            &table.newest_headers,
            &table.oldest_headers,
            &table.touch,
        ] {
            assert!(statement.text.contains(&format!("WHERE {whose}")), "{}", statement.text);
        }
        assert!(table.upsert.text.contains(&format!("({PARTITION}, {ROW}, ")), "{}", table.upsert.text);
    }
}
