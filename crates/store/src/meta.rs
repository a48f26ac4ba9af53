//! Metadata records: small values changed only by compare-and-set.

use bytes::Bytes;

use crate::request::limits;
use crate::{Error, Result};

/// The address of a metadata record.
///
/// Records of one group lie together and can be ranged over in the order of their names; nothing is promised across
/// groups. A backend may keep each group as one partition, so a group stays small enough to be one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetaKey {
    /// What lies together.
    pub group: Bytes,
    /// The record's name inside its group, ordered by its bytes.
    pub name: Bytes,
}

impl MetaKey {
    /// The address `name` in `group`.
    pub fn new(group: impl Into<Bytes>, name: impl Into<Bytes>) -> Self {
        Self { group: group.into(), name: name.into() }
    }
}

/// The version of a record: it rises with every change of that record and is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetaVersion(pub u64);

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaRecord {
    /// Its name inside the group.
    pub name: Bytes,
    /// Its version, to be named by the next change.
    pub version: MetaVersion,
    /// What it holds.
    pub value: Bytes,
}

/// Records of one group, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaPage {
    /// The records.
    pub records: Vec<MetaRecord>,
    /// Whether more follow the last one.
    pub more: bool,
}

/// What a compare-and-set does where the record is as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaChange {
    /// Makes or replaces the record.
    Put(Bytes),
    /// Removes it. A removed name must not be used again by the caller: versions of a new record under it may
    /// repeat old ones.
    Remove,
}

/// How a compare-and-set ended, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CasOutcome {
    /// The change is in force and durable; a put has this version.
    Applied(MetaVersion),
    /// The record is not as expected; nothing was changed. This is what it holds now.
    Conflict(Option<MetaRecord>),
}

/// Refuses an address that is empty or over the limits; every backend calls it before it reads or changes a record.
pub fn check_meta_key(key: &MetaKey) -> Result<()> {
    check_part("group", &key.group)?;
    check_part("name", &key.name)
}

/// Refuses a value over the limit; every backend calls it before it puts a record.
pub fn check_meta_value(value: &[u8]) -> Result<()> {
    let (bytes, max) = (value.len(), limits::META_VALUE_BYTES_MAX);
    if bytes > max {
        return Err(Error::invalid(format!("metadata value has {bytes} bytes; cut it to {max}")));
    }
    Ok(())
}

/// Refuses a range over the limits; every backend calls it first. `after` may be empty: it lies before every name.
pub fn check_meta_range(group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<()> {
    check_part("group", group)?;
    if let Some(after) = after.filter(|after| !after.is_empty()) {
        check_part("name", after)?;
    }
    let max = limits::META_RANGE_MAX;
    if !(1..=max).contains(&records_max) {
        return Err(Error::invalid(format!(
            "metadata range asks for {records_max} records; ask for 1 to {max}"
        )));
    }
    Ok(())
}

fn check_part(what: &str, part: &[u8]) -> Result<()> {
    let (bytes, max) = (part.len(), limits::META_KEY_BYTES_MAX);
    if !(1..=max).contains(&bytes) {
        return Err(Error::invalid(format!("metadata {what} has {bytes} bytes; use 1 to {max}")));
    }
    Ok(())
}
