//! What reads do: notice that a partition is wide, and say so once. Nothing here waits, fails or grows without a limit.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use env::BootTime;
use model::{Layout, PartitionKey};
use split::{Detection, Origin, Reason, Record, SplitId, State, Usage, Why};
use tokio::sync::Notify;

use super::splits::{Splits, layout_of};
use crate::catalog::{Dataset, MARGIN, nanos};
use crate::namespace::SplitPolicy;
use crate::{PartitionBytes, ReadRequest, Result};

/// What was said is not said again for so long.
const ONCE_IN: Duration = Duration::from_secs(30);
/// Detections that may wait; further ones are dropped and counted: the next read finds them again.
const WAITING_MAX: usize = 1_024;
/// Partitions that are remembered as told.
const TOLD_MAX: usize = 8_192;

/// A partition, as reads know it: namespace, incarnation, partition, start of its slice.
pub(super) type Seen = (String, u32, PartitionKey, i64);
/// Which one was told of, and whether as immutable.
type Told = (Seen, bool);

/// Detections between the reads that make them and whoever takes them.
#[derive(Default)]
pub(crate) struct Detector {
    state: Mutex<Waiting>,
    news: Notify,
}

#[derive(Default)]
struct Waiting {
    told: BTreeMap<Told, BootTime>,
    /// How those that were told of are read.
    usage: BTreeMap<Seen, Usage>,
    queue: VecDeque<(Detection, BootTime)>,
}

/// What became of something that a read saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It waits to be taken.
    Now,
    /// It was said a moment ago.
    Before,
    /// There is no room.
    Dropped,
}

impl Detector {
    fn say(&self, told: Told, detection: Detection, now: BootTime) -> Said {
        // A read never waits: whoever holds the lock tells of something too, and the next read tells of this.
        let Ok(mut state) = self.state.try_lock() else { return Said::Dropped };
        if state.told.get(&told).is_some_and(|at| now.since(*at) < ONCE_IN) {
            return Said::Before;
        }
        if state.told.len() >= TOLD_MAX {
            state.told.retain(|_, at| now.since(*at) < ONCE_IN);
        }
        if state.told.len() >= TOLD_MAX || state.queue.len() >= WAITING_MAX {
            return Said::Dropped;
        }
        if state.usage.len() >= TOLD_MAX {
            state.usage.clear();
        }
        state.usage.entry(told.0.clone()).or_default();
        state.told.insert(told, now);
        state.queue.push_back((detection, now));
        drop(state);
        self.news.notify_one();
        Said::Now
    }

    /// Counts a read that began in a partition, or has just read enough of it to call it wide, if that is known to be so.
    fn read(&self, seen: &Seen, begun: bool, long: bool) {
        let Ok(mut state) = self.state.try_lock() else { return };
        if let Some(usage) = state.usage.get_mut(seen) {
            usage.begun += u64::from(begun);
            usage.long += u64::from(long);
        }
    }

    /// How a partition is read, as far as this server has seen.
    pub(super) fn usage(&self, seen: &Seen) -> Usage {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.usage.get(seen).copied().unwrap_or_default()
    }

    /// Takes the oldest.
    fn take(&self) -> Option<(Detection, BootTime)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).queue.pop_front()
    }

    /// Waits until there may be one.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }
}

impl Splits {
    /// A read has read so much of some partitions.
    pub(crate) fn saw(&self, dataset: &Dataset, request: &ReadRequest, partitions: &[PartitionBytes]) {
        let spec = &dataset.namespace.spec.split;
        if spec.policy == SplitPolicy::Off {
            return;
        }
        let (now, wall) = (self.env.clock.boot(), self.env.clock.wall());
        let before = request
            .resume
            .as_ref()
            .map_or(0, |resume| resume.scanned_bytes.iter().copied().max().unwrap_or(0));
        let begun = request.resume.is_none();
        let wide = partitions.iter().filter(|seen| seen.bytes > spec.threshold_bytes);
        for seen in partitions.iter().filter(|seen| begun && seen.bytes <= spec.threshold_bytes) {
            self.detector.read(&key_of(dataset, seen), true, false);
        }
        for seen in wide {
            self.detector.read(&key_of(dataset, seen), begun, before <= spec.threshold_bytes);
            let start = model::Timestamp::checked(seen.slice_start);
            let Some(layout) = start.and_then(|start| dataset.layouts.find(start)) else { continue };
            let partition = PartitionKey {
                series: seen.series.clone(),
                time_bucket: seen.time_bucket,
                event_bucket: seen.event_bucket,
            };
            let immutable = is_closed(dataset, layout, seen.time_bucket, wall);
            let (name, table) = (dataset.namespace.name.as_str(), dataset.table(layout));
            let detection = Detection::new(name, table.name.as_str(), &partition, immutable, seen.bytes);
            let told = (key_of(dataset, seen), immutable);
            self.metrics.detected(immutable, self.detector.say(told, detection, now));
        }
    }

    /// Makes candidates of what reads have seen; gives back how many detections there were.
    pub(crate) async fn take_detections(&self) -> Result<usize> {
        let mut taken = 0;
        while let Some((detection, since)) = self.detector.take() {
            taken += 1;
            // What is lost here is seen by the next read.
            self.note(&detection, self.env.clock.boot().since(since)).await?;
        }
        Ok(taken)
    }

    /// Takes the oldest detection out, for a queue that carries it elsewhere.
    pub(crate) fn hand_over(&self) -> Option<Detection> {
        self.detector.take().map(|(detection, _)| detection)
    }

