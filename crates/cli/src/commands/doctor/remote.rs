//! The server: whether one answers, whether it is Braid, and how it is.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use api::admin::v1::ServerInfo;
use jiff::Timestamp;
use rpc::client::CallError;

use super::finding::Finding;
use crate::args::DEFAULT_SERVER;
use crate::output::value::{duration, time};
use crate::session::wire_time;

/// How long a port may take to open.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// Clocks that differ by less are as good as equal.
const SKEW: Duration = Duration::from_secs(2);
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The server to look at: the one that was named, else the one that the settings describe.
pub(crate) fn url(named: &str, listen: SocketAddr) -> String {
    // Port 0 is another one in every run.
    if named != DEFAULT_SERVER || listen.port() == 0 {
        return named.to_owned();
    }
    let host = if listen.ip().is_unspecified() { IpAddr::from(Ipv4Addr::LOCALHOST) } else { listen.ip() };
    format!("http://{}", SocketAddr::new(host, listen.port()))
}

/// Whether anything takes connections there.
pub(crate) fn listens(url: &str) -> bool {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let place = place.split('/').next().unwrap_or(place);
    let Ok(mut addresses) = place.to_socket_addrs() else { return false };
    addresses.any(|address| TcpStream::connect_timeout(&address, CONNECT_WITHIN).is_ok())
}

/// Judges what the server said of itself, or why it did not.
pub(crate) fn judge(
    url: &str,
    answer: &Result<ServerInfo, CallError>,
    listens: bool,
    owner: Option<&str>,
) -> Vec<Finding> {
    let info = match answer {
        Ok(info) => info,
        Err(error) => return vec![silent(url, error, listens, owner)],
    };
    let ServerInfo { version, store_backend, namespaces, .. } = info;
    let mut findings = vec![Finding::ok(format!(
        "braid {version} answers at {url} with {namespaces} namespaces, store {store_backend}"
    ))];
    if version != VERSION {
        let what = format!("this command is {VERSION}, the server {version}");
        findings.push(Finding::warn(what, "use the same version on both sides"));
    }
    findings.push(if info.ready {
        Finding::ok("the server is ready")
    } else {
        Finding::fail(format!("the server is not ready: {}", info.not_ready_reason), "look into its log")
    });
    // Older ones say nothing of it.
    if !info.server_id.is_empty() {
        findings.push(judge_lease(info));
    }
    findings
}

fn judge_lease(info: &ServerInfo) -> Finding {
    let epoch = info.epoch;
    if info.leased {
        return Finding::ok(format!("the server holds a lease and knows all changes up to {epoch}"));
    }
    Finding::fail(
        format!("the server has lost touch with the others behind change {epoch}: reads may be partial"),
        "look into its log, and at the other servers with `braid workers`",
    )
}

fn silent(url: &str, error: &CallError, listens: bool, owner: Option<&str>) -> Finding {
    let message = &error.message;
    if error.code == "DEADLINE_EXCEEDED" {
        return Finding::fail(format!("{url} takes calls and does not answer"), "look into the server's log");
    }
    if error.reason.is_some() {
        return Finding::fail(format!("the server at {url} refuses: {message}"), "look into its log");
    }
    match (listens, owner) {
        (true, _) => Finding::fail(
            format!("something that is not Braid answers at {url}"),
            "name the right server with -s, or serve on another port with --listen",
        ),
        (false, Some(owner)) => Finding::warn(
            format!("the data directory is in use by {owner}, and no server answers at {url}"),
            "name its address with -s",
        ),
        (false, None) => Finding::warn(
            format!("no server answers at {url}"),
            "start one with `braid serve`, or name it with -s",
        ),
    }
}

