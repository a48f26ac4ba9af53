//! A server with a home of its own, and ways to talk to it.

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use rpc::client::{CallError, Client};
use server::Server;

use crate::home::Home;

pub(crate) struct Fixture {
    pub(crate) server: Option<Server>,
    pub(crate) client: Client,
    /// After the server, so that nobody works in it any more when it goes.
    pub(crate) home: Home,
}

pub(crate) const NAMESPACE: &str = "plays";

/// A server with these settings on top of its own home and a free port.
pub(crate) async fn start_in(home: &Home, settings: &[(&str, &str)]) -> Server {
    start_with(home, settings, Env::system()).await
}

/// The same in an environment of the test's choice.
pub(crate) async fn start_with(home: &Home, settings: &[(&str, &str)], env: Env) -> Server {
    Server::start(home.config(settings), env).await.unwrap()
}

impl Fixture {
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_at(Home::new(), settings).await
    }

    /// At a home of the test's choice.
    pub(crate) async fn start_at(home: Home, settings: &[(&str, &str)]) -> Self {
        let server = start_in(&home, settings).await;
        let client = Client::new(&server.address().to_string()).unwrap();
        Self { server: Some(server), client, home }
    }

    /// With a namespace that takes events of any time.
    pub(crate) async fn with_namespace() -> Self {
        let fixture = Self::start(&[]).await;
        fixture.create(NAMESPACE).await.unwrap();
        fixture
    }

    pub(crate) fn address(&self) -> String {
        self.server.as_ref().unwrap().address().to_string()
    }

    pub(crate) async fn create(&self, name: &str) -> Result<admin::Namespace, CallError> {
        let zero = Some(prost_types::Duration::default());
        let retention = admin::Retention { close_after: zero, delete_after: zero };
        let namespace = admin::Namespace {
            name: name.to_owned(),
            accept_limit: zero,
            retention: Some(retention),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        self.client.create_namespace(request).await
    }

    pub(crate) async fn write(&self, events: Vec<v1::Event>) -> v1::WriteEventRecordsResponse {
        self.client.write_synced(writes(events)).await.unwrap()
    }

    /// Stops the server and starts it again on the same data.
    pub(crate) async fn restart(&mut self) {
        self.server.take().unwrap().stop().await;
        let server = start_in(&self.home, &[]).await;
        self.client = Client::new(&server.address().to_string()).unwrap();
        self.server = Some(server);
    }
}

pub(crate) fn writes(events: Vec<v1::Event>) -> v1::WriteEventRecordsRequest {
    v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events }
}

/// An event of `series` at `seconds` with one item of these bytes.
pub(crate) fn event(series: &str, seconds: i64, value: &[u8]) -> v1::Event {
    let item = v1::EventItem {
        event_item_key: "k".to_owned(),
        event_item_value: bytes::Bytes::copy_from_slice(value),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: series.to_owned(),
        event_time: Some(at(seconds)),
        event_id: format!("e{seconds}"),
        event_items: vec![item],
        continues: false,
    }
}

pub(crate) fn at(seconds: i64) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds, nanos: 0 }
}

/// A read of `series` over `from..to` seconds.
pub(crate) fn reads(series: &str, from: i64, to: i64) -> v1::ReadEventRecordsRequest {
    v1::ReadEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.to_owned(),
        time_interval: Some(v1::TimeInterval { start: Some(at(from)), end: Some(at(to)) }),
        ..v1::ReadEventRecordsRequest::default()
    }
}

/// The seconds of the events on a page.
pub(crate) fn seconds(page: &v1::ReadEventRecordsResponse) -> Vec<i64> {
    page.records.iter().map(|event| event.event_time.unwrap().seconds).collect()
}
