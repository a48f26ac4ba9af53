//! The same as question `split`, over Cassandra.

use std::sync::Arc;

use anyhow::Result;
use env::Env;
use store::Store;
use store_cassandra::CassandraStore;
use tokio::runtime::Builder;

use super::Question;
use super::split::{Wanted, compared, concluded, timed};
use crate::cassandra::{Home, beside};
use crate::harness::{Answer, Goal, Setting, Unit};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-split",
    asks: "splitting a wide partition of Cassandra, against reading it and writing it back",
    answer: |setting| beside(QUESTION.name, Unit::Bytes, || answer(setting)),
};

const LARGE_MAX_SECONDS: f64 = 60.0;

fn answer(setting: &Setting) -> Result<Answer> {
    let wanted = Wanted::of(setting, LARGE_MAX_SECONDS);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let connect = |home: &Home| -> Result<Arc<dyn Store>> {
        Ok(Arc::new(
            runtime.block_on(async { CassandraStore::connect(&home.options(), Env::system()).await })?,
        ))
    };
    let mut goals = Vec::new();
    for (what, bytes, at_most) in wanted.sizes {
        let values = Home::with(setting, |home| runtime.block_on(timed(setting, connect(home)?, bytes)))?;
        goals.push(Goal::Figures { what, values, at_most });
    }
    let runs = Home::with(setting, |home| compared(setting, connect(home)?, wanted.compared, &runtime))?;
    concluded(QUESTION.name, runs, goals)
}
