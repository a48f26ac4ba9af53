//! A namespace with far too narrow buckets: what reads of it cost, what its server proposes, and the next slice that obeys.

use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use prost_types::Timestamp;
use rpc::client::Client;

use crate::failure::Failure;
use crate::import::grouped;
use crate::output::value::{duration, size};

/// Where its events go.
pub(super) const NAMESPACE: &str = "demo_tune";
const REASON: &str = "braid demo";
const DAY: i64 = 86_400;
/// Slices that are written whole: as many as a proposal needs.
const SLICES: usize = 3;
/// The first of them began so many days before today; yesterday may not be closed yet.
const FIRST_DAYS_AGO: i64 = 4;
const SERIES: i64 = 5;
/// Events of a series in a day, each in a bucket of its own.
const EVENTS: i64 = 20;
const EVENTS_EVERY: i64 = 4_000;
const VALUE_BYTES: usize = 1_000;
const BUCKET_SECONDS: u32 = 60;
const PAGE: i32 = 1_000;
/// How often to look whether time is closed again.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Looks before it is given up: a minute.
const LOOKS_MAX: u32 = 1_200;

/// What was measured.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Tuning {
    /// Partitions of a closed slice, the median of those that were seen.
    pub(crate) partitions: i64,
    /// Their p99, as the server saw it.
    pub(crate) observed_p99_bytes: i64,
    /// How good that is: EXACT, PER_FILE or ESTIMATED.
    pub(crate) quality: String,
    /// Seconds of a bucket, as it was.
    pub(crate) from_seconds: u32,
    /// As it was proposed.
    pub(crate) to_seconds: u32,
    /// From which slice on.
    pub(crate) first_slice: String,
    /// The next slice that was made.
    pub(crate) next_slice: String,
    /// Seconds of its buckets.
    pub(crate) next_seconds: u32,
    /// Partitions that a read of a series over an old slice asked.
    pub(crate) read_before: i64,
    /// The same over the new one.
    pub(crate) read_after: i64,
}

impl Tuning {
    /// For people, a line each.
    pub(super) fn lines(&self) -> [String; 3] {
        let width = |seconds: u32| duration(Duration::from_secs(seconds.into()));
        let partitions = grouped(u64::try_from(self.partitions).unwrap_or(0));
        let p99 = size(u64::try_from(self.observed_p99_bytes).unwrap_or(0));
        let [before, after] = [self.read_before, self.read_after]
            .map(|partitions| grouped(u64::try_from(partitions).unwrap_or(0)));
        [
            format!(
                "{NAMESPACE}, in buckets of {}: a closed slice has {partitions} partitions, p99 {p99} ({})",
                width(self.from_seconds),
                self.quality
            ),
            format!(
                "proposed and accepted: buckets of {} from {} on; {}, made next, has {}",
                width(self.to_seconds),
                self.first_slice,
                self.next_slice,
                width(self.next_seconds)
            ),
            format!("partitions that a read of a day asks: {before} in an old slice, {after} in the new one"),
        ]
    }

    /// Whether the next slice is as it was proposed.
    pub(super) fn obeyed(&self) -> bool {
        self.next_seconds == self.to_seconds && self.next_slice >= self.first_slice
    }
}

/// Who tunes.
pub(super) struct Tuner<'a> {
    pub(super) client: &'a Client,
    pub(super) env: &'a Env,
}

