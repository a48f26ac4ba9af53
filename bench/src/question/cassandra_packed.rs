//! What do reads of a wide partition of Cassandra gain by packed targets, against the driver on the partition itself, and against
//! targets of rows?
//!
//! The driver has two controls: one reader, and four that read disjoint ranges at once, which needs no split. A server is asked for what
//! matches nothing, so that nothing is encoded, then for everything as a stream, for pages by many readers at once, and for a count. Pages
//! are not decoded on any side: their bytes are counted. Everything is compacted before. What a split costs is measured on a smaller partition,
//! again and again. Events that gain little are shown beside, and nothing is wanted of them.

use std::sync::Arc;

use anyhow::{Context, Result};
use engine::ReadMode;
use env::Env;
use model::TableName;
use store::Store;
use store_cassandra::CassandraStore;
use tokio::runtime::{Builder, Runtime};

use super::Question;
use crate::cassandra::{Home, beside};
use crate::divided::{Data, Divided};
use crate::harness::{Answer, Goal, Percentile, Runs, Sample, Setting, Side, Unit, interleave, measure};
use crate::kind::Kind;
use crate::packed::{self, NAMES, PACKED};
use crate::served::{Page, Served, Way, cpu_of};
use crate::splitting::{open, without_throttle};
use crate::{progress, wire};

pub(crate) const SMALL: Question = Question {
    name: "cassandra-packed",
    asks: "reads of wide partitions of Cassandra from packed targets, against the driver on the partition and targets of rows",
    answer: |setting| beside(SMALL.name, Unit::Bytes, || wanted(setting, SMALL.name, &WANTED_SMALL)),
};
pub(crate) const LARGE: Question = Question {
    name: "cassandra-packed-large",
    asks: "the same with events of 1.1 KB",
    answer: |setting| beside(LARGE.name, Unit::Bytes, || wanted(setting, LARGE.name, &WANTED_LARGE)),
};
pub(crate) const OTHERS: Question = Question {
    name: "cassandra-packed-others",
    asks: "the same with events that gain little, of 4 KB and of random bytes, of which nothing is wanted",
    answer: |setting| beside(OTHERS.name, Unit::Bytes, || others(setting, OTHERS.name)),
};

const BYTES: u64 = 500_000_000;
/// Of what is only shown.
const BYTES_SHOWN: u64 = 100_000_000;
/// Of what is split again and again.
const BYTES_BUILT: u64 = 64_000_000;
const BYTES_QUICK: u64 = 20_000_000;
/// Readers at once, and how many pages each reads.
const CROWDS: [(u64, u64); 2] = [(8, 160), (32, 40)];
const CROWDS_QUICK: [(u64, u64); 2] = [(8, 20), (32, 5)];
/// As many clients as the larger crowd has.
const CLIENTS: u64 = 32;
const PAGES: [(Page, &str); 2] = [(Page::Newest, "newest 1,000"), (Page::Narrow, "narrow 1,000")];

/// What is wanted of a kind: how many times as fast, how much of the time, of the disk, of the CPU.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    kind: Kind,
    look: f64,
    look_ranges: f64,
    stream_ranges: f64,
    pages: f64,
    pages_p99: f64,
    count: f64,
    disk: f64,
    build: f64,
}

const WANTED_SMALL: Wanted = Wanted {
    kind: Kind::Small,
    look: 10.0,
    look_ranges: 6.0,
    stream_ranges: 2.5,
    pages: 1.8,
    pages_p99: 0.5,
    count: 70.0,
    disk: 0.55,
    build: 0.6,
};
const WANTED_LARGE: Wanted = Wanted {
    kind: Kind::Large,
    look: 3.0,
    look_ranges: 1.5,
    stream_ranges: 1.2,
    pages: 0.9,
    pages_p99: 1.0,
    count: 20.0,
    disk: 0.72,
    build: 0.75,
};
const SHOWN: [(Kind, &str); 2] = [(Kind::Huge, "huge"), (Kind::Noise, "noise")];

fn wanted(setting: &Setting, name: &'static str, wanted: &Wanted) -> Result<Answer> {
    let runtime = runtime()?;
    let measured = Home::with(setting, |home| of_kind(setting, (home, name), &runtime, wanted.kind, BYTES))?;
    let (built, build) = Home::with(setting, |home| built(setting, (home, name), &runtime, wanted))?;
    let mut goals = wanted.goals(&measured);
    goals.push(build);
    let runs = measured.runs.into_iter().chain(built).collect();
    Ok(explained(Answer::new(name, Unit::Bytes, runs, &goals)?.note(measured.note)))
}

