//! How fast does the server count a wide partition, against the store's own scan?
//!
//! One client asks for the count and follows the tokens, adding up. No event leaves the server, so what it costs beyond
//! the scan is to tell events apart and to count them. `stats` over the same events is shown beside it: it looks at every
//! value, too.

use anyhow::Result;
use api::v1;
use api::v1::aggregation_query::Aggregation;
use model::Order;

use super::Question;
use crate::harness::{Answer, Goal, Setting, Side, Unit, interleave};
use crate::wide::{SCAN_BYTES, SCAN_ROWS, Wide};
use crate::{progress, remote, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "count",
    asks: "counting a wide partition through gRPC, against the store's scan",
    answer,
};

const RATIO_MIN: f64 = 0.8;
const GROWTH_MAX_MIB: f64 = 64.0;

/// The sides of one order.
struct Names {
    order: Order,
    store: &'static str,
    count: &'static str,
    stats: &'static str,
}

const ORDERS: [Names; 2] = [
    Names {
        order: Order::OldestFirst,
        store: "store, oldest first",
        count: "count, oldest first",
        stats: "stats, oldest first",
    },
    Names {
        order: Order::NewestFirst,
        store: "store, newest first",
        count: "count, newest first",
        stats: "stats, newest first",
    },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let wide = &Wide::write(setting)?;
    let sides = ORDERS.iter().flat_map(|names| {
        let order = names.order;
        let through = move |aggregation: Aggregation| {
            move || {
                let request = wire::aggregate(&wide.series, order, aggregation.clone())?;
                wide.through_server(async |client| remote::add_up(client, request.clone()).await)
            }
        };
        [
            Side::new(names.store, move || wide.through_store(order)),
            Side::new(names.count, through(Aggregation::Count(v1::CountAggregation {}))),
            Side::new(names.stats, through(stats())),
        ]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let rate = |names: &Names| Goal::Rate { subject: names.count, control: names.store, at_least: RATIO_MIN };
    let growth = |names: &Names| Goal::Growth { side: names.count, at_most_mib: GROWTH_MAX_MIB };
    let goals: Vec<Goal> = ORDERS.iter().map(rate).chain(ORDERS.iter().map(growth)).collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(wide.note())
        .note(format!("store: pages of {SCAN_ROWS} rows or {SCAN_BYTES} bytes; count: tokens followed, counts added up"))
        .note("stats: nothing is wanted of it; it looks at every value and finds no number")
        .note("bytes are logical (time, ids, value) and those looked at, on all sides; the second of two passes is timed")
        .note("count and stats: one client on one thread of this process; CPU and memory are the server's"))
}

fn stats() -> Aggregation {
    Aggregation::Stats(v1::StatsAggregation { event_item_key: workload::ITEM_KEY.to_owned() })
}