    /// Makes a candidate of a detection that was made so long ago; whether it names a partition that may be wide.
    pub(crate) async fn note(&self, detection: &Detection, age: Duration) -> Result<bool> {
        if self.origin_of(detection).is_none() {
            // Another server may have made it a moment ago.
            self.catalog.refresh().await?;
        }
        let Some((id, layout)) = self.origin_of(detection) else {
            tracing::debug!(?detection, "a detection names no partition");
            return Ok(false);
        };
        self.accept(detection, id, &layout).await?;
        self.metrics.lagged(age);
        self.work.notify_one();
        Ok(true)
    }

    /// Makes a candidate of a partition, unless there is a record of it that stands.
    async fn accept(&self, detection: &Detection, id: SplitId, layout: &Layout) -> Result<()> {
        let server = self.catalog.me.id();
        let at = self.moment(&server);
        let end = layout.bucket_interval(id.partition.time_bucket).end();
        match self.catalog.split_record(&id).await? {
            None => {
                let origin = Origin { id: id.clone(), end, bytes_read: Some(detection.bytes_read) };
                self.catalog.make_split(&id, Record::candidate(origin, false, None, at)).await?;
            }
            Some(stored) if is_worth_another_look(&stored.record) => {
                let why = Why::new(Reason::NotWide, "a read found it wide again");
                if let Some(again) = stored.record.wanted_again(None, why, at) {
                    let again = Record { by_hand: false, ..again };
                    // Whoever was faster has looked at it too.
                    self.catalog.put_split(&id, Some(&stored), &again).await?;
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// The partition that a detection names, if it exists and the detection itself calls it wide.
    fn origin_of(&self, detection: &Detection) -> Option<(SplitId, Layout)> {
        let name = model::NamespaceName::new(&detection.namespace).ok()?;
        let dataset = self.catalog.find(&name).ok()?;
        let layout = layout_of(&dataset, &detection.time_slice)?;
        let exists = detection.time_bucket < layout.shape.time_buckets(layout.slice)
            && detection.event_bucket < u32::from(layout.shape.buckets_per_id);
        let series = model::SeriesId::new(&detection.time_series_id).ok()?;
        let (time_bucket, event_bucket) = (detection.time_bucket, detection.event_bucket);
        let id = SplitId {
            namespace: name,
            incarnation: dataset.namespace.incarnation,
            time_slice: detection.time_slice.clone(),
            partition: PartitionKey { series, time_bucket, event_bucket },
        };
        let wide = detection.bytes_read > dataset.namespace.spec.split.threshold_bytes;
        (exists && wide).then_some((id, layout))
    }
}

fn key_of(dataset: &Dataset, seen: &PartitionBytes) -> Seen {
    let PartitionBytes { series, time_bucket, event_bucket, slice_start, .. } = seen;
    let partition =
        PartitionKey { series: series.clone(), time_bucket: *time_bucket, event_bucket: *event_bucket };
    (dataset.namespace.name.as_str().to_owned(), dataset.namespace.incarnation, partition, *slice_start)
}

/// Whether a detection says something new of a split that has ended: it was not wide, or was given up for a backfill.
fn is_worth_another_look(record: &Record) -> bool {
    let reason = record.reason.as_ref().map(|why| why.code);
    matches!(
        (record.state, reason),
        (State::Rejected, Some(Reason::NotWide)) | (State::Retired, Some(Reason::Backfill))
    )
}

/// Whether nobody may write to a time bucket any more, as far as this server can tell.
pub(super) fn is_closed(dataset: &Dataset, layout: &Layout, time_bucket: u32, now: i64) -> bool {
    let end = layout.bucket_interval(time_bucket).end();
    let accept = dataset.base_accept();
    let by_clock =
        !accept.is_zero() && end <= now.saturating_sub(nanos(accept)).saturating_sub(nanos(MARGIN));
    (end <= dataset.record.closed || by_clock)
        && !dataset.is_to_be_written(layout.bucket_interval(time_bucket))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(series: &str) -> (Told, Detection) {
        let partition =
            PartitionKey { series: model::SeriesId::new(series).unwrap(), time_bucket: 0, event_bucket: 0 };
        let detection = Detection::new("n", "data_20260328", &partition, true, 1);
        ((("n".to_owned(), 1, partition, 0), true), detection)
    }

    fn at(seconds: u64) -> BootTime {
        BootTime::from_boot(Duration::from_secs(seconds))
    }

    #[test]
    fn a_partition_is_told_of_once_in_a_while() {
        let detector = Detector::default();
        let say = |series, now| {
            let (told, detection) = told(series);
            detector.say(told, detection, at(now))
        };
        assert_eq!(
            [say("a", 0), say("a", 29), say("b", 29), say("a", 30)],
            [Said::Now, Said::Before, Said::Now, Said::Now]
        );
        assert_eq!(std::iter::from_fn(|| detector.take()).count(), 3);
    }

    #[test]
    fn how_a_partition_is_read_is_counted_once_it_was_told_of() {
        let detector = Detector::default();
        let ((seen, immutable), detection) = told("a");
        detector.read(&seen, true, true);
        assert_eq!(detector.usage(&seen), Usage::default(), "nothing is kept of what nobody told of");
        detector.say((seen.clone(), immutable), detection, at(0));
        for long in [true, false, true] {
            detector.read(&seen, true, long);
        }
        detector.read(&seen, false, true);
        assert_eq!(detector.usage(&seen), Usage { begun: 3, long: 3, ..Usage::default() });
    }

    #[test]
    fn what_has_no_room_is_dropped_and_nothing_waits() {
        let detector = Detector::default();
        let say = |number: usize| {
            let (told, detection) = told(&number.to_string());
            detector.say(told, detection, at(0))
        };
        assert!((0..WAITING_MAX).all(|number| say(number) == Said::Now));
        assert_eq!(say(WAITING_MAX), Said::Dropped);
        let _held = detector.state.lock().unwrap();
        assert_eq!(say(0), Said::Dropped);
    }
}
