//! Asking the Jolokia agent of a node: one GET, over a connection of its own.
//!
//! HTTP/1.0, so that the answer ends with the connection and comes in one piece. Nothing here is fit for the open
//! network, and neither is the agent: it belongs on an address that only friends reach.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use env::Env;
use serde::Deserialize;
use store::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::buckets::Buckets;
use super::sources::within;

/// How long a node may take: it answers from memory.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Bytes of an answer: an array of 156 numbers and what was asked for.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// The buckets of one table on one node.
pub(super) async fn ask(env: &Env, node: IpAddr, port: u16, table: (&str, &str)) -> Result<Buckets> {
    let at = SocketAddr::new(node, port);
    let asked = within(env, ANSWER_WITHIN, get(at, table)).await;
    let answer = match asked {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => return Err(silent(at, &error)),
        None => return Err(silent(at, &format_args!("no answer within {} s", ANSWER_WITHIN.as_secs()))),
    };
    buckets(&answer).map_err(|problem| silent(at, &problem))
}

fn silent(at: SocketAddr, problem: &dyn std::fmt::Display) -> Error {
    let message = format!("the Jolokia agent at {at} gives no histogram ({problem}); attach it to the node");
    Error::new(ErrorKind::Unavailable, message)
}

async fn get(at: SocketAddr, (keyspace, table): (&str, &str)) -> std::io::Result<Vec<u8>> {
    let bean = format!("org.apache.cassandra.metrics:type=Table,keyspace={keyspace},scope={table}");
    let path = format!("/jolokia/read/{bean},name=EstimatedPartitionSizeHistogram/Value");
    let mut stream = TcpStream::connect(at).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {at}\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await?;
    Ok(answer)
}

#[derive(Deserialize)]
struct Answer {
    status: u16,
    value: Option<Vec<u64>>,
    error: Option<String>,
}

/// The buckets in an answer, or what is wrong with it.
fn buckets(answer: &[u8]) -> std::result::Result<Buckets, String> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = end.and_then(|end| answer.get(end + 4..)).ok_or("it is no answer of HTTP")?;
    if !answer.starts_with(b"HTTP/1.") || answer.get(8..13) != Some(b" 200 ") {
        let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
        return Err(String::from_utf8_lossy(line).chars().take(80).collect());
    }
    let answer: Answer = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    match (answer.status, answer.value) {
        (200, Some(counts)) => Buckets::of(&counts).ok_or_else(|| "it has too many buckets".to_owned()),
        (status, _) => {
            let error = answer.error.unwrap_or_default();
            Err(format!("status {status} {}", error.chars().take(200).collect::<String>()).trim().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: &str, body: &str, expect: std::result::Result<&[u64], &str>) {
        let answer = format!("HTTP/1.1 {status}\r\nContent-type: text/plain\r\n\r\n{body}");
        let expect = expect.map(|counts| Buckets::of(counts).unwrap()).map_err(str::to_owned);
        assert_eq!(buckets(answer.as_bytes()), expect, "{answer}");
    }

    #[test]
    fn answers_of_an_agent_are_read() {
        check(
            "200 OK",
            r#"{"request":{"type":"read"},"value":[0,3,1],"status":200,"timestamp":1}"#,
            Ok(&[0, 3, 1]),
        );
        check("200 OK", r#"{"value":[],"status":200}"#, Ok(&[]));
    }

    #[test]
    fn what_is_no_histogram_is_named() {
        let gone =
            r#"{"error_type":"x","error":"javax.management.InstanceNotFoundException : x","status":404}"#;
        check("200 OK", gone, Err("status 404 javax.management.InstanceNotFoundException : x"));
        check("200 OK", r#"{"status":200}"#, Err("status 200"));
        check("401 Unauthorized", "", Err("HTTP/1.1 401 Unauthorized"));
        check("200 OK", "<html>", Err("expected value at line 1 column 1"));
        assert_eq!(buckets(b"SSH-2.0-x"), Err("it is no answer of HTTP".to_owned()));
        let negative = buckets(b"HTTP/1.0 200 OK\r\n\r\n{\"value\":[-1],\"status\":200}").unwrap_err();
        assert!(negative.contains("-1"), "{negative}");
    }
}
