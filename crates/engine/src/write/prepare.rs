//! What both kinds of write do first: validate each event, make the slices they need, place them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::Timestamp;

use super::place::{Placed, PlacedEvent, place};
use super::validate::{ValidEvent, Window, validate};
use crate::block::Access;
use crate::catalog::{Catalog, Dataset};
use crate::{Cost, EVENTS_MAX, Error, Reason, Refusal, Result, SliceState, WriteAnswer, WriteRequest};

/// Slices that one request may make.
const NEW_SLICES_MAX: usize = 8;

/// A request that is ready to be stored or queued.
pub(crate) struct Prepared {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) placed: Vec<Placed>,
    pub(crate) refused: Refused,
}

impl Prepared {
    /// How many slices it touches.
    pub(crate) fn slices(&self) -> u64 {
        self.placed.iter().map(|placed| &placed.batch.table).collect::<BTreeSet<_>>().len() as u64
    }
}

/// Refused events by their place in the request.
#[derive(Default)]
pub(crate) struct Refused {
    by_index: BTreeMap<usize, Error>,
    /// The last event that was right and failed all the same.
    trouble: Option<usize>,
}

impl Refused {
    /// Refuses one event.
    pub(crate) fn one(&mut self, index: usize, error: Error) {
        self.by_index.insert(index, error);
    }

    /// Refuses several events for the same reason.
    pub(crate) fn all(&mut self, events: &[PlacedEvent], error: &Error) {
        for event in events {
            self.one(event.index, Error::new(error.reason(), error.to_string()));
        }
    }

    /// Valid events that could not be stored.
    pub(crate) fn troubled(&mut self, events: &[PlacedEvent], error: &Error) {
        self.all(events, error);
        self.trouble = events.last().map(|event| event.index).or(self.trouble);
    }

    /// The answer. Where nothing was accepted and the events were not to blame, the trouble is the answer, not a detail
    /// of it.
    pub(crate) fn into_answer(mut self, accepted: usize, cost: Cost) -> Result<WriteAnswer> {
        if accepted == 0
            && let Some(error) = self.trouble.and_then(|index| self.by_index.remove(&index))
        {
            return Err(error);
        }
        let refusal = |(index, error): (usize, Error)| Refusal {
            index,
            reason: error.reason(),
            message: error.to_string(),
        };
        Ok(WriteAnswer { refused: self.by_index.into_iter().map(refusal).collect(), accepted, cost })
    }
}

/// Checks and places the events of a request. `margin` narrows the accept window for events that will wait.
pub(crate) async fn prepare(
    catalog: &Catalog,
    now: i64,
    margin: std::time::Duration,
    request: WriteRequest,
) -> Result<Prepared> {
    if request.events.len() > EVENTS_MAX {
        let count = request.events.len();
        let message =
            format!("{count} events in one request, the limit is {EVENTS_MAX}; send several requests");
        return Err(Error::new(Reason::RangeTooWide, message));
    }
    let dataset = catalog.find(&request.namespace)?;
    let window = Window::of(&dataset.namespace.spec, now).narrowed(margin);
    let mut refused = Refused::default();
    let mut valid = Vec::with_capacity(request.events.len());
    for (index, event) in request.events.into_iter().enumerate() {
        // Microseconds; one for the whole request.
        let checked = validate(event, window, now / 1_000).and_then(|event| {
            dataset.check_access(&event.series, now, Access::Write)?;
            check_open(&dataset, event, now)
        });
        match checked {
            Ok(event) => valid.push((index, event)),
            Err(error) => refused.one(index, error),
        }
    }
    let dataset = ensure_slices(catalog, dataset, &mut valid, &mut refused).await?;
    let placed = place(&dataset, valid, &mut refused);
    Ok(Prepared { dataset, placed, refused })
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
    refused: &mut Refused,
) -> Result<Arc<Dataset>> {
    let mut new: BTreeMap<i64, Timestamp> = BTreeMap::new();
    valid.retain(|(index, event)| {
        if dataset.layouts.find(event.time).is_some() {
            return true;
        }
        let start = dataset.timeline.slice_of(event.time).start();
        if new.len() >= NEW_SLICES_MAX && !new.contains_key(&start) {
            let message =
                format!("a request may make {NEW_SLICES_MAX} new slices; send the rest in another request");
            refused.one(*index, Error::new(Reason::RateLimited, message));
            return false;
        }
        new.insert(start, event.time);
        true
    });
    if new.is_empty() {
        return Ok(dataset);
    }
    let times: Vec<Timestamp> = new.values().copied().collect();
    let ensured = catalog.ensure_slices(&dataset, &times).await?;
    valid.retain(|(index, event)| {
        let start = dataset.timeline.slice_of(event.time).start();
        let Some(error) = new.get(&start).and_then(|time| ensured.refused.get(time)) else { return true };
        refused.troubled(&[PlacedEvent { index: *index, time: event.time }], error);
        false
    });
    Ok(ensured.dataset)
}
