//! The same as questions `split-read` and `published`, over Cassandra.
//!
//! Origins and targets are compacted before anything is measured, so that nothing is gained only because a copy lies in fewer
//! files than what was written bit by bit. What is wanted is what `wide-measured.md` found that splitting alone can give; where it
//! loses, that is known and stated, and nothing is wanted of it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use env::Env;
use store::Store;
use store_cassandra::CassandraStore;
use tokio::runtime::{Builder, Runtime};

use super::Question;
use super::published::{self, Kept};
use super::split_read::{Both, Found, NAMES, Reads, WAYS, Ways, write};
use crate::cassandra::{Home, beside};
use crate::harness::{Answer, Goal, Percentile, Setting, Unit};
use crate::remote::{Remote, Threads};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-split-read",
    asks: "reads of wide partitions of Cassandra from the targets of their splits, against their origins",
    answer: |setting| beside(QUESTION.name, Unit::Events, || answer(setting)),
};

const READS: Reads = Reads { first_pages: 400, narrow: 150, small: 800 };
const READS_QUICK: Reads = Reads { first_pages: 50, narrow: 20, small: 100 };
/// What splitting alone is to give, beside the origin.
const DRAIN_MIN: f64 = 1.5;
const SEARCH_MIN: f64 = 1.5;
const COUNT_MIN: f64 = 1.4;
/// Pages may take so many times as long.
const PAGES_TIMES_MAX: f64 = 1.1;
/// And beside a range-parallel read of the origin.
const AT_ONCE_MIN: f64 = 0.75;

fn answer(setting: &Setting) -> Result<Answer> {
    let reads = if setting.quick { READS_QUICK } else { READS };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let split_read = Home::with(setting, |home| {
        let both = write(setting, connect(home, &runtime)?, &runtime)?;
        let compacted = compact(home, &NAMES);
        let ways = Ways { columns: WAYS, suffix: "" };
        let both = Both { runtime: &runtime, both: &both, reads, ways };
        let mut found = both.measured(setting, QUESTION.name)?;
        found.notes.push(compacted);
        Ok(found)
    })?;
    let published = Home::with(setting, |home| {
        published::measured(setting, &InCluster { home, runtime: &runtime }, QUESTION.name)
    })?;
    Found {
        runs: [split_read.runs, published.runs].concat(),
        goals: [wanted(), published.goals].concat(),
        lines: [split_read.lines, published.lines].concat(),
        notes: [split_read.notes, published.notes, vec![CORES.to_owned()]].concat(),
    }
    .concluded(QUESTION.name, WAYS)
}

const CORES: &str = "the node has the same cores, and its CPU is counted on no side; one node, so no split moves load to another one";

fn connect(home: &Home, runtime: &Runtime) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(runtime.block_on(async { CassandraStore::connect(&home.options(), Env::system()).await })?))
}

/// Compacts namespaces if that can be; what a reader of figures has to know of it.
fn compact(home: &Home, namespaces: &[&str]) -> String {
    home.compact(namespaces).map_or_else(
        |error| format!("NOT compacted, so off may read more files than the targets have: {error:#}"),
        |()| {
            format!(
                "origins and targets of {} were flushed and compacted before, by nodetool",
                namespaces.join(", ")
            )
        },
    )
}

/// In keyspaces of its own.
struct InCluster<'a> {
    home: &'a Home,
    runtime: &'a Runtime,
}

impl Kept for InCluster<'_> {
    fn with_store<T>(&self, work: impl FnOnce(Arc<dyn Store>, &Runtime) -> Result<T>) -> Result<T> {
        work(connect(self.home, self.runtime)?, self.runtime)
    }

    fn settle(&self) -> Result<String> {
        Ok(compact(self.home, &[published::NAMESPACE]))
    }

    fn serve(&self) -> Result<Remote> {
        self.home.serve(Threads::Two)
    }
}

fn wanted() -> Vec<Goal> {
    let rate = |subject, control, at_least| Goal::Rate { subject, control, at_least };
    let pages = |subject, control| Goal::Slowdown {
        subject,
        control,
        percentile: Percentile::P50,
        times: PAGES_TIMES_MAX,
        plus: Duration::ZERO,
    };
    vec![
        rate("drain, event_bucket", "drain, off", DRAIN_MIN),
        rate("drain, time_range", "drain, off", DRAIN_MIN),
        rate("drain, event_bucket", "drain, off, 4 readers", AT_ONCE_MIN),
        rate("drain, time_range", "drain, off, 4 readers", AT_ONCE_MIN),
        rate("search, event_bucket", "search, off", SEARCH_MIN),
        rate("search, time_range", "search, off", SEARCH_MIN),
        rate("count, event_bucket", "count, off", COUNT_MIN),
        rate("count, time_range", "count, off", COUNT_MIN),
        pages("narrow, event_bucket", "narrow, off"),
        pages("narrow, time_range", "narrow, off"),
        pages("newest, time_range", "newest, off"),
    ]
}
