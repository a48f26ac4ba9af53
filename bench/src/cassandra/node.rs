//! The node: one on this machine, which `dev/cassandra start` runs.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Result;

use crate::harness::{Answer, Unit};

const PORT: u16 = 9042;
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// Where it listens.
pub(super) fn address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))
}

/// Measures if a node is there; else the answer says what to start.
pub(crate) fn beside(
    question: &'static str,
    unit: Unit,
    measure: impl FnOnce() -> Result<Answer>,
) -> Result<Answer> {
    match TcpStream::connect_timeout(&address(), CONNECT_WITHIN) {
        Ok(_) => measure(),
        Err(error) => Ok(Answer::new(question, unit, Vec::new(), &[])?.note(skipped(&error))),
    }
}

fn skipped(error: &std::io::Error) -> String {
    format!(
        "skipped: no Cassandra at {} ({error}); run `make bench-cassandra`, or `dev/cassandra start` and this again",
        address()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_skipped_says_what_to_start() {
        let said = skipped(&std::io::ErrorKind::ConnectionRefused.into());
        assert_eq!(
            said,
            "skipped: no Cassandra at 127.0.0.1:9042 (connection refused); run `make bench-cassandra`, or \
             `dev/cassandra start` and this again"
        );
    }
}
