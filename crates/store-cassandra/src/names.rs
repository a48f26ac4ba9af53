//! Names of keyspaces and tables. Pure; what is made here never needs escaping, only quotes for reserved words.

use model::TableRef;
use store::{Error, Result};

/// Longest name of a keyspace that Cassandra takes.
const KEYSPACE_NAME_MAX: usize = 48;

/// The keyspaces of one installation.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    /// Names under a prefix that was checked.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The keyspace of the metadata. A namespace's ends in a number, so none has this name.
    pub(crate) fn metadata(&self) -> String {
        format!("{}_meta", self.prefix)
    }

    /// Whether a keyspace is of this installation. No prefix has an underscore, so no other prefix begins with this one.
    pub(crate) fn owns(&self, keyspace: &str) -> bool {
        keyspace.strip_prefix(&self.prefix).is_some_and(|rest| rest.starts_with('_'))
    }

    /// The keyspace of a table's namespace: prefix, name, incarnation.
    pub(crate) fn keyspace(&self, table: &TableRef) -> Result<String> {
        let name = format!("{}_{}_{}", self.prefix, table.namespace.as_str(), table.incarnation);
        if name.len() > KEYSPACE_NAME_MAX {
            return Err(Error::invalid(format!(
                "keyspace `{name}` has {} characters, Cassandra takes {KEYSPACE_NAME_MAX}; \
                 use a shorter keyspace prefix or namespace",
                name.len()
            )));
        }
        Ok(name)
    }

    /// A table as a statement names it.
    pub(crate) fn table(&self, table: &TableRef) -> Result<String> {
        Ok(format!("\"{}\".\"{}\"", self.keyspace(table)?, table.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use model::{NamespaceName, TableName};

    use super::*;

    fn check(prefix: &str, namespace: &str, incarnation: u32, expect: Option<&str>) {
        let table = TableRef {
            namespace: NamespaceName::new(namespace).unwrap(),
            incarnation,
            name: TableName::new("data_20260328").unwrap(),
        };
        assert_eq!(Names::new(prefix).table(&table).ok().as_deref(), expect);
    }

    #[test]
    fn a_namespace_is_a_keyspace_and_a_slice_a_table() {
        check("braid", "orders", 3, Some("\"braid_orders_3\".\"data_20260328\""));
        check("b", "select", 1, Some("\"b_select_1\".\"data_20260328\""));
        assert_eq!(Names::new("braid").metadata(), "braid_meta");
    }

    #[test]
    fn keyspaces_of_a_longer_prefix_are_somebody_elses() {
        let found = ["b_meta", "b_orders_1", "b2_meta", "b", "system", "ab_meta"]
            .map(|keyspace| Names::new("b").owns(keyspace));
        assert_eq!(found, [true, true, false, false, false, false]);
    }

    #[test]
    fn the_longest_namespace_fits_under_the_default_prefix() {
        let longest = "x".repeat(30);
        let expect = format!("\"braid_{longest}_4294967295\".\"data_20260328\"");
        check("braid", &longest, u32::MAX, Some(&expect));
        check(
            "tenletters",
            &longest,
            999_999,
            Some(&format!("\"tenletters_{longest}_999999\".\"data_20260328\"")),
        );
        check("tenletters", &longest, 1_000_000, None);
    }
}
