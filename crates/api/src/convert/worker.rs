//! Servers as they are listed.

use engine::ServerInfo;

use super::time::{duration_to_wire, timestamp_to_wire};
use crate::admin::v1;

/// What the program calls itself before its version.
const PROGRAM: &str = "braid ";

/// A server as it is listed.
pub fn worker_to_wire(server: ServerInfo) -> v1::Worker {
    let version = server.program.strip_prefix(PROGRAM).unwrap_or(&server.program).to_owned();
    v1::Worker {
        server_id: server.id,
        address: server.address,
        version,
        roles: server.roles,
        started: Some(timestamp_to_wire(server.started)),
        epoch: server.epoch,
        silent: Some(duration_to_wire(server.silent)),
        leased: server.leased,
        here: server.here,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_is_shown_with_its_version_and_roles() {
        let server = ServerInfo {
            id: "s1".to_owned(),
            address: "h:7420".to_owned(),
            program: "braid 0.1.0".to_owned(),
            roles: vec!["api".to_owned(), "slice_keeper".to_owned()],
            started: 7_000_000_000,
            epoch: 9,
            silent: Duration::from_millis(1_500),
            leased: true,
            here: false,
        };
        let expect = v1::Worker {
            server_id: "s1".to_owned(),
            address: "h:7420".to_owned(),
            version: "0.1.0".to_owned(),
            roles: vec!["api".to_owned(), "slice_keeper".to_owned()],
            started: Some(prost_types::Timestamp { seconds: 7, nanos: 0 }),
            epoch: 9,
            silent: Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }),
            leased: true,
            here: false,
        };
        assert_eq!(worker_to_wire(server.clone()), expect);
        let odd = ServerInfo { program: "another 1".to_owned(), ..server };
        assert_eq!(worker_to_wire(odd).version, "another 1");
    }
}
