//! What do reads of a wide partition of the embedded store gain by packed targets, against targets of rows and its origin?
//!
//! The same as question `split-read`, with both splits by time and another layout in each. What is wanted is wanted of a search that
//! matches nothing: every event is read and looked at, and none is made for a client. A drain, which makes all of them, is shown beside. Disk is looked at once everything is flushed and
//! compaction has settled.

use std::sync::Arc;

use anyhow::Result;
use engine::ReadMode;
use model::{NamespaceName, TableName, TableRef};
use store::Store;
use tokio::runtime::Runtime;

use super::Question;
use super::split_read::{Both, Found, Reads, Ways};
use crate::divided::{Data, Divided};
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Setting};
use crate::kind::Kind;
use crate::packed::{self, NAMES, PACKED};
use crate::raw;
use crate::splitting::{open, without_throttle};
use crate::wire;

pub(crate) const QUESTION: Question = Question {
    name: "packed-embedded",
    asks: "reads of a wide partition of the embedded store from packed targets, against targets of rows and its origin",
    answer,
};

const BYTES: u64 = 500_000_000;
const BYTES_QUICK: u64 = 20_000_000;
const SMALL_SERIES: u64 = 200;
const READS: Reads = Reads { first_pages: 2_000, narrow: 400, small: 2_000 };
const READS_QUICK: Reads = Reads { first_pages: 100, narrow: 30, small: 200 };

/// The columns of the table, the control first.
const WAYS: [&str; 4] = ["origin", "rows", "packed", "origin, 4 readers"];
const ORIGIN: usize = 0;
const PACKED_WAY: usize = 2;

/// A kind of event, and how fast reading all of it from packed targets is to be where the origin is 1.
const KINDS: [(Kind, f64, &str); 2] = [(Kind::Small, 3.0, ", 220 B"), (Kind::Large, 1.4, ", 1.1 KB")];
/// What is split where nobody says how.
const CHOSEN: [(Kind, &str); 3] = [(Kind::Small, "small"), (Kind::Huge, "huge"), (Kind::Noise, "noise")];

fn answer(setting: &Setting) -> Result<Answer> {
    let mut all = Found::default();
    for (kind, at_least, suffix) in KINDS {
        let mut found = of_kind(setting, kind, suffix)?;
        let ways = Ways { columns: WAYS, suffix };
        let rate = |reading, at_least| {
            let (subject, control) = (ways.side(reading, PACKED_WAY), ways.side(reading, ORIGIN));
            Goal::Rate { subject, control, at_least }
        };
        found.goals.extend([rate("search", at_least), rate("drain", 0.0)]);
        all.runs.extend(found.runs);
        all.goals.extend(found.goals);
        all.lines.extend(found.lines);
        all.notes.extend(found.notes);
    }
    all.notes.extend(chosen(setting)?);
    all.concluded(QUESTION.name, WAYS)
}

/// Reads one kind in every way, and looks at what it takes on disk.
fn of_kind(setting: &Setting, kind: Kind, suffix: &'static str) -> Result<Found> {
    let reads = if setting.quick { READS_QUICK } else { READS };
    let data = Data { kind, bytes: setting.size(BYTES, BYTES_QUICK), small_series: SMALL_SERIES };
    let directory = setting.directory()?;
    let embedded = Embedded::open(directory.path())?;
    let store: Arc<dyn Store> = Arc::new(embedded.run(async |store| Ok(store))?);
    let done = measured(setting, &store, embedded.runtime(), (data, reads, suffix));
    embedded.run(async |store| Ok(store.flush().await?))?;
    drop(store);
    embedded.close();
    let mut found = done?;
    let database = raw::open(&directory.path().join(raw::ENGINE_DIRECTORY))?;
    raw::settle(&database);
    let bytes = |name: &str, table: fn(model::Slice) -> TableName| -> Result<f64> {
        let (namespace, name) = (NamespaceName::new(name)?, table(wire::slice()?));
        let table = TableRef { namespace, incarnation: 1, name };
        Ok(raw::keyspace(&database, &table.to_string())?.disk_space() as f64)
    };
    for name in NAMES {
        let (origin, targets) = (bytes(name, TableName::data)?, bytes(name, TableName::wide)?);
        let what = format!("disk, {name} / origin{suffix}");
        found.goals.push(Goal::Shown { what, values: vec![targets / origin] });
    }
    Ok(found)
}

fn measured(
    setting: &Setting,
    store: &Arc<dyn Store>,
    runtime: &Runtime,
    (data, reads, suffix): (Data, Reads, &'static str),
) -> Result<Found> {
    let both: [Arc<Divided>; 2] = runtime.block_on(async {
        let engine = open(store, without_throttle()).await?;
        packed::write(&engine, store, data).await
    })?;
    let ways = Ways { columns: WAYS, suffix };
    let found = Both { runtime, both: &both, reads, ways }.measured(setting, QUESTION.name)?;
    for divided in &both {
        runtime.block_on(divided.go(ReadMode::Off))?;
    }
    Ok(found)
}

/// How kinds are split where nobody says how: not packed where that does not pay.
fn chosen(setting: &Setting) -> Result<Vec<String>> {
    super::split::opened(setting, |store, runtime| {
        runtime.block_on(async {
            let engine = open(&store, without_throttle()).await?;
            let mut said = Vec::new();
            for (kind, name) in CHOSEN {
                let data = Data { kind, bytes: BYTES_QUICK, small_series: 0 };
                let layout = packed::chosen(&engine, &store, name, data).await?;
                said.push(format!("auto, events of {}: {layout}{}", kind.name(), doubt(kind, layout)));
            }
            Ok(said)
        })
    })
}

/// What cannot be made smaller is not to be packed.
fn doubt(kind: Kind, layout: &str) -> &'static str {
    if kind == Kind::Noise && layout == PACKED { ", which does not pay: MISSED" } else { "" }
}
