//! What a read did, and what it did not, and why.

use model::{Interval, Order, Position, Timestamp};

use super::page::read_page;
use super::span::left_of;
use super::take::edge;
use super::walk::{Filled, Reading, Walked};
use crate::{Event, Explanation, ReadRequest, Result, Resume, SkipReason, Skipped};

/// Reads one page and tells of it. `reading` must say that it explains.
pub(crate) async fn explain_page(reading: &Reading<'_>) -> Result<(Explanation, Walked)> {
    let (page, mut walked) = read_page(reading).await?;
    let reason = match walked.filled {
        Filled::TimeOver => SkipReason::TimeOver,
        Filled::Limit => SkipReason::ScanLimit,
        Filled::Full | Filled::Over if page.next.is_some() => SkipReason::PageFull,
        Filled::Full | Filled::Over => SkipReason::TotalLimit,
    };
    let last = || page.events.last().map(behind).filter(|_| walked.filled == Filled::Full);
    let left = page.next.clone().or_else(last).map(|resume| {
        let rest = ReadRequest { resume: Some(resume), ..reading.request.clone() };
        left_of(&rest)
    });
    let mut skipped = never_written(reading, left);
    skipped.extend(left.map(|left| left_over(reading, reason, left)));
    let groups = walked.visited.explained.take().unwrap_or_default();
    let explanation = Explanation { groups, skipped, read_ahead: walked.read_ahead as u64, page };
    Ok((explanation, walked))
}

/// The place of an event.
fn behind(event: &Event) -> Resume {
    let after = Position { event_id: event.to_event_id(), ..edge(event.time, &event.series) };
    Resume { after, remaining: None, scanned_bytes: Vec::new(), event_bucket: None }
}

fn left_over(reading: &Reading<'_>, reason: SkipReason, interval: Interval) -> Skipped {
    let (mut time_buckets, mut partitions) = (0, 0);
    for group in reading.dataset.layouts.cover(interval) {
        time_buckets += 1;
        partitions += u64::from(group.layout.shape.buckets_per_id) * reading.request.series.len() as u64;
    }
    Skipped { reason, interval, time_buckets, partitions }
}

/// The parts of the interval before what is left of it for which there is no slice, in the order of the read.
fn never_written(reading: &Reading<'_>, left: Option<Interval>) -> Vec<Skipped> {
    let (whole, order) = (reading.request.interval, reading.request.order);
    let whole = left.map_or(whole, |left| {
        let before = match order {
            Order::OldestFirst => Interval::new(whole.start(), left.start().max(whole.start())),
            Order::NewestFirst => Interval::new(left.end().min(whole.end()), whole.end()),
        };
        before.unwrap_or(whole)
    });
    let (mut gaps, mut from) = (Vec::new(), whole.start());
    for layout in reading.dataset.layouts.iter() {
        let slice = layout.slice.interval();
        if slice.intersect(whole).is_empty() {
            continue;
        }
        gap(reading, from, slice.start(), &mut gaps);
        from = slice.end();
    }
    gap(reading, from, whole.end(), &mut gaps);
    if order == Order::NewestFirst {
        gaps.reverse();
    }
    gaps
}

/// Adds the time from `start` to `end`: what retention has dropped of it, and what was never written.
fn gap(reading: &Reading<'_>, start: i64, end: i64, gaps: &mut Vec<Skipped>) {
    let kept = kept_since(reading).clamp(start, end.max(start));
    for (reason, from, to) in [(SkipReason::Dropped, start, kept), (SkipReason::NoSlice, kept, end)] {
        if let Some(interval) = Interval::new(from, to.max(from)).ok().filter(|part| !part.is_empty()) {
            gaps.push(Skipped { reason, interval, time_buckets: 0, partitions: 0 });
        }
    }
}

/// Where the oldest slice begins that retention still keeps.
fn kept_since(reading: &Reading<'_>) -> i64 {
    let delete_after = reading.dataset.namespace.spec.delete_after;
    if delete_after.is_zero() {
        return 0;
    }
    let age = i64::try_from(delete_after.as_nanos()).unwrap_or(i64::MAX);
    let time = Timestamp::from_nanos(reading.clock.wall().saturating_sub(age));
    time.map_or(0, |time| reading.dataset.timeline.slice_of(time).start())
}
