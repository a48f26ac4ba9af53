//! What can be exported now: time that is closed on every server, and the tables that it lies in.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Interval, Layout, NamespaceName, TableName, TableRef};

use super::walk::RowsAsked;
use crate::catalog::{Catalog, Dataset};
use crate::view::Standing;
use crate::{Error, Reason, Result};

/// What is to be exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportAsked {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// Of which time.
    pub interval: Interval,
    /// Of the slices with these tables; empty for all.
    pub slices: Vec<String>,
    /// Also time that is not closed.
    pub include_open: bool,
}

/// What can be exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPlan {
    /// Which making of the namespace.
    pub incarnation: u32,
    /// No event before this time is accepted any more, but in backfills.
    pub closed: i64,
    /// The time of which there is an export; empty where nothing of it is closed.
    pub interval: Interval,
    /// The tables, origins first, oldest first.
    pub tables: Vec<ExportTable>,
    /// Why the time ends before what was asked for.
    pub left_out: Option<&'static str>,
}

/// A table of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTable {
    /// Its name.
    pub name: TableName,
    /// Whether it holds targets.
    pub targets: bool,
    /// Its slice.
    pub layout: Layout,
}

const OPEN: &str = "events of this time may still be accepted";
const BACKFILL: &str = "a backfill may still write there; end it first";

/// Closes time as far as that can be, waits until every server knows it, and says what that leaves to export.
pub(crate) async fn prepare(catalog: &Catalog, asked: ExportAsked) -> Result<ExportPlan> {
    let ExportAsked { namespace: name, interval, slices, include_open } = asked;
    if !include_open {
        catalog.find_or_look(&name).await?;
        catalog.close_time(&name, interval.end()).await?;
    }
    catalog.refresh().await?;
    let (dataset, epoch) = {
        let known = catalog.known();
        (known.find(&name)?.clone(), known.epoch)
    };
    // Also where closed time was there before: a backfill that has just ended may go on where nobody knows that yet.
    catalog.barrier(epoch).await?;
    let (interval, left_out) = if include_open { (interval, None) } else { sure(&dataset, interval) };
    let layouts = wanted(&dataset, interval, &slices)?;
    let there: BTreeSet<TableRef> = catalog.store.list_tables().await?.into_iter().collect();
    let table = |targets: bool| {
        let (dataset, there) = (&dataset, &there);
        move |layout: &Layout| {
            let table = if targets { dataset.wide_table(layout) } else { dataset.table(layout) };
            there.contains(&table).then_some(ExportTable { name: table.name, targets, layout: *layout })
        }
    };
    let tables = layouts.iter().filter_map(table(false)).chain(layouts.iter().filter_map(table(true)));
    Ok(ExportPlan {
        incarnation: dataset.namespace.incarnation,
        closed: dataset.record.closed,
        interval,
        tables: tables.collect(),
        left_out,
    })
}

/// The part of an interval that nobody writes to any more, and why it ends where it does. Pure.
fn sure(dataset: &Dataset, interval: Interval) -> (Interval, Option<&'static str>) {
    let backfills = dataset.record.reopened.iter().filter(|range| range.end > interval.start());
    let backfill = backfills.map(|range| range.start).min().unwrap_or(i64::MAX);
    let end = interval.end().min(dataset.record.closed).min(backfill).max(interval.start());
    let why = if backfill < dataset.record.closed { BACKFILL } else { OPEN };
    let left_out = (end < interval.end()).then_some(why);
    (Interval::new(interval.start(), end).unwrap_or(interval), left_out)
}

fn wanted(dataset: &Dataset, interval: Interval, slices: &[String]) -> Result<Vec<Layout>> {
    let name = |layout: &Layout| dataset.table(layout).name;
    for slice in slices {
        if !dataset.layouts.iter().any(|layout| name(layout).as_str() == slice) {
            return Err(no_table(dataset, slice));
        }
    }
    let is_wanted = |layout: &&Layout| {
        let named = slices.is_empty() || slices.iter().any(|slice| name(layout).as_str() == slice);
        named && !layout.slice.interval().intersect(interval).is_empty()
    };
    Ok(dataset.layouts.iter().filter(is_wanted).copied().collect())
}