impl Tuner<'_> {
    /// The namespace, as somebody made it who feared large partitions.
    pub(super) async fn create(&self) -> Result<(), Failure> {
        let shape =
            admin::Shape { seconds_per_bucket: BUCKET_SECONDS, buckets_per_id: 1, ..admin::Shape::default() };
        let namespace =
            admin::Namespace { name: NAMESPACE.to_owned(), shape: Some(shape), ..Default::default() };
        let request = admin::CreateNamespaceRequest {
            namespace: Some(namespace),
            validate_only: false,
            reason: REASON.to_owned(),
        };
        self.client.create_namespace(request).await?;
        Ok(())
    }

    /// Fills closed slices, looks at them, accepts what is proposed, writes on, and reads before and after.
    pub(super) async fn tune(&self) -> Result<Tuning, Failure> {
        let now = self.env.clock.wall() / 1_000_000_000;
        let today = now - now % DAY;
        let first = today - FIRST_DAYS_AGO * DAY;
        self.backfill(first).await?;
        let open = self.proposed().await?;
        let observed = open.observed.unwrap_or_default();
        let read_before = self.partitions(first).await?;
        let request = admin::AcceptProposalRequest {
            namespace: NAMESPACE.to_owned(),
            id: open.id,
            etag: open.etag.clone(),
            reason: REASON.to_owned(),
            ..admin::AcceptProposalRequest::default()
        };
        let accepted = self.client.accept_proposal(request).await?;
        // What is written now makes the next slice.
        self.write(vec![event(0, now)]).await?;
        let slices = self.client.list_slices(NAMESPACE).await?.slices;
        let next = slices.last().cloned().unwrap_or_default();
        let read_after = self.partitions(next.start.unwrap_or_default().seconds).await?;
        Ok(Tuning {
            partitions: observed.partitions,
            observed_p99_bytes: observed.p99,
            quality: open.quality,
            from_seconds: open.from.unwrap_or_default().seconds_per_bucket,
            to_seconds: open.to.unwrap_or_default().seconds_per_bucket,
            first_slice: accepted.first_slice,
            next_slice: next.table,
            next_seconds: next.shape.unwrap_or_default().seconds_per_bucket,
            read_before,
            read_after,
        })
    }

    /// Writes days that are over.
    async fn backfill(&self, first: i64) -> Result<(), Failure> {
        let request = admin::BeginBackfillRequest {
            namespace: NAMESPACE.to_owned(),
            start: Some(Timestamp { seconds: first, nanos: 0 }),
            end: Some(Timestamp { seconds: first + (FIRST_DAYS_AGO - 1) * DAY, nanos: 0 }),
            validate_only: false,
            reason: REASON.to_owned(),
        };
        let backfill = self.client.begin_backfill(request).await?;
        for start in (0..FIRST_DAYS_AGO - 1).map(|day| first + day * DAY) {
            let of = |series| (0..EVENTS).map(move |at| event(series, start + at * EVENTS_EVERY));
            self.write((0..SERIES).flat_map(of).collect()).await?;
        }
        let request = admin::EndBackfillRequest {
            namespace: NAMESPACE.to_owned(),
            id: backfill.id,
            validate_only: false,
            reason: REASON.to_owned(),
        };
        self.client.end_backfill(request).await?;
        Ok(())
    }

    async fn write(&self, events: Vec<v1::Event>) -> Result<(), Failure> {
        let sent = events.len();
        let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
        let answer = self.client.write_synced(request).await?;
        if usize::try_from(answer.accepted).is_ok_and(|accepted| accepted == sent) {
            return Ok(());
        }
        Err(Failure::Other(format!("{} of {sent} events were accepted in {NAMESPACE}", answer.accepted)))
    }

    /// Looks until all slices were closed and seen. They are read: a cluster's files hold nothing yet of what was just written.
    async fn proposed(&self) -> Result<admin::Proposal, Failure> {
        let request = admin::ObserveRequest {
            namespace: NAMESPACE.to_owned(),
            measure: true,
            reason: REASON.to_owned(),
            ..admin::ObserveRequest::default()
        };
        let mut finding = None;
        for _ in 0..LOOKS_MAX {
            let answer = self.client.observe(request.clone()).await?;
            let status = answer.status.unwrap_or_default();
            match answer.proposal {
                Some(proposal) if status.observations.len() >= SLICES => return Ok(proposal),
                _ => finding = status.finding,
            }
            self.env.clock.sleep(LOOK_EVERY).await;
        }
        let why = finding.unwrap_or_default();
        Err(Failure::Other(format!("nothing was proposed in a minute: {}: {}", why.code, why.message)))
    }

    /// Partitions that a read of one series asks over a day.
    async fn partitions(&self, start: i64) -> Result<i64, Failure> {
        let time = |seconds| Some(Timestamp { seconds, nanos: 0 });
        let mut request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: "series:0".to_owned(),
            time_interval: Some(v1::TimeInterval { start: time(start), end: time(start + DAY) }),
            page_size: PAGE,
            ..v1::ReadEventRecordsRequest::default()
        };
        let mut partitions = 0;
        loop {
            let page = self.client.read(request.clone()).await?;
            partitions += page.response_context.iter().map(|context| context.partitions).sum::<i64>();
            if page.next_page_token.is_empty() {
                return Ok(partitions);
            }
            request.page_token = page.next_page_token;
        }
    }
}

fn event(series: i64, seconds: i64) -> v1::Event {
    let item = v1::EventItem {
        event_item_key: "play".to_owned(),
        event_item_value: vec![b'v'; VALUE_BYTES].into(),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: format!("series:{series}"),
        event_time: Some(Timestamp { seconds, nanos: 0 }),
        event_id: format!("e{seconds}"),
        event_items: vec![item],
        continues: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_tells_what_was_measured_and_whether_it_was_obeyed() {
        let mut tuning = Tuning {
            partitions: 100,
            observed_p99_bytes: 1_022,
            quality: "EXACT".to_owned(),
            from_seconds: 60,
            to_seconds: 86_400,
            first_slice: "data_20261117".to_owned(),
            next_slice: "data_20261118".to_owned(),
            next_seconds: 86_400,
            read_before: 1_440,
            read_after: 1,
        };
        assert_eq!(
            tuning.lines(),
            [
                "demo_tune, in buckets of 1m: a closed slice has 100 partitions, p99 1022 B (EXACT)",
                "proposed and accepted: buckets of 1d from data_20261117 on; data_20261118, made next, has 1d",
                "partitions that a read of a day asks: 1,440 in an old slice, 1 in the new one",
            ]
        );
        assert!(tuning.obeyed());
        tuning.next_seconds = 60;
        assert!(!tuning.obeyed());
    }
}
