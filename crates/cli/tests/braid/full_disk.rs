//! A disk that fills up under the real server: writes are refused with the reason, reads go on, and after a start with space
//! everything acknowledged is there.
//!
//! The disk is a small tmpfs in a mount namespace of its own (`unshare`, as root or in a user namespace), so the kernel
//! itself says "no space left".

use std::path::Path;
use std::process::Command;

use api::admin::v1 as admin;
use api::v1;
use rpc::client::Client;

use crate::process::{BRAID, Serving};

/// Serves on a small disk and, once asked to stop, copies the data to where there is space. The first wait ends with the signal,
/// the second with the server.
const SCRIPT: &str = r#"
set -eu
mount -t tmpfs -o size=48m tmpfs "$1/small"
"$2" serve --listen 127.0.0.1:0 --data "$1/small/data" &
trap 'kill "$!"' TERM
wait "$!" || true
wait "$!" || true
cp -a "$1/small/data" "$1/rescued"
"#;

fn serve_on_small_disk(scratch: &Path) -> Serving {
    let mut command = Command::new("unshare");
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    command.args(if root { &["--mount"][..] } else { &["--mount", "--user", "--map-root-user"][..] });
    command.args(["sh", "-c", SCRIPT, "sh"]).arg(scratch).arg(BRAID).current_dir(scratch);
    Serving::from(command)
}

fn event(at: i64) -> v1::Event {
    let item = v1::EventItem {
        event_item_key: "k".to_owned(),
        event_item_value: vec![u8::try_from(at % 251).unwrap(); 4_000].into(),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: "s".to_owned(),
        event_time: Some(prost_types::Timestamp { seconds: at, nanos: 0 }),
        event_id: "e".to_owned(),
        event_items: vec![item],
        continues: false,
    }
}

async fn create(client: &Client) {
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: "full".to_owned(),
        accept_limit: zero,
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    client.create_namespace(request).await.unwrap();
}

async fn count(client: &Client) -> i64 {
    let request = v1::ReadEventRecordsRequest {
        namespace: "full".to_owned(),
        time_series_id: "s".to_owned(),
        time_interval: Some(v1::TimeInterval {
            start: Some(prost_types::Timestamp::default()),
            end: Some(prost_types::Timestamp { seconds: 1_000_000, nanos: 0 }),
        }),
        order: v1::Order::OldestFirst.into(),
        ..v1::ReadEventRecordsRequest::default()
    };
    let mut pages = client.stream(request).await.unwrap();
    let mut at = 0;
    while let Some(page) = pages.next().await.unwrap() {
        for found in page.records {
            assert_eq!(found, event(at), "in order, once, as written");
            at += 1;
        }
    }
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_writes_serves_reads_and_loses_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("small")).unwrap();
    let server = serve_on_small_disk(scratch.path());
    let client = server.client();
    create(&client).await;
    let mut acknowledged = 0;
    let refused = loop {
        let events = (acknowledged..acknowledged + 50).map(event).collect();
        let request = v1::WriteEventRecordsRequest { namespace: "full".to_owned(), events };
        match client.write_synced(request).await {
            Ok(answer) => {
                assert_eq!(answer.accepted, 50);
                acknowledged += 50;
            }
            Err(error) => break error,
        }
    };
    assert_eq!(refused.exit_code(), 6, "{refused:?}");
    // From the second refusal on, the reason is that the store has stopped.
    let again = v1::WriteEventRecordsRequest { namespace: "full".to_owned(), events: vec![event(0)] };
    let refused = client.write_synced(again).await.unwrap_err();
    assert_eq!(refused.reason.as_deref(), Some("NOT_READY"), "{refused:?}");
    assert!(refused.message.contains("start the process again"), "{refused}");
    assert!(count(&client).await >= acknowledged, "reads go on");
    // The server notices within a second.
    while client.server_info().await.unwrap().ready {}
    let info = client.server_info().await.unwrap();
    assert!(info.not_ready_reason.contains("free disk space"), "{}", info.not_ready_reason);
    let doctor = server.run(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(8), "{}", String::from_utf8_lossy(&doctor.stdout));

    let (code, said) = server.stop();
    assert_eq!(code, 0, "{said}");
    let server = Serving::start(&scratch.path().join("rescued"));
    let found = count(&server.client()).await;
    assert!(
        (acknowledged..=acknowledged + 50).contains(&found),
        "{found} found, {acknowledged} acknowledged"
    );
    assert!(server.client().server_info().await.unwrap().ready);
}
