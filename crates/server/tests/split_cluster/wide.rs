//! One wide partition whose time is closed, written and read through the API.

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use rpc::client::Client;

pub(crate) const NAMESPACE: &str = "plays";
pub(crate) const EVENTS: i64 = 6_000;
const SERIES: &str = "profileId:123";
const VALUE_BYTES: usize = 1_000;
const BATCH: i64 = 500;
const HOUR: i64 = 3_600;

/// A partition of about 6 MB.
pub(crate) struct Wide {
    /// The whole hour in which its events are, seconds since 1970.
    start: i64,
    /// Names its split.
    pub(crate) id: String,
}

fn event(start: i64, at: i64) -> v1::Event {
    let value = format!("{at:08}").repeat(VALUE_BYTES / 8);
    v1::Event {
        time_series_id: SERIES.to_owned(),
        event_time: Some(prost_types::Timestamp { seconds: start + at % HOUR, nanos: 0 }),
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

impl Wide {
    /// Writes it some hours back, then closes its time: events are accepted for a minute from then on.
    pub(crate) async fn write(client: &Client, env: &Env) -> Self {
        let now = env.clock.wall() / 1_000_000_000;
        let start = now - now % HOUR - 5 * HOUR;
        let split = admin::SplitSettings {
            threshold_bytes: 1 << 20,
            target_bytes: 1 << 20,
            ..admin::SplitSettings::default()
        };
        let shape = admin::Shape { buckets_per_id: 1, ..admin::Shape::default() };
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(shape),
            accept_limit: seconds(0),
            split: Some(split),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        client.create_namespace(request).await.unwrap();
        for first in (0..EVENTS).step_by(usize::try_from(BATCH).unwrap()) {
            let events = (first..first + BATCH).map(|at| event(start, at)).collect();
            let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
            let answer = client.write_synced(request).await.unwrap();
            assert_eq!(i64::from(answer.accepted), BATCH, "{:?}", answer.results.first());
        }
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            accept_limit: seconds(60),
            ..admin::Namespace::default()
        };
        let update_mask = Some(prost_types::FieldMask { paths: vec!["accept_limit".to_owned()] });
        let request = admin::UpdateNamespaceRequest {
            namespace: Some(namespace),
            update_mask,
            ..admin::UpdateNamespaceRequest::default()
        };
        client.update_namespace(request).await.unwrap();
        let table = client.list_slices(NAMESPACE).await.unwrap().slices.remove(0).table;
        let time_bucket = start.rem_euclid(24 * HOUR) / HOUR;
        Self { start, id: format!("{table}/{time_bucket}/0/{SERIES}") }
    }

    /// Reads every event, page by page, and finds each once and as it was written.
    pub(crate) async fn read_all(&self, client: &Client) {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let mut request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: SERIES.to_owned(),
            time_interval: Some(v1::TimeInterval { start: at(self.start), end: at(self.start + HOUR) }),
            order: v1::Order::OldestFirst.into(),
            page_size: 500,
            ..v1::ReadEventRecordsRequest::default()
        };
        let mut found = Vec::new();
        loop {
            let page = client.read(request.clone()).await.unwrap();
            found.extend(page.records);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        let mut expect: Vec<v1::Event> = (0..EVENTS).map(|at| event(self.start, at)).collect();
        expect.sort_by_key(|event| (event.event_time.unwrap().seconds, event.event_id.clone()));
        assert!(found == expect, "{} events of {EVENTS}, or not as they were written", found.len());
    }
}
