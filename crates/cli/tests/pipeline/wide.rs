//! Wide partitions whose time is closed: written before anything fails, read without an end, split one after the other.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::admin::v1 as admin;
use api::v1;

use crate::fleet::Fleet;
use crate::live::{Kind, Live, NAMESPACE, within};

const EVENTS: i64 = 1_500;
const VALUE_BYTES: usize = 1_000;
const BATCH: i64 = 500;
const HOUR: i64 = 3_600;
const PAGE: i32 = 300;
/// How clients exit where there is no such thing.
const NOT_FOUND: u8 = 3;
/// A partition over this is wide, and its targets have half of it.
const THRESHOLD_BYTES: i64 = 512 << 10;

/// Partitions of a megabyte and a half: one for each scene, and some that are split before anybody reads them.
pub(crate) struct Wide {
    /// The whole hour in which their events are, seconds since 1970.
    start: i64,
    /// What their ids begin with.
    pub(crate) bucket: (String, i64),
    /// So many of them are read.
    read: AtomicUsize,
}

pub(crate) fn series(at: usize) -> String {
    format!("wide-{at}")
}

fn event(start: i64, series: &str, at: i64) -> v1::Event {
    let value = format!("{series}/{at:08} ").repeat(VALUE_BYTES / (series.len() + 10));
    v1::Event {
        time_series_id: series.to_owned(),
        event_time: Some(prost_types::Timestamp { seconds: start + at * 7 % HOUR, nanos: 0 }),
        event_id: format!("{at:08}"),
        event_items: vec![v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: value.into(),
            ..v1::EventItem::default()
        }],
        continues: false,
    }
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

/// Reads are served from targets as soon as there are any; nothing is too old yet.
fn namespace() -> admin::Namespace {
    let split = admin::SplitSettings {
        threshold_bytes: THRESHOLD_BYTES,
        target_bytes: THRESHOLD_BYTES / 2,
        ..admin::SplitSettings::default()
    };
    admin::Namespace {
        name: NAMESPACE.to_owned(),
        shape: Some(admin::Shape { buckets_per_id: 1, ..admin::Shape::default() }),
        accept_limit: seconds(0),
        split: Some(split),
        read_mode: "on".to_owned(),
        ..admin::Namespace::default()
    }
}