fn others(setting: &Setting, name: &'static str) -> Result<Answer> {
    let runtime = runtime()?;
    let (mut runs, mut goals, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, namespace) in SHOWN {
        let measured =
            Home::with(setting, |home| of_kind(setting, (home, name), &runtime, kind, BYTES_SHOWN))?;
        goals.extend(shown(&measured));
        runs.extend(measured.runs);
        notes.push(measured.note);
        notes.push(Home::with(setting, |home| chosen(home, &runtime, kind, namespace))?);
    }
    let answer = Answer::new(name, Unit::Bytes, runs, &goals)?;
    Ok(explained(notes.into_iter().fold(answer, Answer::note)))
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

fn explained(answer: Answer) -> Answer {
    answer
        .note("bytes are logical on all sides, so ratios of MB/s are ratios of requests/s; the moonshot for pages is 2.5")
        .note("CPU: of the server or the driver's process, and of the node; the client's apart")
        .note("look: the driver decodes every row; a server searches for what no event has, through gRPC")
        .note("pages: not decoded on any side; stream: decoded, or not; one node, on the same cores")
}

fn connect(home: &Home, runtime: &Runtime) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(runtime.block_on(async { CassandraStore::connect(&home.options(), Env::system()).await })?))
}

fn side(what: &str, way: Way, kind: Kind) -> &'static str {
    format!("{what}, {}, {}", way.name(), kind.name()).leak()
}

fn crowd(page: &str, readers: u64) -> String {
    format!("{page} x {readers}")
}

/// What was found out about one kind.
struct Measured {
    kind: Kind,
    runs: Vec<Runs>,
    /// Of targets of rows and of packed ones, for a byte of the origin.
    disk: [f64; 2],
    note: String,
}

/// Writes one kind, splits it both ways, and reads it in every way.
fn of_kind(
    setting: &Setting,
    (home, name): (&Home, &'static str),
    runtime: &Runtime,
    kind: Kind,
    bytes: u64,
) -> Result<Measured> {
    let data = Data { kind, bytes: setting.size(bytes, BYTES_QUICK), small_series: 0 };
    let store = connect(home, runtime)?;
    let [rows, chunks] = runtime.block_on(async {
        let engine = open(&store, without_throttle()).await?;
        let both = packed::write(&engine, &store, data).await?;
        for divided in &both {
            divided.go(ReadMode::On).await?;
        }
        engine.leave().await?;
        Ok::<_, anyhow::Error>(both)
    })?;
    drop(store);
    home.compact(&NAMES)?;
    let disk = disk(home)?;
    let served = Served::start(home, &rows, CLIENTS)?;
    let sides = || sides(setting, &served, kind);
    for mut side in sides() {
        (side.run)().with_context(|| format!("warming up, side `{}`", side.name))?;
    }
    let runs = interleave(setting.rounds, sides(), progress::run(name, Unit::Bytes))?;
    served.stop()?;
    Ok(Measured { kind, runs, disk, note: note(&rows, &chunks) })
}

fn note(rows: &Divided, chunks: &Divided) -> String {
    format!(
        "{}: {} events, {} MB; {} targets of rows, {} targets that are {}",
        rows.kind.name(),
        rows.events,
        rows.bytes() / 1_000_000,
        rows.targets,
        chunks.targets,
        chunks.layout
    )
}

/// Bytes of targets for a byte of their origin, by namespace.
fn disk(home: &Home) -> Result<[f64; 2]> {
    let slice = wire::slice()?;
    let [rows, chunks] = NAMES.map(|name| {
        let (origin, targets) = (
            home.disk_bytes(name, &TableName::data(slice))?,
            home.disk_bytes(name, &TableName::wide(slice))?,
        );
        Ok::<f64, anyhow::Error>(targets as f64 / origin as f64)
    });
    Ok([rows?, chunks?])
}

fn sides<'a>(setting: &Setting, served: &'a Served, kind: Kind) -> Vec<Side<'a>> {
    let mut sides = Vec::new();
    for way in [Way::Driver, Way::Ranges, Way::Rows, Way::Packed] {
        sides.push(Side::new(side("look", way, kind), move || served.look(way)));
    }
    for way in [Way::Rows, Way::Packed] {
        sides.push(Side::new(side("stream", way, kind), move || served.stream(way, true)));
        sides.push(Side::new(side("stream undecoded", way, kind), move || served.stream(way, false)));
    }
    for way in [Way::Driver, Way::Rows, Way::Packed] {
        sides.push(Side::new(side("count", way, kind), move || served.count(way)));
    }
    let crowds = if setting.quick { CROWDS_QUICK } else { CROWDS };
    for ((page, name), (readers, each)) in
        PAGES.into_iter().flat_map(|page| crowds.map(|crowd| (page, crowd)))
    {
        for way in [Way::Driver, Way::Rows, Way::Packed] {
            let side = side(&crowd(name, readers), way, kind);
            sides.push(Side::new(side, move || served.pages(way, page, readers, each)));
        }
    }
    sides
}

