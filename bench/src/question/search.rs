//! How fast is a search that finds little, against reading everything?
//!
//! In one wide partition every ten-thousandth event has the same value. One client searches for that value, the other
//! reads the partition; both follow their tokens to the end. A search looks at as many bytes as a plain read and sends
//! hardly any, so what it costs is the scan with the filter beside it.

use anyhow::{Result, ensure};
use model::Order;
use rpc::client::Client;

use super::Question;
use crate::harness::{Answer, Goal, Setting, Side, Unit, interleave};
use crate::wide::{PAGE_EVENTS, Wide};
use crate::{progress, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "search",
    asks: "a search that 1 of 10,000 events of a wide partition matches, against reading it by pages",
    answer,
};

const RATIO_MIN: f64 = 0.6;
const GROWTH_MAX_MIB: f64 = 64.0;

/// The sides of one order.
struct Names {
    order: Order,
    pages: &'static str,
    search: &'static str,
}

const ORDERS: [Names; 2] = [
    Names { order: Order::OldestFirst, pages: "pages, oldest first", search: "search, oldest first" },
    Names { order: Order::NewestFirst, pages: "pages, newest first", search: "search, newest first" },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let wide = &Wide::write_marked(setting)?;
    let sides = ORDERS.iter().flat_map(|names| {
        let order = names.order;
        let pages = move || wide.through_server(async |client| wide.follow_tokens(client, order).await);
        let search = move || wide.through_server(async |client| search(client, wide, order).await);
        [Side::new(names.pages, pages), Side::new(names.search, search)]
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let rate =
        |names: &Names| Goal::Rate { subject: names.search, control: names.pages, at_least: RATIO_MIN };
    let growth = |names: &Names| Goal::Growth { side: names.search, at_most_mib: GROWTH_MAX_MIB };
    let goals: Vec<Goal> = ORDERS.iter().map(rate).chain(ORDERS.iter().map(growth)).collect();
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(wide.note())
        .note(format!(
            "the search finds {} of them, which have the same value; both ask for pages of {PAGE_EVENTS} events",
            marked(wide.events())
        ))
        .note("bytes are logical (time, ids, value) and those looked at, on both sides; the second of two passes is timed")
        .note("one client on one thread of this process; CPU and memory are the server's"))
}

/// How many of the first so many events are marked.
const fn marked(events: u64) -> u64 {
    events.div_ceil(workload::MARKED_EVERY)
}

/// Searches to the end; returns how many events were looked at, once it is sure that what was looked for was found.
async fn search(client: &Client, wide: &Wide, order: Order) -> Result<u64> {
    let mut request = wire::search_marked(&wide.series, order, PAGE_EVENTS)?;
    let (mut found, wanted) = (0, marked(wide.events()));
    loop {
        let page = client.search(request.clone()).await?;
        found += page.records.len() as u64;
        if page.next_page_token.is_empty() {
            ensure!(found == wanted, "found {found} events instead of {wanted}");
            return Ok(wide.events());
        }
        request.page_token = page.next_page_token;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_looked_for_as_are_marked() {
        for events in [0, 1, 9_999, 10_000, 10_001, 35_000] {
            let counted = (0..events).filter(|event| workload::is_marked(*event)).count();
            assert_eq!(marked(events), counted as u64);
        }
    }
}
