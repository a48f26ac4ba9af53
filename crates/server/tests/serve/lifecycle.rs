//! Start, stop, start again.

use api::v1;
use server::Server;
use server::config::Config;

use crate::fixture::{Fixture, event, reads, seconds, start_in, writes};
use crate::home::Home;
use crate::http::get;

#[tokio::test]
async fn what_was_acknowledged_and_what_was_queued_is_there_after_a_restart() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 1, b"synced")]).await;
    fixture.client.write_queued(writes(vec![event("s", 2, b"queued")])).await.unwrap();
    fixture.restart().await;
    assert_eq!(seconds(&fixture.client.read(reads("s", 0, 9)).await.unwrap()), [2, 1]);
}

#[tokio::test]
async fn a_page_token_holds_across_a_restart_and_nowhere_else() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write((0..10).map(|at| event("s", at, b"v")).collect()).await;
    let request = v1::ReadEventRecordsRequest { page_size: 4, ..reads("s", 0, 100) };
    let first = fixture.client.read(request.clone()).await.unwrap();
    let next = v1::ReadEventRecordsRequest { page_token: first.next_page_token, ..request };
    fixture.restart().await;
    assert_eq!(seconds(&fixture.client.read(next.clone()).await.unwrap()), [5, 4, 3, 2]);
    let other = Fixture::with_namespace().await;
    let refused = other.client.read(next).await.unwrap_err();
    assert_eq!((refused.code, refused.reason.as_deref()), ("INVALID_ARGUMENT", Some("PAGE_TOKEN_INVALID")));
}

#[tokio::test]
async fn calls_under_way_end_in_peace() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write((0..1_000).map(|at| event("s", at, &[7; 2_000])).collect()).await;
    // A stream that is stopped by its reader after the first of ten pages.
    let request = v1::ReadEventRecordsRequest { page_size: 100, ..reads("s", 0, 1_000) };
    let mut pages = fixture.client.stream(request).await.unwrap();
    let mut found = seconds(&pages.next().await.unwrap().unwrap());
    let server = fixture.server.take().unwrap();
    let rest = async {
        while let Some(page) = pages.next().await.unwrap() {
            found.extend(seconds(&page));
        }
    };
    tokio::join!(server.stop(), rest);
    assert_eq!(found, (0..1_000).rev().collect::<Vec<_>>());
    assert_eq!(fixture.client.server_info().await.unwrap_err().exit_code(), 6);
}

#[tokio::test]
async fn a_connection_that_never_ends_is_cut_off_after_the_grace() {
    let mut fixture = Fixture::start(&[("BRAID__SERVER__SHUTDOWN_GRACE", "50ms")]).await;
    fixture.create("plays").await.unwrap();
    fixture.write((0..1_000).map(|at| event("s", at, &[7; 3_500])).collect()).await;
    fixture.write((1_000..2_000).map(|at| event("s", at, &[7; 3_500])).collect()).await;
    fixture.write((2_000..3_000).map(|at| event("s", at, &[7; 3_500])).collect()).await;
    fixture.write((3_000..4_000).map(|at| event("s", at, &[7; 3_500])).collect()).await;
    // Nobody reads: more than all windows hold.
    let pages = fixture.client.stream(reads("s", 0, 10_000)).await.unwrap();
    fixture.server.take().unwrap().stop().await;
    drop(pages);
}

/// Why a server with these settings does not start.
async fn refusal(config: Config) -> String {
    Server::start(config, env::Env::system()).await.err().unwrap().to_string()
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let fixture = Fixture::start(&[]).await;
    let taken = fixture.address();
    let home = Home::embedded();
    let mut config = home.config(&[]);
    config.server.listen = taken.parse().unwrap();
    let text = refusal(config).await;
    assert!(text.starts_with(&format!("cannot listen on {taken}")) && text.contains("--listen"), "{text}");
}

/// Of the embedded store only: any number of servers run over one cluster.
#[tokio::test]
async fn a_directory_in_use_is_named() {
    let fixture = Fixture::start_at(Home::embedded(), &[]).await;
    let text = refusal(fixture.home.config(&[])).await;
    assert!(text.starts_with("cannot open the data directory") && text.contains("process"), "{text}");
}

#[tokio::test]
async fn a_server_that_stops_says_so_first() {
    let home = Home::new();
    let server = start_in(&home, &[]).await;
    let address = server.address().to_string();
    assert_eq!(get(&address, "/readyz").await.status, 200);
    server.stop().await;
    assert!(tokio::net::TcpStream::connect(&address).await.is_err());
    // The store is free again.
    start_in(&home, &[]).await.stop().await;
}