impl Wide {
    /// Writes so many, and a series that is not wide; then closes their time.
    pub(crate) async fn write(fleet: &Fleet, count: usize) -> Self {
        let client = fleet.control();
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace()), ..Default::default() };
        client.create_namespace(request).await.unwrap();
        let now = fleet.env.clock.wall() / 1_000_000_000;
        let start = now - now % HOUR - 5 * HOUR;
        for at in 0..count {
            let series = series(at);
            for first in (0..EVENTS).step_by(usize::try_from(BATCH).unwrap()) {
                let events = (first..first + BATCH).map(|at| event(start, &series, at)).collect();
                write(fleet, events).await;
            }
        }
        write(fleet, vec![event(start, SMALL, 0)]).await;
        let closing = admin::Namespace { accept_limit: seconds(60), ..admin::Namespace::default() };
        update(fleet, closing, "accept_limit").await;
        let table = client.list_slices(NAMESPACE).await.unwrap().slices.remove(0).table;
        let bucket = (table, start.rem_euclid(24 * HOUR) / HOUR);
        Self { start, bucket, read: AtomicUsize::new(0) }
    }

    /// How that of a scene is cut: by time and by hash in turn.
    pub(crate) async fn cut(&self, fleet: &Fleet, scene: usize) {
        let strategy = if scene.is_multiple_of(2) { "event_bucket" } else { "time_range" }.to_owned();
        let split = Some(admin::SplitSettings { strategy, ..admin::SplitSettings::default() });
        update(fleet, admin::Namespace { split, ..admin::Namespace::default() }, "split.strategy").await;
    }

    /// Takes one out of use, and reads back by a step.
    pub(crate) async fn roll_back(&self, fleet: &Fleet, series: &str) {
        let (namespace, to) = (NAMESPACE.to_owned(), "canary".to_owned());
        let request = admin::RollbackReadModeRequest { namespace, to, ..Default::default() };
        fleet.control().rollback_read_mode(request).await.unwrap();
        let (namespace, id) = (NAMESPACE.to_owned(), self.id(series));
        let request = admin::RetireSplitRequest { namespace, id, ..Default::default() };
        fleet.control().retire_split(request).await.unwrap();
        self.reaches(fleet, series, &["RETIRED"]).await;
    }

    pub(crate) fn id(&self, series: &str) -> String {
        let (table, time_bucket) = &self.bucket;
        format!("{table}/{time_bucket}/0/{series}")
    }

    /// Reads find this one from now on.
    pub(crate) fn found(&self, at: usize) {
        self.read.store(at + 1, Ordering::Relaxed);
    }

    /// Reads all that were found, again and again, until the live workload ends.
    pub(crate) async fn read_on(&self, live: &Live<'_>) {
        for at in (0_usize..).take_while(|_| live.is_open()) {
            match self.read.load(Ordering::Relaxed) {
                0 => live.rest().await,
                // The newest every other time.
                found if at % 2 == 0 => self.read_all(live, found - 1).await,
                found => self.read_all(live, at / 2 % found).await,
            }
        }
    }

    /// Reads every event, each page from the next server, and finds each once and as it was written.
    async fn read_all(&self, live: &Live<'_>, at: usize) {
        let (series, time) = (series(at), |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 }));
        let mut request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: series.clone(),
            time_interval: Some(v1::TimeInterval { start: time(self.start), end: time(self.start + HOUR) }),
            order: v1::Order::OldestFirst.into(),
            page_size: PAGE,
            ..v1::ReadEventRecordsRequest::default()
        };
        let mut found = Vec::new();
        loop {
            let Some(page) = live.page(&request, Kind::Wide).await else { return };
            found.extend(page.records);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        let mut expect: Vec<v1::Event> = (0..EVENTS).map(|at| event(self.start, &series, at)).collect();
        expect.sort_by_key(|event| (event.event_time.unwrap().seconds, event.event_id.clone()));
        assert!(found == expect, "{series}: {} events of {EVENTS}, or not as they were written", found.len());
        live.counted(Kind::Wide);
    }

    /// Waits until its split is in one of these states; where the worker is that is at it.
    pub(crate) async fn reaches(&self, fleet: &Fleet, series: &str, states: &[&str]) -> Option<String> {
        let (id, said) = (self.id(series), RefCell::new(String::new()));
        let looked = async || {
            // Not found until somebody has told of it, and not answered while a node goes.
            let split = within(&fleet.env, fleet.control().get_split(NAMESPACE, &id)).await?.ok()?;
            let now = told(series, &split);
            if said.replace(now.clone()) != now {
                fleet.say(&now);
            }
            states.contains(&split.state.as_str()).then_some(split)
        };
        let split = fleet.until(&format!("{id} is {states:?}"), looked).await;
        fleet.address_of(&split.owner).await
    }

    /// Its split as it stands; none where nobody has noted it down.
    pub(crate) async fn split(&self, fleet: &Fleet, series: &str) -> Option<admin::Split> {
        let id = self.id(series);
        let asked = async || match within(&fleet.env, fleet.control().get_split(NAMESPACE, &id)).await? {
            Ok(split) => Some(Some(split)),
            Err(error) => (error.exit_code() == NOT_FOUND).then_some(None),
        };
        fleet.until(&format!("an answer about {id}"), asked).await
    }

    /// Compares a completed split with its origin.
    pub(crate) async fn equal(&self, fleet: &Fleet, series: &str) {
        let request = admin::VerifySplitRequest {
            namespace: NAMESPACE.to_owned(),
            id: self.id(series),
            ..admin::VerifySplitRequest::default()
        };
        let compared = async || fleet.control().verify_split(request.clone()).await.ok();
        let split = fleet.until(&format!("a comparison of {series}"), compared).await;
        assert_eq!((split.state.as_str(), split.stragglers), ("COMPLETED", 0), "{:?}", split.reason);
        assert!(split.rechecks.last().unwrap().equal, "{series}");
        let (before, after) = (split.pre_split_data.unwrap(), split.post_split_data.unwrap());
        assert_eq!(before.digest, after.digest, "{series}");
        assert_eq!(before.digest.unwrap().rows, EVENTS, "{series}");
    }
}

/// Where a split stands, and why where it says so: who waits in vain sees what for.
fn told(series: &str, split: &admin::Split) -> String {
    let why = split.reason.as_ref().map(|why| format!(": {} {}", why.code, why.message));
    format!("{series}: {}, attempt {}{}", split.state, split.attempt, why.unwrap_or_default())
}

/// Changes one setting of the namespace; a cluster that has just lost a node may want to be asked again.
async fn update(fleet: &Fleet, namespace: admin::Namespace, path: &str) {
    let namespace = Some(admin::Namespace { name: NAMESPACE.to_owned(), ..namespace });
    let update_mask = Some(prost_types::FieldMask { paths: vec![path.to_owned()] });
    let request = admin::UpdateNamespaceRequest { namespace, update_mask, ..Default::default() };
    let updated = async || fleet.control().update_namespace(request.clone()).await.ok();
    fleet.until(&format!("{path} is set"), updated).await;
}

/// A series of which nothing is wide.
pub(crate) const SMALL: &str = "small";

async fn write(fleet: &Fleet, events: Vec<v1::Event>) {
    let count = events.len();
    let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
    let answer = fleet.control().write_synced(request).await.unwrap();
    assert_eq!(usize::try_from(answer.accepted).unwrap(), count, "{:?}", answer.results.first());
}
