//! One replica, and what several of them hold together.
//!
//! Replicas that are asked together and differ are made alike first, partition by partition, as a cluster repairs what a read
//! finds: so what one quorum has seen, every later quorum sees, and no event is ever seen in part.

use std::sync::Arc;

use model::{PartitionKey, TableRef};
use store::{Consistency, Enumerate, Error, ErrorKind, Histogram, PartitionPage, Result, Scan, ScanPage};

use super::held::Held;
use super::timeline::Write;

/// Partitions that are listed at a time where all are made alike.
const LIST_PARTITIONS: usize = 4_096;

pub(super) struct Replica {
    pub(super) held: Held,
    pub(super) up: bool,
    /// How many times longer everything takes here.
    pub(super) slowness: u32,
    /// What came while it was down.
    pub(super) hints: Vec<Arc<Write>>,
}

impl Replica {
    pub(super) fn new() -> Self {
        Self { held: Held::default(), up: true, slowness: 1, hints: Vec::new() }
    }
}

/// One page of what these replicas hold together.
pub(super) fn scan(asked: &[Held], scan: &Scan) -> Result<ScanPage> {
    share_deletions(asked, &scan.table)?;
    let mut pages = Vec::with_capacity(asked.len());
    for held in asked {
        pages.push(held.scan(scan)?);
    }
    let alike = pages.windows(2).all(|two| two.first() == two.last());
    match (asked.first(), pages.into_iter().next()) {
        (Some(_), Some(page)) if alike => Ok(page),
        (Some(first), _) => {
            repair(asked, &scan.table, &scan.partition)?;
            first.scan(scan)
        }
        (None, _) => Err(nobody()),
    }
}

/// One page of the partitions that any of these replicas has.
pub(super) fn enumerate(asked: &[Held], request: &Enumerate) -> Result<PartitionPage> {
    share_deletions(asked, &request.table)?;
    let mut partitions: Vec<PartitionKey> = Vec::new();
    let mut more = false;
    // Behind the end of a page that was cut, that replica has not been asked.
    let mut known_to: Option<PartitionKey> = None;
    for held in asked {
        let page = held.enumerate(request)?;
        if page.more {
            let last = page.partitions.last().cloned();
            known_to = if more { known_to.min(last) } else { last };
            more = true;
        }
        partitions.extend(page.partitions);
    }
    partitions.sort_unstable();
    partitions.dedup();
    if let Some(last) = known_to {
        partitions.retain(|partition| *partition <= last);
    }
    more |= partitions.len() > request.partitions_max;
    partitions.truncate(request.partitions_max);
    Ok(PartitionPage { partitions, more })
}

/// The sizes of what these replicas hold together.
pub(super) fn measure(asked: &[Held], table: &TableRef) -> Result<Histogram> {
    let mut request = Enumerate {
        table: table.clone(),
        after: None,
        partitions_max: LIST_PARTITIONS,
        consistency: Consistency::LocalOne,
    };
    loop {
        let page = enumerate(asked, &request)?;
        for partition in &page.partitions {
            repair(asked, table, partition)?;
        }
        request.after = page.partitions.last().cloned();
        if !page.more {
            break;
        }
    }
    asked.first().ok_or_else(nobody)?.sizes(table)
}

/// Gives each of these replicas what the others have of a partition.
fn repair(asked: &[Held], table: &TableRef, partition: &PartitionKey) -> Result<()> {
    let among = |from: &Held, to: &Held| from.copy_to(to, table, partition);
    exchange(asked, among)
}

/// Tells each of these replicas what the others know to be deleted.
fn share_deletions(asked: &[Held], table: &TableRef) -> Result<()> {
    let among = |from: &Held, to: &Held| from.tell_deletions(to, table);
    exchange(asked, among)
}

/// From all to the first, and from the first to all.
fn exchange(asked: &[Held], among: impl Fn(&Held, &Held) -> Result<()>) -> Result<()> {
    let Some((first, rest)) = asked.split_first() else {
        return Ok(());
    };
    rest.iter().try_for_each(|other| among(other, first))?;
    rest.iter().try_for_each(|other| among(first, other))
}

fn nobody() -> Error {
    Error::new(ErrorKind::Unavailable, "no replica was asked; try again")
}
