//! One answer to an aggregation.

use model::{Interval, Order};

use super::tally::Tally;
use crate::read::{Filled, Reading, Walked, check, is_truncated, matcher, passed, walk};
use crate::{AggregatePage, Aggregation, Error, Result, Resume};

/// Bytes that one answer reads at most; nothing of them is held.
pub(crate) const AGGREGATE_SCAN_BYTES_MAX: u64 = 1 << 30;

/// Reads until the interval, the time or a limit of the answer is over.
pub(crate) async fn aggregate_page(
    reading: &Reading<'_>,
    aggregation: &Aggregation,
) -> Result<(AggregatePage, Walked)> {
    let request = reading.request;
    check(request)?;
    if let Aggregation::TimeHistogram { width: ..=0 } = aggregation {
        let problem = "is not over 0; send how long a stretch of time is, such as 60s";
        return Err(Error::field("aggregation_query.time_histogram.interval", problem));
    }
    let matcher = matcher(request)?;
    let mut tally = Tally::new(request, aggregation, &matcher);
    let walked = walk(reading, &mut tally).await?;
    let (count, buckets, stats, ended) = tally.finish(walked.filled == Filled::Over);
    let conclusion = walked.conclude(reading, ended);
    let page = AggregatePage {
        buckets,
        count,
        stats,
        complete: covered(reading, conclusion.next.as_ref()),
        next: conclusion.next,
        partial: conclusion.partial,
        retention_truncated: is_truncated(reading.dataset, request.interval, reading.clock.wall()),
        cost: walked.visited.cost,
    };
    Ok((page, walked))
}

/// The part of the interval that lies between where the read went on and where it goes on next.
fn covered(reading: &Reading<'_>, next: Option<&Resume>) -> Interval {
    let whole = reading.request.interval;
    let before = reading.request.resume.as_ref().map(|resume| passed(reading, resume));
    let until = next.map_or(whole, |next| passed(reading, next));
    let covered = match (reading.request.order, before) {
        (_, None) => Ok(until),
        (Order::OldestFirst, Some(before)) => Interval::new(before.end().min(until.end()), until.end()),
        (Order::NewestFirst, Some(before)) => Interval::new(until.start(), before.start().max(until.start())),
    };
    covered.unwrap_or(until)
}
