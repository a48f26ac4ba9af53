//! What both kinds of write do first: validate each event, make the slices they need, place them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{NamespaceName, Timestamp};

use super::accept::may_write;
use super::place::{Placed, PlacedEvent, place};
use super::validate::{ValidEvent, validate};
use super::window::Window;
use crate::block::Access;
use crate::catalog::{Catalog, Dataset};
use crate::view::Standing;
use crate::{Cost, EVENTS_MAX, Error, Reason, Refusal, Result, WriteAnswer, WriteRequest};

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
    let (dataset, standing) = enter(catalog, &request.namespace).await?;
    let window = Window::of(&dataset, standing, now).narrowed(margin);
    let mut refused = Refused::default();
    let mut valid = Vec::with_capacity(request.events.len());
    for (index, event) in request.events.into_iter().enumerate() {
        // Microseconds; one for the whole request.
        let checked = validate(event, window, now / 1_000).and_then(|event| {
            dataset.check_access(&event.series, now, Access::Write)?;
            Ok(event)
        });
        match checked {
            Ok(event) => valid.push((index, event)),
            Err(error) => refused.one(index, error),
        }
    }
    let dataset = ensure_slices(catalog, dataset, &mut valid, &mut refused).await?;
    wait_until_open(catalog, &dataset, valid.iter().map(|(_, event)| event.time)).await?;
    let placed = place(&dataset, valid, &mut refused);
    Ok(Prepared { dataset, placed, refused })
}

/// The namespace that is written to, and what this server may do there.
pub(super) async fn enter(catalog: &Catalog, name: &NamespaceName) -> Result<(Arc<Dataset>, Standing)> {
    let standing = may_write(catalog.settled_standing().await)?;
    Ok((catalog.find_or_look(name).await?, standing))
}

/// Waits until no server can miss events of these times in a read because it does not know their slice.
pub(super) async fn wait_until_open(
    catalog: &Catalog,
    dataset: &Dataset,
    times: impl Iterator<Item = Timestamp>,
) -> Result<()> {
    let opened = |time: Timestamp| {
        let layout = dataset.layouts.find(time)?;
        Some(dataset.opened_by(layout.slice.start()))
    };
    let newest = times.filter_map(opened).max();
    catalog.barrier(newest.unwrap_or(0)).await
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
