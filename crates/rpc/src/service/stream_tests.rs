//! A stream ends where its server cannot be sure of more, instead of saying so again and again.

use std::sync::Arc;
use std::time::Duration;

use api::convert::read_request;
use api::token::{TokenKey, TokenKeys};
use api::v1;
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, VIEW_STALE, WriteRequest};
use env::{Env, ManualClock};
use model::NamespaceName;
use store::MemoryStore;
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, Op};
use tokio::sync::watch;

use super::super::{QueueState, Readiness};
use super::*;

/// More than it may send.
const PAGES: usize = 5;
const NOW: i64 = 1_774_656_000_000_000_000;

#[tokio::test]
async fn a_stream_of_a_server_without_a_lease_ends_behind_what_is_certain() {
    let clock = ManualClock::starting_at(NOW);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let faults = FaultLayer::new(env.clone(), FaultPlan::default());
    let store = Arc::new(Layered::new(Arc::new(MemoryStore::new()), faults.clone()));
    let engine = Engine::open(store, env.clone()).await.unwrap();
    let namespace = NamespaceName::new("plays").unwrap();
    let forever = Duration::ZERO;
    let spec = NamespaceSpec {
        accept_limit: forever,
        close_after: forever,
        delete_after: forever,
        ..NamespaceSpec::default()
    };
    engine.create_namespace(&namespace, spec).await.unwrap();
    let items = vec![ItemInput { key: "k".to_owned(), ..ItemInput::default() }];
    let event = EventInput { series: "s".to_owned(), time: Some((7, 0)), event_id: "e".to_owned(), items };
    let write = WriteRequest { namespace, events: vec![event] };
    assert_eq!(engine.write_synced(write).await.unwrap().accepted, 1);

    faults.replace(FaultPlan::default().with_chance(Op::MetaGet, 1_000, Fault::Refuse));
    clock.advance(Duration::from_secs(60));
    assert!(!engine.is_leased());
    let keys = TokenKeys { current: TokenKey { id: 1, secret: [7; 32] }, previous: None };
    let (_, readiness) = watch::channel(Readiness::Ready);
    let (version, backend) = ("0", "memory");
    let queue = watch::channel(QueueState::default()).1;
    let host = Host { engine, keys, env, version, backend, started: NOW, readiness, queue };
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let request = v1::ReadEventRecordsRequest {
        namespace: "plays".to_owned(),
        time_series_id: "s".to_owned(),
        // The slice of the second day is not known.
        time_interval: Some(v1::TimeInterval { start: at(0), end: at(2 * 86_400) }),
        order: v1::Order::OldestFirst.into(),
        ..v1::ReadEventRecordsRequest::default()
    };
    let read = read_request(request, &host.keys, NOW).unwrap();
    let first = host.engine.read(read.request.clone()).await.unwrap();
    assert_eq!(first.partial.as_ref().map(|partial| partial.reason), Some(VIEW_STALE));
    assert!(first.next.is_some() && first.events.len() == 1, "{first:?}");
    let sent: Vec<_> = pages(host, read, first).take(PAGES).collect().await;
    assert_eq!(sent.len(), 1);
}
