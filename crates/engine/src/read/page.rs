//! One page of events.

use model::{Interval, Timestamp};

use super::events::PageOfEvents;
use super::walk::{Filled, Reading, Walked, walk};
use crate::catalog::Dataset;
use crate::query::Matcher;
use crate::{Error, PAGE_RECORDS_MAX, ReadPage, ReadRequest, Result, SERIES_MAX, SliceState};

/// Bytes that one page of events reads at most.
pub(crate) const PAGE_SCAN_BYTES_MAX: u64 = 64 << 20;

/// Reads one page.
pub(crate) async fn read_page(reading: &Reading<'_>) -> Result<(ReadPage, Walked)> {
    let request = reading.request;
    check(request)?;
    let matcher = matcher(request)?;
    let mut page = PageOfEvents::new(request, &matcher);
    let mut walked = walk(reading, &mut page).await?;
    let (events, ended) = page.finish(walked.filled == Filled::Over);
    let conclusion = walked.conclude(reading, ended);
    let page = ReadPage {
        events,
        next: conclusion.next,
        partial: conclusion.partial,
        retention_truncated: is_truncated(reading.dataset, request.interval, reading.clock.wall()),
        partitions: std::mem::take(&mut walked.visited.partitions),
        cost: walked.visited.cost,
    };
    Ok((page, walked))
}

/// What judges the events of a read.
pub(crate) fn matcher(request: &ReadRequest) -> Result<Matcher> {
    request.query.as_ref().map_or_else(|| Ok(Matcher::everything()), Matcher::new)
}

/// Refuses what no page can be read of.
pub(crate) fn check(request: &ReadRequest) -> Result<()> {
    if !(1..=PAGE_RECORDS_MAX).contains(&request.page_records) {
        return Err(Error::field(
            "page_size",
            format!("must be 1 to {PAGE_RECORDS_MAX}; ask for several pages"),
        ));
    }
    if request.series.len() > SERIES_MAX {
        let problem = format!("names {} series; name at most {SERIES_MAX}", request.series.len());
        return Err(Error::field("time_series_ids", problem));
    }
    Ok(())
}

/// Whether the interval reaches into time whose slices were dropped, or would be by now.
pub(crate) fn is_truncated(dataset: &Dataset, interval: Interval, now: i64) -> bool {
    let start = Timestamp::from_nanos(interval.start().max(0));
    let expired = |time: Timestamp| {
        let slice = dataset.timeline.slice_of(time);
        dataset.state_of(slice, now) == SliceState::Expired
    };
    let mut dropped = dataset.dropped.iter();
    !interval.is_empty()
        && (start.is_ok_and(expired)
            || dropped.any(|(from, to)| from < interval.end() && interval.start() < to))
}