/// Whether rows may be read still: it is the same namespace, the table's slice is there, and nobody writes to the time. Asked
/// before the first row and after every page.
pub(super) fn check(catalog: &Catalog, asked: &RowsAsked) -> Result<(TableRef, Layout, Arc<Dataset>)> {
    let dataset = catalog.find(&asked.namespace)?;
    if dataset.namespace.incarnation != asked.incarnation {
        let message = format!(
            "namespace `{}` was deleted and made again meanwhile; export it anew into another directory",
            asked.namespace.as_str()
        );
        return Err(Error::new(Reason::NamespaceNotFound, message));
    }
    let tables = dataset
        .layouts
        .iter()
        .flat_map(|layout| [(dataset.table(layout), *layout), (dataset.wide_table(layout), *layout)]);
    let found = tables.into_iter().find(|(table, _)| table.name.as_str() == asked.table);
    let (table, layout) = found.ok_or_else(|| no_table(&dataset, &asked.table))?;
    if asked.include_open {
        return Ok((table, layout, dataset));
    }
    if catalog.standing() != Standing::Leased {
        let message = "this server does not know whether backfills have begun; try again, or ask another one";
        return Err(Error::new(Reason::NotReady, message));
    }
    if dataset.record.closed < asked.interval.end() || dataset.is_to_be_written(asked.interval) {
        let message = "the time that is exported was opened again, for a backfill; when that has ended, export anew into \
                       another directory";
        return Err(Error::new(Reason::TimeNotClosed, message));
    }
    Ok((table, layout, dataset))
}

/// A table that is not there, or not any more.
fn no_table(dataset: &Dataset, table: &str) -> Error {
    let name = dataset.namespace.name.as_str();
    let shown = crate::clip::clip(table, 60);
    let message = format!("namespace `{name}` has no table `{shown}`; see `braid slices list -n {name}`");
    Error::new(Reason::SliceNotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::NamespaceRecord;
    use crate::catalog::record::ReopenedRecord;

    fn dataset(closed: i64, reopened: &[(i64, i64)]) -> Dataset {
        let mut record = NamespaceRecord::new(1, 0, NamespaceSpec::default());
        record.closed = closed;
        let range = |(start, end): &(i64, i64)| ReopenedRecord {
            start: *start,
            end: *end,
            open: false,
            announced: 7,
        };
        record.reopened = reopened.iter().map(range).collect();
        Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap()
    }

    fn shown(closed: i64, reopened: &[(i64, i64)], start: i64, end: i64) -> (i64, i64, Option<&'static str>) {
        let (sure, left_out) = sure(&dataset(closed, reopened), Interval::new(start, end).unwrap());
        (sure.start(), sure.end(), left_out)
    }

    #[test]
    fn nothing_is_exported_that_may_still_change() {
        assert_eq!(shown(100, &[], 0, 50), (0, 50, None));
        assert_eq!(shown(100, &[], 0, 200), (0, 100, Some(OPEN)));
        assert_eq!(shown(100, &[], 150, 200), (150, 150, Some(OPEN)));
        // Announced is enough: it may be open on another server.
        assert_eq!(shown(100, &[(30, 60), (20, 25)], 0, 90), (0, 20, Some(BACKFILL)));
        assert_eq!(shown(100, &[(30, 60)], 40, 90), (40, 40, Some(BACKFILL)));
        assert_eq!(shown(100, &[(30, 60)], 60, 90), (60, 90, None));
        assert_eq!(shown(100, &[(150, 160)], 0, 170), (0, 100, Some(OPEN)));
    }
}
