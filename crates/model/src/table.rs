//! Names of tables: one per slice, in a namespace that may be deleted and made again.

use crate::{Error, NamespaceName, Slice};

/// Longest table name.
pub const TABLE_NAME_MAX: usize = 48;

/// The name of a table: `[a-z][a-z0-9_]{0,47}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName(std::sync::Arc<str>);

impl TableName {
    /// Checks `name`.
    pub fn new(name: &str) -> Result<Self, Error> {
        let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let starts = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        if !starts || name.len() > TABLE_NAME_MAX || !name.bytes().all(legal) {
            let problem =
                format!("`{name}` must be 1 to {TABLE_NAME_MAX} of a-z, 0-9, _ and start with a letter");
            return Err(Error::Name { what: "table name", problem });
        }
        Ok(Self(name.into()))
    }

    /// The table that holds the origin partitions of `slice`.
    pub fn data(slice: Slice) -> Self {
        Self(format!("data_{}", slice.label()).into())
    }

    /// The table that holds the target partitions of `slice`.
    pub fn wide(slice: Slice) -> Self {
        Self(format!("wide_data_{}_0", slice.label()).into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A table of one incarnation of a namespace. A namespace that is deleted and made again gets a new incarnation, so
/// that nothing old can ever be read or written under its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableRef {
    /// The namespace.
    pub namespace: NamespaceName,
    /// Which making of it.
    pub incarnation: u32,
    /// The table inside it.
    pub name: TableName,
}

impl std::fmt::Display for TableRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.namespace.as_str(), self.incarnation, self.name.as_str())
    }
}

impl std::str::FromStr for TableRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let corrupt = || Error::Corrupt { what: "table name", problem: format!("`{text}`") };
        let mut parts = text.split('.');
        let (Some(namespace), Some(incarnation), Some(name), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(corrupt());
        };
        Ok(Self {
            namespace: NamespaceName::new(namespace)?,
            incarnation: incarnation.parse().map_err(|_| corrupt())?,
            name: TableName::new(name)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Timeline, Timestamp};

    #[test]
    fn tables_are_named_as_published() {
        let time = Timestamp::from_parts(1_774_656_000, 0).unwrap();
        let slice = Timeline::new(86_400).unwrap().slice_of(time);
        assert_eq!(TableName::data(slice).as_str(), "data_20260328");
        assert_eq!(TableName::wide(slice).as_str(), "wide_data_20260328_0");
    }

    #[test]
    fn references_read_back() {
        let table = TableRef {
            namespace: NamespaceName::new("orders").unwrap(),
            incarnation: 3,
            name: TableName::new("data_20260328_0130").unwrap(),
        };
        assert_eq!(table.to_string().parse(), Ok(table.clone()));
        for bad in ["", "a", "a.1", "a.x.b", "a.1.b.c", "A.1.b", "a.-1.b", "a.1.9"] {
            assert!(bad.parse::<TableRef>().is_err(), "{bad}");
        }
    }

    #[test]
    fn table_names_are_checked() {
        assert!(TableName::new(&"x".repeat(49)).is_err());
        assert!(TableName::new("9").is_err());
        assert!(TableName::new("a; drop").is_err());
    }
}
