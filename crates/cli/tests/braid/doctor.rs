//! `braid doctor` where a server is to run: what it says before anything is made. With `BRAID_TEST_BACKEND=cassandra` on
//! the node of `dev/cassandra`, under a prefix that nobody uses.

use std::process::Command;

use crate::process::{braid, ended, over_cassandra};

const PREFIX: &str = "doctored";

/// `braid doctor` with settings from variables, in a directory of its own, and no server.
fn doctor(variables: &[(&str, &str)]) -> (i32, String) {
    let scratch = tempfile::tempdir().unwrap();
    let mut command: Command = braid(&["-s", "127.0.0.1:1", "doctor"]);
    command.current_dir(scratch.path()).envs(variables.iter().copied());
    let (code, said, _) = ended(command.output().unwrap());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is left behind");
    (code, said)
}

fn check(variables: &[(&str, &str)], code: i32, lines: &[&str]) {
    let (found, said) = doctor(variables);
    assert_eq!(found, code, "{said}");
    for line in lines {
        assert!(said.contains(line), "no `{line}` in\n{said}");
    }
}

#[test]
fn doctor_looks_at_the_store_and_makes_nothing() {
    if over_cassandra() {
        let variables =
            [("BRAID__STORE__BACKEND", "cassandra"), ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", PREFIX)];
        let lines = [
            "ok    events are kept in Cassandra at 127.0.0.1:9042, keyspaces doctored_*\n",
            "1 of 1 nodes, local data centre datacenter1\n",
            "ok    the cluster does not ask who uses it\n",
            "ok    keyspace doctored_meta is not there yet; `braid serve` makes it\n",
            "ok    0 of 500 tables are made\n",
            "ok    auto_snapshot is off",
            "warn  commitlog_sync is periodic at 127.0.0.1:9042: ",
        ];
        // The second finds that the first made nothing.
        for _ in 0..2 {
            check(&variables, 0, &lines);
        }
    } else {
        check(&[], 0, &["ok    data directory braid-data does not exist yet"]);
    }
}

#[test]
fn doctor_fails_over_a_cluster_that_is_not_there() {
    let variables =
        [("BRAID__STORE__BACKEND", "cassandra"), ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", "127.0.0.1:1")];
    check(
        &variables,
        8,
        &["FAIL  cannot use Cassandra: no node answers at 127.0.0.1:1 (", "  -> check the contact points"],
    );
    let variables = [
        ("BRAID__STORE__BACKEND", "cassandra"),
        ("BRAID__STORE__CASSANDRA__TLS__ENABLED", "true"),
        ("BRAID__STORE__CASSANDRA__TLS__CA_FILE", "no/such/file"),
    ];
    check(
        &variables,
        8,
        &["FAIL  cannot read no/such/file (", "  -> name it right in [store.cassandra.tls]"],
    );
}
