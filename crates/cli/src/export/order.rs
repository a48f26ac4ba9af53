//! An export, from what was asked to its end.

use std::collections::BTreeSet;
use std::path::PathBuf;

use env::Env;
use export::{
    Asked, Directory, Error, Format, LeftOut, LeftOutKind, Manifest, SplitLine, State, TableEntry, TableKind,
    TableState,
};
use rpc::client::Client;

use super::choice::Choice;
use super::plan::{begin, go_on, splits_after};
use super::progress::Progress;
use super::source::Source;
use super::splits::unchanged;
use super::table::Table;
use crate::failure::{Failure, talk};
use crate::input::Moment;
use crate::output::value::{count, time};

/// Series that may be named.
pub(crate) const SERIES_MAX: usize = 100;
/// Splits that may be named.
pub(crate) const SPLITS_MAX: usize = 200;
/// A part ends once its rows have so many bytes: as much is done again after a kill.
pub(crate) const PART_BYTES_DEFAULT: u64 = 128 << 20;
/// The least that makes sense.
pub(crate) const PART_BYTES_MIN: u64 = 64 << 10;

/// What is to be exported, and where to.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) namespace: String,
    pub(crate) format: Format,
    pub(crate) out: PathBuf,
    /// Without its times.
    pub(crate) asked: Asked,
    pub(crate) since: Option<Moment>,
    pub(crate) until: Option<Moment>,
    pub(crate) part_bytes: u64,
}

/// Exports, or goes on with what is there; gives back the manifest.
pub(crate) async fn export(client: &Client, env: &Env, order: Order) -> Result<Manifest, Failure> {
    let (directory, found) = Directory::open(&order.out).map_err(failure)?;
    let (mut manifest, splits) = match found {
        Some(manifest) => {
            same(&order, &manifest, env)?;
            if manifest.state == State::Complete {
                talk("it was exported before; nothing to do\n");
                return Ok(manifest);
            }
            directory.check(&manifest).map_err(failure)?;
            go_on(client, &manifest).await?;
            talk(&format!("going on behind {}\n", count(manifest.rows, "row")));
            let splits = if manifest.request.with_splits {
                directory.splits_before().map_err(failure)?
            } else {
                Vec::new()
            };
            (manifest, splits)
        }
        None => {
            let asked = at(&order, env, None);
            let mut manifest =
                Manifest::new(order.format, order.namespace.clone(), 0, asked, env.clock.wall());
            let splits = begin(client, &mut manifest).await?;
            if manifest.request.with_splits {
                directory.keep_splits_before(&splits).map_err(failure)?;
            }
            directory.keep(&manifest).map_err(failure)?;
            (manifest, splits)
        }
    };
    tell_what_is_open(&manifest);
    tables(client, env, &order, &directory, (&mut manifest, &splits)).await?;
    finish(client, env, &directory, (&mut manifest, splits)).await?;
    Ok(manifest)
}

/// What was asked for, with the times that are meant now. Those that hang on the present are what they were in `before`.
fn at(order: &Order, env: &Env, before: Option<&Asked>) -> Asked {
    let now =
        jiff::Timestamp::from_nanosecond(i128::from(env.clock.wall())).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let nanos = |moment: Option<Moment>, before: Option<Option<i64>>| match (moment, before) {
        (Some(Moment::At(_)), _) | (Some(_), None) => moment.map(|moment| {
            let nanos = moment.resolve(now).as_nanosecond();
            i64::try_from(nanos.clamp(0, i128::from(i64::MAX))).unwrap_or(i64::MAX)
        }),
        (Some(_), Some(before)) => before,
        (None, _) => None,
    };
    let once = |names: &[String]| {
        let mut seen = BTreeSet::new();
        names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
    };
    Asked {
        // What is named twice is exported once.
        slices: once(&order.asked.slices),
        series: once(&order.asked.series),
        splits: once(&order.asked.splits),
        since: nanos(order.since, before.map(|before| before.since)),
        until: nanos(order.until, before.map(|before| before.until)),
        ..order.asked.clone()
    }
}

