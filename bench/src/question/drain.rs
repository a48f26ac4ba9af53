//! How fast does a wide partition leave the server, against the store's own scan?
//!
//! One partition is written once, flushed and left until compaction has settled. Then it is read to its end from the
//! same files: by the store in this process, page after page; through gRPC by pages of 1,000 events that follow their
//! tokens; and through gRPC as one stream. Each run opens the directory anew and reads everything once before the timed
//! pass.
//!
//! Memory is the server's: the growth of its anonymous memory during the timed pass, beyond the cache that the first pass
//! filled. A read of a partition may need some pages, and never a part of the partition.

use anyhow::Result;
use model::Order;

use super::Question;
use crate::harness::{Answer, Goal, Setting, Side, Unit, interleave};
use crate::wide::{PAGE_EVENTS, SCAN_BYTES, SCAN_ROWS, Wide};
use crate::{progress, remote, wire};

pub(crate) const QUESTION: Question = Question {
    name: "drain",
    asks: "reading a wide partition through gRPC, by pages and as a stream, against the store's scan",
    answer,
};

/// The server chooses, as for a client that names no size.
const STREAM_PAGE_EVENTS: i32 = 0;
const PAGES_RATIO_MIN: f64 = 0.2;
const STREAM_RATIO_MIN: f64 = 0.4;
const GROWTH_MAX_MIB: f64 = 64.0;

/// The sides of one order.
struct Names {
    order: Order,
    store: &'static str,
    pages: &'static str,
    stream: &'static str,
}

const ORDERS: [Names; 2] = [
    Names {
        order: Order::OldestFirst,
        store: "store, oldest first",
        pages: "pages, oldest first",
        stream: "stream, oldest first",
    },
    Names {
        order: Order::NewestFirst,
        store: "store, newest first",
        pages: "pages, newest first",
        stream: "stream, newest first",
    },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let wide = &Wide::write(setting)?;
    let sides = ORDERS.iter().flat_map(|names| {
        let order = names.order;
        [
            Side::new(names.store, move || wide.through_store(order)),
            Side::new(names.pages, move || {
                wide.through_server(async |client| wide.follow_tokens(client, order).await)
            }),
            Side::new(names.stream, move || {
                let request = wire::read(&wide.series, order, STREAM_PAGE_EVENTS)?;
                wide.through_server(async |client| remote::read_stream(client, request.clone()).await)
            }),
        ]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let rate = |subject, control, at_least| Goal::Rate { subject, control, at_least };
    let growth = |side| Goal::Growth { side, at_most_mib: GROWTH_MAX_MIB };
    let rates = ORDERS.iter().flat_map(|names| {
        [rate(names.pages, names.store, PAGES_RATIO_MIN), rate(names.stream, names.store, STREAM_RATIO_MIN)]
    });
    let growths = ORDERS.iter().flat_map(|names| [growth(names.pages), growth(names.stream)]);
    let goals: Vec<Goal> = rates.chain(growths).collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(wide.note())
        .note(format!(
            "store: pages of {SCAN_ROWS} rows or {SCAN_BYTES} bytes; pages: {PAGE_EVENTS} events; stream: the server's page"
        ))
        .note("bytes are logical (time, ids, value) on all sides; the second of two passes is timed")
        .note("pages and stream: one client on one thread of this process; CPU and memory are the server's")
        .note("memory: growth of anonymous memory in the timed pass, the engine's cache being warm"))
}
