//! kill -9 of the real server under load through gRPC: what was acknowledged is there, once and in order.
//!
//! 8 kills in the suite; `BRAID_KILLS=100` for more, `BRAID_SEED` to repeat a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use rpc::client::Client;

use crate::process::Serving;

const KILLS: u64 = 8;
/// A server is killed after so many acknowledged batches at most.
const BATCHES_MAX: u64 = 400;
const WRITERS: u64 = 6;
const BATCH: u64 = 25;
const NAMESPACE: &str = "fire";
const START: i64 = 1_774_656_000;

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// How far each writer of each life has been acknowledged.
type Acknowledged = BTreeMap<(u64, u64), u64>;

fn series(life: u64, writer: u64) -> String {
    format!("life{life}-writer{writer}")
}

/// The `at`th event of a writer: its content follows from its place. Seven seconds apart, so that it crosses buckets and slices.
fn event(seed: u64, life: u64, writer: u64, at: u64) -> v1::Event {
    let content = format!("{seed}/{life}/{writer}/{at}/").repeat(1 + usize::try_from(at % 7).unwrap());
    let item = |key: &str| v1::EventItem {
        event_item_key: key.to_owned(),
        event_item_value: content.clone().into(),
        ..v1::EventItem::default()
    };
    let keys = ["a", "b", "c"].into_iter().take(1 + usize::try_from(at % 3).unwrap());
    v1::Event {
        time_series_id: series(life, writer),
        event_time: Some(prost_types::Timestamp {
            seconds: START + i64::try_from(at * 7).unwrap(),
            nanos: 0,
        }),
        event_id: format!("{at:08}"),
        event_items: keys.map(item).collect(),
        continues: false,
    }
}

async fn create(client: &Client) {
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        accept_limit: zero,
        future_limit: Some(prost_types::Duration { seconds: 366 * 86_400, nanos: 0 }),
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    client.create_namespace(request).await.unwrap();
}

/// Writes until the server is gone; gives back how many events were acknowledged.
async fn write(client: Client, seed: u64, life: u64, writer: u64, batches: &AtomicU64) -> u64 {
    let mut next = 0;
    loop {
        let events = (next..next + BATCH).map(|at| event(seed, life, writer, at)).collect();
        let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
        match client.write_synced(request).await {
            Ok(answer) => {
                assert_eq!((u64::from(answer.accepted), answer.results.len()), (BATCH, 0), "{answer:?}");
                next += BATCH;
                batches.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert_eq!(error.exit_code(), 6, "only a server that is gone refuses: {error:?}");
                return next;
            }
        }
    }
}

/// One life of a server, until it has acknowledged `batches`.
async fn live_and_die(data: &std::path::Path, seed: u64, life: u64, batches: u64) -> Acknowledged {
    let server = Serving::start(data);
    if life == 0 {
        create(&server.client()).await;
    }
    let counted = AtomicU64::new(0);
    let writers = (0..WRITERS).map(|writer| write(server.client(), seed, life, writer, &counted));
    let writers = futures::future::join_all(writers);
    let end = async {
        while counted.load(Ordering::Relaxed) < batches {
            tokio::task::yield_now().await;
        }
        server.kill();
    };
    let (written, ()) = tokio::join!(writers, end);
    (0..).zip(written).map(|(writer, count)| ((life, writer), count)).collect()
}

/// Everything acknowledged is there; beyond it at most the batch that was under way; nothing twice or out of order.
async fn check(client: &Client, seed: u64, acknowledged: &Acknowledged) {
    for (&(life, writer), &count) in acknowledged {
        let request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: series(life, writer),
            time_interval: Some(v1::TimeInterval {
                start: Some(prost_types::Timestamp { seconds: START, nanos: 0 }),
                end: Some(prost_types::Timestamp { seconds: START + 30 * 86_400, nanos: 0 }),
            }),
            order: v1::Order::OldestFirst.into(),
            ..v1::ReadEventRecordsRequest::default()
        };
        let mut pages = client.stream(request).await.unwrap();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await.unwrap() {
            found.extend(page.records);
        }
        let length = u64::try_from(found.len()).unwrap();
        assert!(
            (count..=count + BATCH).contains(&length),
            "{length} events of {}, {count} acknowledged",
            series(life, writer)
        );
        let unknown = found.split_off(usize::try_from(count).unwrap());
        let expect: Vec<_> = (0..count).map(|at| event(seed, life, writer, at)).collect();
        assert!(found == expect, "acknowledged events of {} were lost or changed", series(life, writer));
        // A batch can span partitions, so of the one under way any part may be there.
        let possible: Vec<_> = (count..count + BATCH).map(|at| event(seed, life, writer, at)).collect();
        assert!(unknown.iter().all(|event| possible.contains(event)));
        assert!(unknown.is_sorted_by(|a, b| a.event_id < b.event_id));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_through_grpc_is_lost_by_kill_9() {
    let kills = from_env("BRAID_KILLS").unwrap_or(KILLS);
    let random = Env::system().random;
    let seed = from_env("BRAID_SEED").unwrap_or_else(|| random.below(1_000_000));
    println!("{kills} kills, BRAID_SEED={seed}");
    let random = env::SeededRandom::new(seed);
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("data");
    let mut all = Acknowledged::new();
    for life in 0..kills {
        let batches = 1 + env::Random::below(&random, BATCHES_MAX);
        let acknowledged = live_and_die(&data, seed, life, batches).await;
        let server = Serving::start(&data);
        check(&server.client(), seed, &acknowledged).await;
        server.kill();
        all.extend(acknowledged);
    }
    let server = Serving::start(&data);
    check(&server.client(), seed, &all).await;
    let events: u64 = all.values().sum();
    println!("{events} events acknowledged over {kills} kills, none lost");
    let (code, _said) = server.stop();
    assert_eq!(code, 0);
}