impl Wanted {
    fn goals(&self, measured: &Measured) -> Vec<Goal> {
        let kind = self.kind;
        let rate = |what: &str, (of, control): (&str, Way), at_least| Goal::Rate {
            subject: side(what, Way::Packed, kind),
            control: side(of, control, kind),
            at_least,
        };
        let mut goals = vec![
            rate("look", ("look", Way::Driver), self.look),
            rate("look", ("look", Way::Ranges), self.look_ranges),
            rate("look", ("look", Way::Rows), 0.0),
            rate("stream", ("look", Way::Ranges), self.stream_ranges),
            rate("stream undecoded", ("look", Way::Ranges), 0.0),
            rate("count", ("count", Way::Driver), self.count),
        ];
        for (page, readers) in PAGES.iter().flat_map(|(_, page)| CROWDS.map(|(readers, _)| (page, readers))) {
            let what = crowd(page, readers);
            goals.push(rate(&what, (&what, Way::Driver), self.pages));
            goals.push(Goal::Slowdown {
                subject: side(&what, Way::Packed, kind),
                control: side(&what, Way::Driver, kind),
                percentile: Percentile::P99,
                times: self.pages_p99,
                plus: std::time::Duration::ZERO,
            });
        }
        let [rows, packed] = measured.disk;
        let what = format!("disk, packed / origin, {}", kind.name()).leak();
        goals.push(Goal::Figures { what, values: vec![packed], at_most: self.disk });
        goals.push(Goal::Shown { what: format!("disk, rows / origin, {}", kind.name()), values: vec![rows] });
        goals
    }
}

/// The same without anything that is wanted.
fn shown(measured: &Measured) -> Vec<Goal> {
    let nothing = Wanted {
        kind: measured.kind,
        look: 0.0,
        look_ranges: 0.0,
        stream_ranges: 0.0,
        pages: 0.0,
        pages_p99: f64::INFINITY,
        count: 0.0,
        disk: f64::INFINITY,
        build: f64::INFINITY,
    };
    nothing.goals(measured)
}

/// Splits a smaller partition again and again, in turns; what CPU that takes, here and in the node.
fn built(
    setting: &Setting,
    (home, name): (&Home, &'static str),
    runtime: &Runtime,
    wanted: &Wanted,
) -> Result<(Vec<Runs>, Goal)> {
    let kind = wanted.kind;
    let data = Data { kind, bytes: setting.size(BYTES_BUILT, BYTES_QUICK), small_series: 0 };
    let (store, nodes) = (connect(home, runtime)?, home.processes()?);
    let both = runtime.block_on(async {
        let engine = open(&store, without_throttle()).await?;
        packed::write(&engine, &store, data).await
    })?;
    let build = |divided: &Divided| -> Result<Sample> {
        let before = cpu_of(&nodes)?;
        let sample = measure(|| {
            runtime.block_on(async {
                divided.series.engine.refresh().await?;
                divided.split().await?;
                Ok(divided.bytes())
            })
        })?;
        Ok(Sample { cpu: sample.cpu + cpu_of(&nodes)?.saturating_sub(before), ..sample })
    };
    let [rows, chunks] = &both;
    let (in_rows, in_chunks) = (side("split", Way::Rows, kind), side("split", Way::Packed, kind));
    let sides = vec![Side::new(in_rows, || build(rows)), Side::new(in_chunks, || build(chunks))];
    let runs = interleave(setting.rounds, sides, progress::run(name, Unit::Bytes))?;
    let cpu = |name: &str| {
        runs.iter().filter(|runs| runs.side == name).flat_map(Runs::cpu_per_unit).collect::<Vec<f64>>()
    };
    let values = cpu(in_chunks).iter().zip(cpu(in_rows)).map(|(packed, rows)| packed / rows).collect();
    let what = format!("CPU of a split, packed / rows, {}", kind.name()).leak();
    Ok((runs, Goal::Figures { what, values, at_most: wanted.build }))
}

/// How a kind is split where nobody says how.
fn chosen(home: &Home, runtime: &Runtime, kind: Kind, name: &str) -> Result<String> {
    let store = connect(home, runtime)?;
    let data = Data { kind, bytes: BYTES_QUICK, small_series: 0 };
    let layout = runtime.block_on(async {
        let engine = open(&store, without_throttle()).await?;
        packed::chosen(&engine, &store, name, data).await
    })?;
    let doubt = if kind == Kind::Noise && layout == PACKED { ", which does not pay: MISSED" } else { "" };
    Ok(format!("auto, events of {}: {layout}{doubt}", kind.name()))
}
