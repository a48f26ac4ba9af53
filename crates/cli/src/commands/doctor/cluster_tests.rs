//! Clusters as they are found, and the lines that an operator reads.

use server::MissingRight;

use super::*;

fn node(address: &str, auto_snapshot: Option<bool>) -> Node {
    Node {
        address: address.to_owned(),
        datacenter: "dc1".to_owned(),
        release: Some("5.0.8".to_owned()),
        auto_snapshot,
        commitlog_sync: Some("group".to_owned()),
    }
}

fn found(replicas: &[(&str, usize)]) -> Replicas {
    Replicas::ByDatacenter(replicas.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect())
}

fn good() -> Examined {
    Examined {
        nodes: ["a:9042", "b:9042", "c:9042"].map(|address| node(address, Some(false))).to_vec(),
        datacenter: "dc1".to_owned(),
        replication: [("dc1".to_owned(), 3)].into(),
        user: Some("braid".to_owned()),
        rights: Rights::Enough,
        keyspace: "braid_meta".to_owned(),
        replicas: Some(found(&[("dc1", 3)])),
        layout: Some(Layout::Version(LAYOUT_VERSION)),
        tables: Some(12),
        tables_max: 500,
    }
}

fn check(change: impl FnOnce(&mut Examined), expect: &str) {
    let mut cluster = good();
    change(&mut cluster);
    let lines: String = judge(Ok(&cluster)).iter().map(Finding::line).collect();
    assert!(lines.contains(expect), "{lines}");
}

#[test]
fn a_good_cluster_is_good_line_by_line() {
    let lines: String = judge(Ok(&good())).iter().map(Finding::line).collect();
    assert_eq!(
        lines,
        "ok    Cassandra 5.0.8 answers, 3 of 3 nodes, local data centre dc1\n\
         ok    braid may make, use and drop keyspaces and tables\n\
         ok    keyspace braid_meta has layout version 1\n\
         ok    12 of 500 tables are made\n\
         ok    auto_snapshot is off: a table that is dropped frees its disk\n"
    );
}

#[test]
fn nodes_that_are_away_or_too_few_are_told() {
    check(
        |cluster| cluster.nodes[1].release = None,
        "warn  Cassandra 5.0.8 answers, 2 of 3 nodes, local data centre dc1; b:9042 did not answer  -> look at",
    );
    check(
        |cluster| cluster.nodes[2].release = Some("4.1.9".to_owned()),
        "ok    Cassandra 4.1.9 and 5.0.8 answers",
    );
    check(
        |cluster| cluster.replication = [("dc1".to_owned(), 5)].into(),
        "warn  5 replicas in dc1, which has 3 nodes  -> add nodes, or set fewer",
    );
}

#[test]
fn metadata_with_other_replicas_than_the_settings_name_is_told() {
    check(
        |cluster| cluster.replicas = Some(found(&[("dc1", 3), ("dc2", 3)])),
        "warn  keyspace braid_meta has the replicas dc1 = 3, dc2 = 3; the settings ask for dc1 = 3  -> set store.cassandra.\
         replication to what is there, the same for every server; or stop all servers",
    );
    check(
        |cluster| cluster.replicas = Some(Replicas::Elsewhere("SimpleStrategy".to_owned())),
        "warn  keyspace braid_meta has the replicas SimpleStrategy; the settings ask for dc1 = 3  -> ",
    );
    check(
        |cluster| cluster.replicas = Some(found(&[("dc2", 3)])),
        "FAIL  keyspace braid_meta has no replica in the local data centre dc1 (dc2 = 3)  -> stop all servers",
    );
}

#[test]
fn tables_are_counted_against_their_limit() {
    check(|cluster| cluster.tables = Some(399), "ok    399 of 500 tables are made\n");
    check(|cluster| cluster.tables = Some(400), "warn  400 of 500 tables are made  -> shorten retention");
    check(
        |cluster| cluster.tables = Some(500),
        "FAIL  500 of 500 tables are made; new slices are refused  -> ",
    );
}

#[test]
fn a_missing_right_fails_with_its_grant() {
    let right = |n: usize| MissingRight {
        what: format!("CREATE on keyspace k{n}"),
        grant: format!("GRANT CREATE ON KEYSPACE k{n} TO braid"),
    };
    let missing = |count| {
        move |cluster: &mut Examined| {
            cluster.rights = Rights::Missing((0..count).map(right).collect());
            (cluster.layout, cluster.tables) = (None, None);
        }
    };
    let first = "FAIL  braid lacks CREATE on keyspace k0  -> as a superuser, run GRANT CREATE ON KEYSPACE k0 TO braid\n";
    check(missing(1), first);
    check(missing(11), "FAIL  braid lacks 3 more rights  -> grant these first\n");
    let quiet = |cluster: &mut Examined| cluster.rights = Rights::NotTold("odd".to_owned());
    check(|cluster| cluster.user = None, "ok    the cluster does not ask who uses it\n");
    check(quiet, "warn  the cluster does not tell what braid may do (odd)  -> ");
}

#[test]
fn a_layout_of_somebody_else_fails() {
    check(|cluster| cluster.layout = Some(Layout::NotMade), "ok    keyspace braid_meta is not there yet");
    check(
        |cluster| cluster.layout = Some(Layout::Version(99)),
        "FAIL  keyspace braid_meta has layout version 99, this braid knows 1  -> run the version",
    );
    check(
        |cluster| cluster.layout = Some(Layout::Foreign),
        "FAIL  keyspace braid_meta has tables and none of them is Braid's  -> set another",
    );
}

#[test]
fn snapshots_of_what_is_dropped_are_warned_of() {
    let on = |cluster: &mut Examined| {
        cluster.nodes = ["a", "b", "c", "d"].map(|address| node(address, Some(true))).to_vec();
    };
    check(
        on,
        "warn  auto_snapshot is on at a, b, c and 1 more: a table that is dropped frees no disk  -> set",
    );
    let unknown = |cluster: &mut Examined| cluster.nodes = vec![node("a", None)];
    check(
        unknown,
        "warn  whether auto_snapshot is on is not known of a  -> as a superuser, run GRANT SELECT ON",
    );
}

#[test]
fn nodes_that_acknowledge_before_they_sync_are_warned_of() {
    check(
        |cluster| cluster.nodes[1].commitlog_sync = Some("periodic".to_owned()),
        "warn  commitlog_sync is periodic at b:9042: ",
    );
}

#[test]
fn a_cluster_that_cannot_be_used_fails_with_what_to_do() {
    let line = |message: &str| judge(Err(message.to_owned()))[0].line();
    assert_eq!(line("nobody answers; start it"), "FAIL  nobody answers  -> start it\n");
    assert_eq!(line("odd"), "FAIL  odd  -> look at [store.cassandra] in the settings\n");
}

#[test]
fn a_queue_is_judged_by_what_waits_and_what_is_dead() {
    let line = |asked| judge_queue(asked).map(|finding: Finding| finding.line());
    assert_eq!(line(Ok(None)), None);
    let good = Standing { lag: 3, dead_letters: 0 };
    assert_eq!(line(Ok(Some(good))).unwrap(), "ok    Kafka answers; 3 detections wait, no dead letters\n");
    let dead = line(Ok(Some(Standing { dead_letters: 2, ..good }))).unwrap();
    assert!(dead.starts_with("warn  Kafka answers; 3 detections wait, 2 dead letters  -> "), "{dead}");
    let lost = line(Err("nobody answers; start it".to_owned())).unwrap();
    assert_eq!(lost, "FAIL  nobody answers  -> start it\n");
}