/// Refuses a directory that holds another export.
fn same(order: &Order, manifest: &Manifest, env: &Env) -> Result<(), Failure> {
    let asked = at(order, env, Some(&manifest.request));
    match manifest.differs(order.format, &order.namespace, &asked) {
        None => Ok(()),
        Some(what) => Err(Failure::Usage(format!(
            "{} holds an export of {what}; repeat the command that made it, or choose another directory",
            order.out.display()
        ))),
    }
}

fn tell_what_is_open(manifest: &Manifest) {
    for left in manifest.left_out.iter().filter(|left| left.what == LeftOutKind::Time) {
        talk(&format!("left out {}: {}\n", left.name, left.reason));
    }
    if !manifest.consistent {
        let closed = time(Some(api::convert::timestamp_to_wire(manifest.closed_time)));
        talk(&format!("not consistent from {closed} on: events of that time may still be accepted\n"));
    }
}

/// The tables that are not done, one after the other.
async fn tables(
    client: &Client,
    env: &Env,
    order: &Order,
    directory: &Directory,
    (manifest, splits): (&mut Manifest, &[SplitLine]),
) -> Result<(), Failure> {
    let is_left = |state: TableState| matches!(state, TableState::Waiting | TableState::Open);
    let done = manifest.tables.iter().filter(|table| !is_left(table.state)).count();
    let mut progress = Progress::new(&env.clock, manifest.tables.len(), done);
    let mut without_metadata = 0;
    for number in 0..manifest.tables.len() {
        let Some(entry) = manifest.tables.get(number).filter(|table| is_left(table.state)) else { continue };
        let choice = Choice::of(&manifest.request, entry, splits);
        // Only somebody who looks wants to know, and a store may have to think about it.
        let partitions = if progress.is_shown() { about(client, manifest, entry, splits).await } else { 0 };
        let mut table = Table {
            source: client,
            env,
            directory,
            progress: &mut progress,
            manifest,
            number,
            part_bytes: order.part_bytes,
            partitions,
            without_metadata: 0,
            open: None,
        };
        table.export(&choice).await?;
        without_metadata += table.without_metadata;
        progress.table();
    }
    progress.end();
    if without_metadata > 0 {
        let items = count(without_metadata, "item");
        talk(&format!("{items} had metadata, which CSV has no place for; NDJSON and Parquet have\n"));
    }
    Ok(())
}

/// About how many partitions a table has; 0 where nobody knows.
async fn about(source: &dyn Source, manifest: &Manifest, table: &TableEntry, splits: &[SplitLine]) -> u64 {
    match table.kind {
        TableKind::Origin => source.partitions(&manifest.namespace, &table.name).await.unwrap_or(0),
        TableKind::Target => {
            let ours = splits.iter().filter(|line| line.check.target_table == table.name);
            ours.map(|line| u64::from(line.check.targets)).sum()
        }
    }
}

/// The end: splits that are as they were, and a manifest that says so.
async fn finish(
    client: &Client,
    env: &Env,
    directory: &Directory,
    (manifest, before): (&mut Manifest, Vec<SplitLine>),
) -> Result<(), Failure> {
    if manifest.request.with_splits {
        let after = splits_after(client, manifest).await?;
        let (same, changed) = unchanged(before, &after);
        manifest.splits = Some(directory.finish_splits(&same).map_err(failure)?);
        manifest.left_out.extend(changed);
    }
    (manifest.state, manifest.ended) = (State::Complete, Some(env.clock.wall()));
    directory.keep(manifest).map_err(failure)?;
    directory.tidy().map_err(failure)?;
    let later = |left: &&LeftOut| left.what != LeftOutKind::Time;
    for left in manifest.left_out.iter().filter(later) {
        talk(&format!("left out {}: {}\n", left.name, left.reason));
    }
    Ok(())
}

/// What is in the way of writing.
pub(super) fn failure(error: Error) -> Failure {
    match error {
        Error::Refused(message) => Failure::Usage(message),
        error @ Error::Io { .. } => Failure::Other(error.to_string()),
    }
}
