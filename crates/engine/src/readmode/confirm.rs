//! A second look at what differed. Confirmed, it takes the split out of use and its namespace back to shadow.

use std::sync::Arc;

use split::SplitId;

use super::compare::{Asked, Comparer, Look, Side};
use super::evidence::Evidence;
use super::metrics::Compared;
use super::mismatch::Mismatch;
use super::sides::{Difference, difference};
use crate::route::id_of;
use crate::{Error, PAGE_RECORDS_MAX, ReadRequest, Reason, Result};

impl Comparer {
    /// Compares the split as a whole, which also copies what came late to its origin, and then both reads once more. `seen` is
    /// what to count for the read.
    pub(super) async fn confirm(&self, asked: &Asked, found: Difference, seen: Evidence) -> Result<Compared> {
        let id = split_at(asked, &found)?;
        let in_use = self.splits.look_again(&id).await?;
        let again = Asked {
            dataset: self.catalog.find_same(&id.namespace, id.incarnation)?,
            request: ReadRequest { page_records: PAGE_RECORDS_MAX, ..asked.request.clone() },
            only: asked.only.clone(),
            until: asked.until.clone(),
        };
        let confirmed =
            if in_use { self.differs_again(&again).await? } else { self.was_damaged(&id).await? };
        let Some(confirmed) = confirmed.map(|again| again.unwrap_or(found)) else {
            self.notes.add(&again.dataset, &Evidence { unconfirmed: 1, ..seen });
            return Ok(Compared::Unconfirmed);
        };
        tracing::error!(split = %id, bytes = confirmed.bytes, "reads of origin and targets differ");
        self.metrics.bytes(0, confirmed.bytes);
        if in_use {
            let message = format!(
                "reads differ: {} events from the origin, {} from the targets",
                confirmed.origin.records, confirmed.target.records
            );
            self.splits.condemn(&id, message).await?;
        }
        let dataset = self.catalog.find_same(&id.namespace, id.incarnation)?;
        let differ = Evidence { differ: 1, differ_bytes: confirmed.bytes, ..seen };
        self.notes.add(&dataset, &differ);
        let (time, server) = (self.env.clock.wall(), self.catalog.me.id());
        let mismatch = Mismatch {
            origin: confirmed.origin,
            target: confirmed.target,
            ..Mismatch::new(time, server, id.to_string(), described(&asked.request))
        };
        self.catalog.keep_mismatch(&dataset, &mismatch).await?;
        Ok(Compared::Differ)
    }

    /// Reads both ways once more: none where it is the same by now, or cannot be compared any more.
    async fn differs_again(&self, asked: &Asked) -> Result<Option<Option<Difference>>> {
        let origin = self.look(asked, Side::Origin).await?;
        let targets = self.look(asked, Side::Targets).await?;
        if !targets.holds {
            return Ok(None);
        }
        let (origin, targets) = up_to_both(asked, origin, targets);
        Ok(difference(&origin, &targets, asked.request.order).map(Some))
    }

    /// A split that is out of use now: whether that was because of a difference.
    async fn was_damaged(&self, id: &SplitId) -> Result<Option<Option<Difference>>> {
        let record = self.catalog.split_record(id).await?.map(|stored| stored.record);
        let why = record.and_then(|record| record.reason).map(|why| why.code);
        Ok((why == Some(split::Reason::Mismatch)).then_some(None))
    }
}

/// The events of both looks up to where both have come.
fn up_to_both(asked: &Asked, origin: Look, targets: Look) -> (Vec<crate::Event>, Vec<crate::Event>) {
    let order = asked.request.order;
    let mut both = (origin.events, targets.events);
    for end in [origin.page.next, targets.page.next].into_iter().flatten() {
        both.0.retain(|event| !super::sides::is_beyond(event, &end.after, order));
        both.1.retain(|event| !super::sides::is_beyond(event, &end.after, order));
    }
    both
}

/// The split in which a difference lies.
fn split_at(asked: &Asked, found: &Difference) -> Result<SplitId> {
    let (dataset, at) = (Arc::clone(&asked.dataset), &found.at);
    let layout = dataset.layouts.find(at.time);
    let partition = layout.and_then(|layout| layout.place(&at.series, at.time, &at.to_event_id()));
    let id = layout.zip(partition).map(|(layout, partition)| id_of(&dataset, layout, &partition.key));
    id.ok_or_else(|| Error::new(Reason::SliceNotFound, "the slice of what differs is gone; nothing to do"))
}

fn described(request: &ReadRequest) -> String {
    let series: Vec<&str> = request.series.iter().map(model::SeriesId::as_str).collect();
    let interval = request.interval;
    let filtered = if request.query.is_some() { ", filtered" } else { "" };
    format!(
        "{} from {} to {} ns, {:?}{filtered}",
        series.join(" "),
        interval.start(),
        interval.end(),
        request.order
    )
}
