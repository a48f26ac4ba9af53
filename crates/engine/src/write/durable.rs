//! `WriteEventRecordsSync`: the answer comes when every accepted event is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use model::Timestamp;
use store::{Durability, Store};

use super::place::place;
use super::validate::{ValidEvent, Window, validate};
use crate::catalog::{Catalog, Dataset};
use crate::{Cost, EVENTS_MAX, Error, Reason, Refusal, Result, SliceState, WriteAnswer, WriteRequest};

/// Partitions that one request writes at the same time.
const FAN_OUT: usize = 64;
/// Slices that one request may make.
const NEW_SLICES_MAX: usize = 8;

/// Writes events; each is accepted or refused by itself.
pub(crate) async fn write_synced(
    catalog: &Catalog,
    store: &Arc<dyn Store>,
    clock: &dyn env::Clock,
    request: WriteRequest,
) -> Result<WriteAnswer> {
    let started = clock.boot();
    if request.events.len() > EVENTS_MAX {
        let message = format!(
            "{} events in one request, the limit is {EVENTS_MAX}; send several",
            request.events.len()
        );
        return Err(Error::new(Reason::RangeTooWide, message));
    }
    let dataset = catalog.find(&request.namespace)?;
    let now = clock.wall();
    let window = Window::of(&dataset.namespace.spec, now);
    let mut refused = BTreeMap::new();
    let mut valid = Vec::with_capacity(request.events.len());
    for (index, event) in request.events.into_iter().enumerate() {
        // Microseconds; one for the whole request.
        let checked = validate(event, window, now / 1_000).and_then(|event| check_open(&dataset, event, now));
        match checked {
            Ok(event) => valid.push((index, event)),
            Err(error) => drop(refused.insert(index, error)),
        }
    }
    let dataset = ensure_slices(catalog, dataset, &mut valid, &mut refused).await?;
    let offered = valid.len();
    let placed = place(&dataset, valid);
    let partitions = placed.len() as u64;
    let slices = placed.iter().map(|placed| &placed.batch.table).collect::<BTreeSet<_>>().len() as u64;
    let results = stream::iter(placed).map(|placed| async move {
        let written = store.upsert(placed.batch, Durability::Synced).await;
        (placed.indexes, written)
    });
    let mut accepted = 0;
    let mut results = std::pin::pin!(results.buffer_unordered(FAN_OUT));
    while let Some((indexes, written)) = results.next().await {
        match written {
            Ok(()) => accepted += indexes.len(),
            Err(error) => fail(&mut refused, &indexes, error),
        }
    }
    if accepted == 0 && offered > 0 {
        // Nothing was stored: the store's trouble is the answer, not a detail of it.
        if let Some((_, error)) = refused.pop_last() {
            return Err(error);
        }
    }
    let cost = Cost { time_taken: clock.boot().since(started), bytes_read: 0, partitions, slices };
    let refusal = |(index, error): (usize, Error)| Refusal {
        index,
        reason: error.reason(),
        message: error.to_string(),
    };
    Ok(WriteAnswer { refused: refused.into_iter().map(refusal).collect(), accepted, cost })
}

/// Refuses events of slices that retention has closed.
fn check_open(dataset: &Dataset, event: ValidEvent, now: i64) -> Result<ValidEvent> {
    let slice = dataset.timeline.slice_of(event.time);
    if dataset.state_of(slice, now) == SliceState::Open {
        return Ok(event);
    }
    let message =
        format!("the slice data_{} is closed by retention; raise close_after to write it", slice.label());
    Err(Error::new(Reason::EventTooOld, message))
}

/// Makes the slices that events need; events beyond the limit on new ones are refused.
async fn ensure_slices(
    catalog: &Catalog,
    dataset: Arc<Dataset>,
    valid: &mut Vec<(usize, ValidEvent)>,
    refused: &mut BTreeMap<usize, Error>,
) -> Result<Arc<Dataset>> {
    let missing = |time: Timestamp| dataset.layouts.find(time).is_none();
    let mut new: BTreeMap<i64, Timestamp> = BTreeMap::new();
    valid.retain(|(index, event)| {
        if !missing(event.time) {
            return true;
        }
        let start = dataset.timeline.slice_of(event.time).start();
        if new.len() >= NEW_SLICES_MAX && !new.contains_key(&start) {
            let message =
                format!("a request may make {NEW_SLICES_MAX} new slices; send the rest in another request");
            refused.insert(*index, Error::new(Reason::RateLimited, message));
            return false;
        }
        new.insert(start, event.time);
        true
    });
    if new.is_empty() {
        return Ok(dataset);
    }
    let times: Vec<Timestamp> = new.into_values().collect();
    catalog.ensure_slices(&dataset.namespace.name, &times).await
}

fn fail(refused: &mut BTreeMap<usize, Error>, indexes: &[usize], error: store::Error) {
    let error = Error::from(error);
    for index in indexes {
        refused.insert(*index, Error::new(error.reason(), error.to_string()));
    }
}
