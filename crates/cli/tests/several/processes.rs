//! `braid serve` processes over one keyspace prefix, and what a test asks them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::{Clock, Env, SystemClock};
use own_cluster::OwnServer;
use rpc::client::Client;
use tempfile::TempDir;

pub(crate) const NAMESPACE: &str = "plays";
pub(crate) const SERIES: &str = "user:7";
pub(crate) const HOUR: i64 = 3_600;
/// Changes are known everywhere within this.
pub(crate) const AGREED_WITHIN: Duration = Duration::from_secs(2);

/// A keyspace prefix of its own, gone when the test ends.
pub(crate) struct Home {
    prefix: String,
    directory: TempDir,
}

/// A server. Killed when dropped.
pub(crate) struct Serving {
    process: OwnServer,
    pub(crate) client: Client,
}

impl Home {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id() % 0x1_0000, NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { prefix: format!("sev{process:04x}{number:x}"), directory: TempDir::new().unwrap() }
    }

    fn settings(&self) -> [(&'static str, String); 2] {
        [
            ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
            ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", self.prefix.clone()),
        ]
    }

    pub(crate) fn serve(&self) -> Serving {
        let program = env!("CARGO_BIN_EXE_braid");
        let process = OwnServer::start(program, self.directory.path(), &self.settings());
        let client = Client::new(process.address()).unwrap();
        Serving { process, client }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let flags = server::config::Flags { config: None, data: None, listen: None };
        let settings = self.settings().map(|(key, value)| (key.to_owned(), value));
        let config = server::config::load(&flags, settings, None).unwrap().config;
        let dropped = Env::system().spawn.thread(
            "braid-clean",
            Box::new(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async { server::drop_keyspaces(&config, &Env::system()).await.unwrap() });
            }),
        );
        dropped.unwrap();
    }
}

impl Serving {
    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }
}

/// Slices of an hour; nothing is too old or too far ahead.
pub(crate) fn namespace() -> admin::CreateNamespaceRequest {
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        shape: Some(admin::Shape { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 2 }),
        accept_limit: zero,
        future_limit: Some(prost_types::Duration { seconds: 30 * 86_400, nanos: 0 }),
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() }
}

pub(crate) fn now() -> i64 {
    SystemClock.wall() / 1_000_000_000
}

pub(crate) fn event(series: &str, seconds: i64, id: u64) -> v1::Event {
    v1::Event {
        time_series_id: series.to_owned(),
        event_time: Some(prost_types::Timestamp { seconds, nanos: 0 }),
        event_id: format!("{id:08}"),
        event_items: vec![v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: format!("{series}/{id}").into(),
            ..v1::EventItem::default()
        }],
        continues: false,
    }
}

pub(crate) fn write(events: Vec<v1::Event>) -> v1::WriteEventRecordsRequest {
    v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events }
}

pub(crate) fn read(series: &str, from: i64, to: i64) -> v1::ReadEventRecordsRequest {
    let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    v1::ReadEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.to_owned(),
        time_interval: Some(v1::TimeInterval { start: time(from), end: time(to) }),
        order: v1::Order::OldestFirst.into(),
        ..v1::ReadEventRecordsRequest::default()
    }
}

/// Every event of a series by pages of 50 that the servers give in turn.
pub(crate) async fn drain(servers: &[&Serving], series: &str, from: i64, to: i64) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut request = v1::ReadEventRecordsRequest { page_size: 50, ..read(series, from, to) };
    for server in servers.iter().cycle() {
        let page = server.client.read(request.clone()).await.unwrap();
        for record in page.records {
            let id: u64 = record.event_id.parse().unwrap();
            let item = record.event_items.first().unwrap();
            assert_eq!(item.event_item_value, format!("{series}/{id}"), "its own value");
            ids.push(id);
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    ids
}

/// Asks until the answer is as wanted; fails if that takes longer than [`AGREED_WITHIN`].
pub(crate) async fn soon(what: &str, ask: impl AsyncFn() -> bool) {
    let started = SystemClock.boot();
    while !ask().await {
        let waited = SystemClock.boot().since(started);
        assert!(waited < AGREED_WITHIN, "{what} is not known after {waited:?}");
        SystemClock.sleep(Duration::from_millis(20)).await;
    }
}
