//! kill -9 of the real server at every state of a split: whoever comes next brings it to its end, and nothing is lost.

use std::path::Path;

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use rpc::client::Client;

use crate::process::{Serving, braid};

const NAMESPACE: &str = "plays";
const SERIES: &str = "hot";
const EVENTS: i64 = 3_000;
const HOUR: i64 = 3_600;
const STATES: [&str; 7] =
    ["CANDIDATE", "PLANNING", "PLANNED", "COPYING", "VERIFYING", "COMPLETED", "RETIRING"];

/// A server whose splits take some seconds, so that a kill finds them at work.
fn slow(data: &Path) -> Serving {
    let mut command = braid(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data).current_dir(data.parent().unwrap());
    command.env("BRAID__LIMITS__SPLIT_BYTES_PER_SECOND", "2MiB");
    Serving::from(command)
}

fn event(start: i64, at: i64) -> v1::Event {
    v1::Event {
        time_series_id: SERIES.to_owned(),
        event_time: Some(prost_types::Timestamp { seconds: start + at % HOUR, nanos: 0 }),
        event_id: format!("{at:08}"),
        event_items: vec![v1::EventItem {
            event_item_key: "k".to_owned(),
            event_item_value: format!("{at:08}").repeat(125).into(),
            ..v1::EventItem::default()
        }],
        continues: false,
    }
}

/// A wide partition whose time is closed; gives back its hour and the id of its split.
async fn fill(client: &Client, now: i64) -> (i64, String) {
    let start = now - now % HOUR - 5 * HOUR;
    let limit = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let split =
        admin::SplitSettings { threshold_bytes: 1 << 20, target_bytes: 512 << 10, ..Default::default() };
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        shape: Some(admin::Shape { buckets_per_id: 1, ..admin::Shape::default() }),
        accept_limit: limit(0),
        split: Some(split),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    client.create_namespace(request).await.unwrap();
    for first in (0..EVENTS).step_by(500) {
        let events = (first..first + 500).map(|at| event(start, at)).collect();
        let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
        assert_eq!(client.write_synced(request).await.unwrap().accepted, 500);
    }
    let namespace =
        admin::Namespace { name: NAMESPACE.to_owned(), accept_limit: limit(60), ..Default::default() };
    let update_mask = Some(prost_types::FieldMask { paths: vec!["accept_limit".to_owned()] });
    let request =
        admin::UpdateNamespaceRequest { namespace: Some(namespace), update_mask, ..Default::default() };
    client.update_namespace(request).await.unwrap();
    let table = client.list_slices(NAMESPACE).await.unwrap().slices.remove(0).table;
    (start, format!("{table}/{}/0/{SERIES}", start.rem_euclid(24 * HOUR) / HOUR))
}

/// Reads every event once, in order; a read of all of it also tells that the partition is wide.
async fn read_all(client: &Client, start: i64) {
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let request = v1::ReadEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: SERIES.to_owned(),
        time_interval: Some(v1::TimeInterval { start: at(start), end: at(start + HOUR) }),
        order: v1::Order::OldestFirst.into(),
        ..v1::ReadEventRecordsRequest::default()
    };
    let mut pages = client.stream(request).await.unwrap();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.unwrap() {
        found.extend(page.records);
    }
    assert!(found == (0..EVENTS).map(|at| event(start, at)).collect::<Vec<_>>(), "{} events", found.len());
}

/// Waits until the split has come to this state, or past it.
async fn reaches(client: &Client, id: &str, state: &str) -> admin::Split {
    let reached = |split: &admin::Split| split.transitions.iter().any(|step| step.state == state);
    loop {
        match client.get_split(NAMESPACE, id).await {
            Ok(split) if reached(&split) => return split,
            _ => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn a_split_survives_kill_9_in_every_state() {
    let now = Env::system().clock.wall() / 1_000_000_000;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let server = slow(&data);
    let (start, id) = fill(&server.client(), now).await;
    read_all(&server.client(), start).await;
    server.kill();
    // A read of a life that ended before its detection was noted tells nobody; so every life reads.
    for state in STATES {
        let server = slow(&data);
        let client = server.client();
        read_all(&client, start).await;
        if state == "RETIRING" {
            let request = admin::RetireSplitRequest {
                namespace: NAMESPACE.to_owned(),
                id: id.clone(),
                ..Default::default()
            };
            client.retire_split(request).await.unwrap();
        }
        reaches(&client, &id, state).await;
        server.kill();
    }
    let server = Serving::start(&data);
    let client = server.client();
    let retired = reaches(&client, &id, "RETIRED").await;
    assert_eq!(retired.attempt, 1, "no kill costs what was done: {:?}", retired.transitions);
    assert_eq!(retired.pre_split_data.unwrap().digest, retired.post_split_data.unwrap().digest);
    read_all(&client, start).await;
    // Asked for again, it is split again, into targets of its own.
    let request =
        admin::RetrySplitRequest { namespace: NAMESPACE.to_owned(), id: id.clone(), ..Default::default() };
    client.retry_split(request).await.unwrap();
    let second = loop {
        let split = client.get_split(NAMESPACE, &id).await.unwrap();
        if split.attempt == 2 && split.state == "COMPLETED" {
            break split;
        }
        assert_ne!(split.state, "FAILED", "{:?}", split.reason);
        tokio::task::yield_now().await;
    };
    assert_eq!(second.pre_split_data.unwrap().digest.unwrap().rows, EVENTS);
    server.stop();
}
