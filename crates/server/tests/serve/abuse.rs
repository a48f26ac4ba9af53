//! What clients must not do, and what they are told.

use std::sync::Arc;
use std::time::Duration;

use api::v1;
use env::{Env, ManualClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::fixture::{Fixture, event, reads, seconds, start_with, writes};
use crate::home::Home;
use crate::http::{get, grpc, grpc_body, post, post_json};

const READ: &str = "/braid.v1.TimeSeriesService/ReadEventRecords";
const WRITE: &str = "/braid.v1.TimeSeriesService/WriteEventRecordsSync";

#[tokio::test]
async fn wrong_requests_are_told_what_is_wrong() {
    let fixture = Fixture::with_namespace().await;
    let refusal = async |request: v1::ReadEventRecordsRequest| {
        let error = fixture.client.read(request).await.unwrap_err();
        (error.code, error.reason.unwrap(), error.message)
    };
    let (code, reason, message) =
        refusal(v1::ReadEventRecordsRequest { namespace: "nowhere".to_owned(), ..reads("s", 0, 1) }).await;
    assert_eq!((code, reason.as_str()), ("NOT_FOUND", "NAMESPACE_NOT_FOUND"));
    assert_eq!(message, "namespace `nowhere` does not exist; create it first");
    let (code, reason, message) = refusal(reads("s", 9, 1)).await;
    assert_eq!((code, reason.as_str()), ("INVALID_ARGUMENT", "FIELD_INVALID"));
    assert!(message.starts_with("time_interval"), "{message}");
    let (_, _, message) =
        refusal(v1::ReadEventRecordsRequest { page_size: 10_001, ..reads("s", 0, 1) }).await;
    assert!(message.starts_with("page_size: is 10001; send 1 to 10000"), "{message}");
    for token in ["forged", &"A".repeat(3_000), "ä"] {
        let request = v1::ReadEventRecordsRequest { page_token: token.to_owned(), ..reads("s", 0, 1) };
        let (code, reason, message) = refusal(request).await;
        assert_eq!((code, reason.as_str()), ("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID"));
        assert!(message.ends_with("read again from the first page, without a token"), "{message}");
    }
}

#[tokio::test]
async fn a_cut_or_foreign_token_is_refused() {
    let fixture = Fixture::with_namespace().await;
    fixture.write((0..10).map(|at| event("s", at, b"v")).collect()).await;
    let request = v1::ReadEventRecordsRequest { page_size: 3, ..reads("s", 0, 100) };
    let token = fixture.client.read(request.clone()).await.unwrap().next_page_token;
    let with = |token: &str, series: &str| v1::ReadEventRecordsRequest {
        page_token: token.to_owned(),
        time_series_id: series.to_owned(),
        ..request.clone()
    };
    for (token, series) in [(&token[..token.len() - 4], "s"), (&token[..], "t")] {
        let error = fixture.client.read(with(token, series)).await.unwrap_err();
        assert_eq!(error.reason.as_deref(), Some("PAGE_TOKEN_INVALID"), "{error}");
    }
    assert_eq!(seconds(&fixture.client.read(with(&token, "s")).await.unwrap()), [6, 5, 4]);
}

#[tokio::test]
async fn requests_over_the_limits_are_refused_before_they_are_decoded() {
    let fixture = Fixture::with_namespace().await;
    let address = fixture.address();
    let over =
        fixture.client.write_synced(writes((0..5).map(|at| event("s", at, &vec![0; 1 << 20])).collect()));
    let error = over.await.unwrap_err();
    assert_eq!((error.code, error.reason.as_deref()), ("INVALID_ARGUMENT", Some("RANGE_TOO_WIDE")));
    assert_eq!(error.message, "the request has over 4194304 bytes; send fewer events at a time");
    // Two million events of two bytes each.
    let many = [18, 0].repeat(2_000_000);
    let answer = grpc(&address, WRITE, &many).await;
    assert_eq!(answer.grpc_status(), "3");
    assert!(answer.headers["grpc-message"].to_str().unwrap().contains("2000000"), "{:?}", answer.headers);
    // A length of four gigabytes that never comes.
    let answer = grpc_body(&address, WRITE, vec![0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3]).await;
    assert_eq!(answer.grpc_status(), "3");
    let body = format!(r#"{{"namespace":"plays","events":[{}]}}"#, "{},".repeat(1_000_000) + "{}");
    let answer = post_json(&address, WRITE, &body).await;
    assert_eq!((answer.status, answer.json()["code"].as_str().unwrap()), (400, "invalid_argument"));
    let answer = post_json(&address, WRITE, &" ".repeat(9 << 20)).await;
    assert_eq!(answer.json()["details"][0]["debug"]["reason"], "RANGE_TOO_WIDE");
}

#[tokio::test]
async fn bytes_that_are_no_message_are_refused_by_name() {
    let fixture = Fixture::with_namespace().await;
    let answer = grpc(&fixture.address(), READ, &[0xFF; 64]).await;
    assert_eq!(answer.grpc_status(), "3");
    let message = answer.headers["grpc-message"].to_str().unwrap();
    assert!(message.contains("braid.v1.ReadEventRecordsRequest"), "{message}");
    // A request without any message at all.
    assert_ne!(grpc_body(&fixture.address(), READ, Vec::new()).await.grpc_status(), "0");
}

#[tokio::test]
async fn json_is_held_to_its_rules() {
    let fixture = Fixture::with_namespace().await;
    let address = fixture.address();
    let check = async |body: &str, status: u16, text: &str| {
        let answer = post_json(&address, READ, body).await;
        assert!(
            answer.status == status && answer.text().contains(text),
            "{} {}",
            answer.status,
            answer.text()
        );
    };
    check("", 400, "request body: ").await;
    check("{", 400, "request body: ").await;
    check("[]", 400, "request body: ").await;
    check(r#"{"name_space":"plays"}"#, 400, "name_space").await;
    check(r#"{"namespace":7}"#, 400, "namespace: ").await;
    check(r#"{"namespace":"nowhere","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-01T00:00:01Z"}}"#, 404, r#""code":"not_found""#).await;
    let refusal = post(&address, READ, "text/plain", "{}").await;
    assert_eq!((refusal.status, refusal.text().contains("application/json")), (415, true));
    let refusal = get(&address, READ).await;
    assert_eq!((refusal.status, refusal.headers["allow"].to_str().unwrap()), (405, "POST"));
    let stream = post_json(&address, "/braid.v1.TimeSeriesService/StreamEventRecords", "{}").await;
    assert_eq!((stream.status, stream.text().contains("is a stream")), (501, true));
    let nothing = get(&address, "/nothing").await;
    assert_eq!((nothing.status, nothing.text().contains("/healthz")), (404, true));
    let grpc_over_one = post(&address, READ, "application/grpc", "").await;
    assert_eq!((grpc_over_one.status, grpc_over_one.text().contains("HTTP/2")), (400, true));
    assert_eq!(grpc(&address, "/braid.v1.TimeSeriesService/Nothing", &[]).await.grpc_status(), "12");
    assert_eq!(grpc(&address, "/nobody/Nothing", &[]).await.grpc_status(), "12");
}

#[tokio::test]
async fn ten_mebibytes_of_noise_do_no_harm() {
    let fixture = Fixture::with_namespace().await;
    let mut noise = vec![0; 10 << 20];
    env::Random::fill(&env::SeededRandom::new(7), &mut noise);
    for start in [&b""[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST /braid.v1.TimeSeriesService/ReadEventRecords HTTP/1.1\r\nhost: x\r\ncontent-length: 10485760\r\ncontent-type: application/json\r\n\r\n"] {
        let mut stream = TcpStream::connect(fixture.address()).await.unwrap();
        let (mut from, mut to) = stream.split();
        let mut answer = Vec::new();
        // The server hangs up at some point, so either side may see the connection break.
        let sending = async {
            let sent = async {
                to.write_all(start).await?;
                to.write_all(&noise).await?;
                to.shutdown().await
            };
            sent.await.is_ok()
        };
        let (_sent, _read) = tokio::join!(sending, from.read_to_end(&mut answer));
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
        assert_eq!(fixture.write(vec![event("s", 1, b"v")]).await.accepted, 1, "the server lives");
    }
}

#[tokio::test]
async fn calls_over_the_limit_are_refused_not_kept_waiting() {
    let fixture = Fixture::start(&[("BRAID__LIMITS__STREAMS", "1")]).await;
    fixture.create("plays").await.unwrap();
    fixture.write((0..1_000).map(|at| event("s", at, &[7; 3_000])).collect()).await;
    fixture.write((1_000..2_000).map(|at| event("s", at, &[7; 3_000])).collect()).await;
    fixture.write((2_000..3_000).map(|at| event("s", at, &[7; 3_000])).collect()).await;
    // Nobody reads it, and it is larger than all windows together.
    let held = fixture.client.stream(reads("s", 0, 10_000)).await.unwrap();
    let other = rpc::client::Client::new(&fixture.address()).unwrap();
    let refused = other.stream(reads("s", 0, 10_000)).await.unwrap_err();
    assert_eq!((refused.code, refused.reason.as_deref()), ("RESOURCE_EXHAUSTED", Some("RATE_LIMITED")));
    assert!(refused.message.contains("limits.streams") && refused.retry_after.is_some(), "{refused}");
    assert_eq!(
        seconds(&other.read(v1::ReadEventRecordsRequest { page_size: 1, ..reads("s", 0, 9) }).await.unwrap()),
        [8]
    );
    drop(held);
    // The place is free once the server has seen that the reader is gone.
    while other.stream(reads("s", 0, 10)).await.is_err() {}
}

#[tokio::test]
async fn a_deadline_is_kept_whoever_is_slow() {
    let fixture = Fixture::with_namespace().await;
    let mut stream = TcpStream::connect(fixture.address()).await.unwrap();
    let head = format!(
        "POST {READ} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\
         connect-timeout-ms: 20\r\nconnection: close\r\n\r\n{{"
    );
    // The rest of the body never comes.
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 504") && answer.contains("BACKEND_TIMEOUT"), "{answer}");
}

/// What a peer that sent `said` and nothing more has heard when it is hung up on. Time is moved by hand, a second whenever
/// nothing happens.
async fn heard_after(said: String) -> (String, Duration) {
    let home = Home::new();
    let clock = Arc::new(ManualClock::starting_at(1_774_656_000_000_000_000));
    let env = Env { clock: Arc::<ManualClock>::clone(&clock), ..Env::system() };
    let server = start_with(&home, &[], env).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    let mut heard = String::new();
    let mut passed = Duration::ZERO;
    let mut reading = std::pin::pin!(stream.read_to_string(&mut heard));
    while passed < Duration::from_secs(1_000_000) {
        tokio::select! {
            biased;
            read = &mut reading => {
                read.unwrap();
                return (heard, passed);
            }
            () = tokio::task::yield_now() => {
                passed += Duration::from_secs(1);
                clock.advance(Duration::from_secs(1));
            }
        }
    }
    panic!("it is never hung up on");
}

#[tokio::test]
async fn a_connection_that_asks_for_nothing_is_cut_off() {
    for said in ["", "PRI * HT"] {
        let (heard, passed) = heard_after(said.to_owned()).await;
        assert_eq!(heard, "");
        assert!(passed >= Duration::from_secs(10), "{passed:?}");
    }
}

#[tokio::test]
async fn nobody_holds_a_place_by_sending_a_request_slowly() {
    let head = format!(
        "POST {READ} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\
         connection: close\r\n\r\n{{"
    );
    let (heard, passed) = heard_after(head).await;
    assert!(heard.starts_with("HTTP/1.1 504") && heard.contains("BACKEND_TIMEOUT"), "{heard}");
    assert!(passed >= Duration::from_secs(60), "{passed:?}");
}