/// Judges the server's clock by this one.
pub(crate) fn judge_started(started: Option<prost_types::Timestamp>, now: Timestamp) -> Finding {
    let nanos = started.map_or(0, |at| i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanos));
    let started_at = Timestamp::from_nanosecond(nanos).unwrap_or(Timestamp::MAX);
    let ahead = Duration::try_from(started_at.duration_since(now)).unwrap_or(Duration::ZERO);
    if ahead > SKEW {
        let what = format!("by this clock the server starts in {}", duration(ahead));
        return Finding::fail(what, "set the clocks of both machines; events are judged by their age");
    }
    let whole = started_at.round(jiff::Unit::Second).unwrap_or(started_at);
    Finding::ok(format!("the server runs since {}", time(Some(wire_time(whole)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://h:1";

    fn lines(answer: &Result<ServerInfo, CallError>, listens: bool, owner: Option<&str>) -> String {
        judge(URL, answer, listens, owner).iter().map(Finding::line).collect()
    }

    fn failed(code: &'static str, reason: Option<&str>) -> Result<ServerInfo, CallError> {
        let reason = reason.map(str::to_owned);
        Err(CallError { code, reason, message: "why".to_owned(), retry_after: None })
    }

    #[test]
    fn a_server_says_how_it_is() {
        let info = ServerInfo {
            version: VERSION.to_owned(),
            store_backend: "embedded".to_owned(),
            ready: true,
            namespaces: 3,
            epoch: 7,
            leased: true,
            server_id: "s1".to_owned(),
            ..ServerInfo::default()
        };
        let first =
            format!("ok    braid {VERSION} answers at http://h:1 with 3 namespaces, store embedded\n");
        let leased = "ok    the server holds a lease and knows all changes up to 7\n";
        let ready = "ok    the server is ready\n";
        assert_eq!(lines(&Ok(info.clone()), false, None), format!("{first}{ready}{leased}"));
        let odd = ServerInfo {
            version: "9.9.9".to_owned(),
            ready: false,
            not_ready_reason: "disk".to_owned(),
            leased: false,
            ..info
        };
        let said = lines(&Ok(odd), false, None);
        assert!(said.contains(&format!("warn  this command is {VERSION}, the server 9.9.9  -> ")), "{said}");
        assert!(said.contains("FAIL  the server is not ready: disk  -> look into its log\n"), "{said}");
        let lost =
            "FAIL  the server has lost touch with the others behind change 7: reads may be partial  -> ";
        assert!(said.contains(lost), "{said}");
    }

    #[test]
    fn silence_has_different_reasons() {
        let away = failed("UNAVAILABLE", None);
        assert!(
            lines(&away, false, None).starts_with("warn  no server answers at http://h:1  -> start one with")
        );
        assert!(
            lines(&away, false, Some("process 7"))
                .starts_with("warn  the data directory is in use by process 7")
        );
        assert!(lines(&away, true, None).starts_with("FAIL  something that is not Braid answers"));
        assert!(
            lines(&failed("UNIMPLEMENTED", None), true, None)
                .starts_with("FAIL  something that is not Braid")
        );
        assert!(lines(&failed("UNAVAILABLE", Some("NOT_READY")), true, None).contains("refuses: why"));
        assert!(lines(&failed("DEADLINE_EXCEEDED", None), true, None).contains("does not answer"));
    }

    #[test]
    fn a_server_from_the_future_has_another_clock() {
        let now = Timestamp::new(1_778_542_920, 0).unwrap();
        let line = |seconds| judge_started(Some(prost_types::Timestamp { seconds, nanos: 0 }), now).line();
        assert_eq!(line(1_778_542_921), "ok    the server runs since 2026-05-11T23:42:01Z\n");
        assert!(
            line(1_778_543_520)
                .starts_with("FAIL  by this clock the server starts in 10m  -> set the clocks")
        );
    }

    #[test]
    fn the_settings_say_where_to_look_unless_a_server_is_named() {
        let found = |named, listen: &str| url(named, listen.parse().unwrap());
        assert_eq!(found("http://h:1", "127.0.0.1:9"), "http://h:1");
        assert_eq!(found(DEFAULT_SERVER, "10.0.0.1:9"), "http://10.0.0.1:9");
        assert_eq!(found(DEFAULT_SERVER, "0.0.0.0:9"), "http://127.0.0.1:9");
        assert_eq!(found(DEFAULT_SERVER, "[::]:9"), "http://127.0.0.1:9");
        assert_eq!(found(DEFAULT_SERVER, "127.0.0.1:0"), DEFAULT_SERVER);
    }

    #[test]
    fn a_port_is_looked_at_whatever_the_url_looks_like() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(listens(&format!("http://{address}/path")));
        assert!(listens(&address.to_string()));
        drop(listener);
        assert!(!listens(&format!("http://{address}")));
        assert!(!listens("nonsense"));
    }
}
