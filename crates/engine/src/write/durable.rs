//! `WriteEventRecordsSync`: the answer comes when every accepted event is durable.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use store::{Durability, Store};

use super::accept::{Accepting, unknown_outcome};
use super::place::PlacedEvent;
use super::prepare::{Refused, prepare};
use crate::catalog::{Catalog, Dataset};
use crate::{Cost, Result, WriteAnswer, WriteRequest};

/// Partitions that one request writes at the same time.
const FAN_OUT: usize = 64;

/// Writes events; each is accepted or refused by itself.
pub(crate) async fn write_synced(
    catalog: &Catalog,
    store: &Arc<dyn Store>,
    clock: &dyn env::Clock,
    request: WriteRequest,
) -> Result<WriteAnswer> {
    let started = clock.boot();
    let prepared = prepare(catalog, clock.wall(), Duration::ZERO, request).await?;
    let (partitions, slices) = (prepared.placed.len() as u64, prepared.slices());
    let mut refused = prepared.refused;
    let results = stream::iter(prepared.placed).map(|placed| async move {
        let written = store.upsert(placed.batch, Durability::Synced).await;
        (placed.events, written)
    });
    let written: Vec<Written> = results.buffer_unordered(FAN_OUT).collect().await;
    let accepted = commit(catalog, &prepared.dataset, clock.wall(), written, &mut refused);
    let cost = Cost { time_taken: clock.boot().since(started), partitions, slices, ..Cost::default() };
    refused.into_answer(accepted, cost)
}

/// Events that went to the store together, and what it said.
type Written = (Vec<PlacedEvent>, store::Result<()>);

/// The second check: how many events are acknowledged. It comes behind the last store call, because the answer speaks for
/// all of them.
fn commit(
    catalog: &Catalog,
    written_to: &Dataset,
    now: i64,
    written: Vec<Written>,
    refused: &mut Refused,
) -> usize {
    let (name, incarnation) = (&written_to.namespace.name, written_to.namespace.incarnation);
    let accepting = Accepting::at(catalog, name, incarnation, now);
    let mut accepted = 0;
    for (events, outcome) in written {
        match (&accepting, outcome) {
            // Whatever the store said: what was written is gone with the namespace.
            (Err(gone), _) => refused.troubled(&events, gone),
            (Ok(_), Err(error)) => refused.troubled(&events, &error.into()),
            (Ok(accepting), Ok(())) => {
                let (taken, late) = accepting.part(events);
                accepted += taken.len();
                if !late.is_empty() {
                    refused.troubled(&late, &unknown_outcome());
                }
            }
        }
    }
    accepted
}
