//! Which layer wins, and what `config show` says about it.

use std::path::PathBuf;

use super::super::{Config, Flags, Loaded, load};
use super::{given, given_with};

/// `key = value (origin)` for what is not a default.
fn changed(loaded: &Loaded) -> String {
    let settings = loaded.settings();
    let lines = settings.iter().filter(|setting| setting.origin != "default");
    let lines = lines.map(|setting| format!("{} = {} ({})", setting.key, setting.value, setting.origin));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn without_anything_all_is_default() {
    let loaded = load(&Flags::default(), [], None).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.file(), None);
    let shown: Vec<_> = loaded
        .settings()
        .iter()
        .map(|setting| format!("{} = {} ({})", setting.key, setting.value, setting.origin))
        .collect();
    assert_eq!(
        shown.join("\n"),
        r#"server.listen = "127.0.0.1:7420" (default)
server.roles = ["api", "split_worker", "slice_keeper", "tuner"] (default)
server.reflection = true (default)
server.shutdown_grace = "10s" (default)
store.backend = "embedded" (default)
store.data = "braid-data" (default)
store.max_tables = 0 (default)
store.embedded.cache_bytes = "256MiB" (default)
store.embedded.memtable_budget_bytes = "128MiB" (default)
store.embedded.journal_bytes = "128MiB" (default)
store.embedded.workers = 2 (default)
store.cassandra.contact_points = ["127.0.0.1:9042"] (default)
store.cassandra.local_datacenter = "" (default)
store.cassandra.keyspace_prefix = "braid" (default)
store.cassandra.replication = {} (default)
store.cassandra.user = "" (default)
store.cassandra.password_file = "" (default)
store.cassandra.connections_per_node = 2 (default)
store.cassandra.tls.enabled = false (default)
store.cassandra.tls.ca_file = "" (default)
store.cassandra.tls.cert_file = "" (default)
store.cassandra.tls.key_file = "" (default)
store.cassandra.tls.verify_hostname = true (default)
queue.backend = "embedded" (default)
queue.kafka.bootstrap_servers = ["127.0.0.1:9092"] (default)
queue.kafka.topic = "braid.wide-partition-detections" (default)
queue.kafka.group = "braid-split-workers" (default)
queue.kafka.password_file = "" (default)
queue.kafka.properties = {} (default)
histograms.source = "auto" (default)
histograms.jolokia_port = 8778 (default)
histograms.nodetool = "nodetool" (default)
histograms.jmx_port = 7199 (default)
limits.connections = 1024 (default)
limits.requests = 256 (default)
limits.streams = 64 (default)
limits.reads = 64 (default)
limits.reads_waiting = 256 (default)
limits.wide_scans = 0 (default)
limits.splits = 2 (default)
limits.split_bytes_per_second = "64MiB" (default)
log.level = "info" (default)
log.format = "text" (default)"#
    );
}

#[test]
fn flag_beats_variable_beats_file_beats_default() {
    let file = "[server]\nlisten = '1.1.1.1:1'\n[store]\ndata = 'f'\nmax_tables = 7\n";
    let variables =
        ["BRAID__SERVER__LISTEN=2.2.2.2:2", "BRAID__STORE__DATA=e", "BRAID__STORE__EMBEDDED__WORKERS=3"];
    let flags = Flags { listen: Some("3.3.3.3:3".to_owned()), ..Flags::default() };
    let loaded = given_with(&flags, file, &variables).unwrap();
    assert_eq!(
        changed(&loaded),
        r#"server.listen = "3.3.3.3:3" (--listen)
store.data = "e" (BRAID__STORE__DATA)
store.max_tables = 7 (braid.toml:5)
store.embedded.workers = 3 (BRAID__STORE__EMBEDDED__WORKERS)"#
    );
    assert_eq!(loaded.config.server.listen, "3.3.3.3:3".parse().unwrap());
    assert_eq!(loaded.config.store.data, PathBuf::from("e"));
    assert_eq!(loaded.config.store.max_tables, 7);
    assert_eq!(loaded.config.store.embedded.workers, 3);
}

#[test]
fn each_way_to_write_a_section_is_the_same() {
    let expect = "store.embedded.workers = 5 (braid.toml:";
    for text in [
        "[store.embedded]\nworkers = 5",
        "[store]\nembedded.workers = 5",
        "store.embedded.workers = 5",
        "store = { embedded = { workers = 5 } }",
    ] {
        let shown = changed(&given(text, &[]).unwrap());
        assert!(shown.starts_with(expect), "{text}: {shown}");
    }
}

#[test]
fn variables_of_others_are_passed_over() {
    let others =
        ["BRAID_SERVER=http://x", "BRAID_CONFIG=", "BRAID_STORE=1", "braid__store__data=x", "PATH=/"];
    assert_eq!(changed(&given("", &others).unwrap()), "");
}

#[test]
fn a_data_directory_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let data = PathBuf::from(OsStr::from_bytes(b"d\xff"));
    let flags = Flags { data: Some(data.clone()), ..Flags::default() };
    let loaded = given_with(&flags, "", &[]).unwrap();
    assert_eq!(loaded.config.store.data, data);
    assert_eq!(changed(&loaded), "store.data = \"d\u{fffd}\" (--data)");
}

#[test]
fn what_is_shown_can_be_given_again() {
    let text = "[server]\nlisten = '[::1]:0'\nroles = ['api', 'split_worker']\nreflection = false\nshutdown_grace = '1m 30s 5ms'\n\
                [store]\nbackend = 'cassandra'\ndata = '''a \"b\" \\c'''\nmax_tables = 1\n\
                [store.embedded]\ncache_bytes = 8388609\nmemtable_budget_bytes = '1TiB'\njournal_bytes = '100MB'\n\
                workers = 64\n\
                [store.cassandra]\ncontact_points = ['a:1', '[::1]:2']\nlocal_datacenter = 'eu.west'\n\
                keyspace_prefix = 'b2'\nreplication = {'eu.west' = 3, us-1 = 2}\nuser = 'a \"b\"'\n\
                password_file = '/p'\nconnections_per_node = 4\n\
                [store.cassandra.tls]\nenabled = true\nca_file = '/ca'\ncert_file = '/c'\nkey_file = '/k'\n\
                verify_hostname = false\n\
                [queue]\nbackend = 'kafka'\n[queue.kafka]\nbootstrap_servers = ['a:1', 'b:2']\ntopic = 't'\ngroup = 'g'\n\
                password_file = '/p'\nproperties = {security.protocol = 'ssl', 'linger.ms' = 5, x = true}\n\
                [histograms]\nsource = 'cql'\njolokia_port = 1\nnodetool = '/n'\njmx_port = 65535\n\
                [limits]\nconnections = 1\nrequests = 2\nstreams = 3\n\
                reads = 4\nreads_waiting = 0\nwide_scans = 5\nsplits = 1\nsplit_bytes_per_second = '1MiB'\n\
                [log]\nlevel = 'trace'\nformat = 'json'\n";
    let first = given(text, &[]).unwrap();
    let shown: String =
        first.settings().iter().map(|setting| format!("{} = {}\n", setting.key, setting.value)).collect();
    let again = given(&shown, &[]).unwrap();
    assert_eq!(again.config, first.config);
    let untouched = Config::default();
    for (setting, key) in first.settings().iter().zip(&super::super::keys::KEYS) {
        assert_ne!(setting.value, key.show(&untouched), "{} is not covered by this test", key.name);
    }
}

#[test]
fn the_embedded_store_gets_what_was_set() {
    assert_eq!(Config::default().embedded_options(), store_embedded::Options::default());
    let text = "[store]\nmax_tables = 11\n[store.embedded]\ncache_bytes = '64MiB'\n\
                memtable_budget_bytes = '32MiB'\njournal_bytes = '65MiB'\nworkers = 4\n";
    let expect = store_embedded::Options {
        cache_bytes: 64 << 20,
        memtable_budget_bytes: 32 << 20,
        journal_bytes: 65 << 20,
        workers: 4,
        tables_max: 11,
        ..store_embedded::Options::default()
    };
    assert_eq!(given(text, &[]).unwrap().config.embedded_options(), expect);
    assert!(super::super::keys::MEMTABLE_BUDGET_BYTES_MIN >= expect.memtable_bytes);
}

#[test]
fn the_store_on_cassandra_gets_what_was_set() {
    use store_cassandra::{HistogramOptions, Options, SourceChoice};
    assert_eq!(Config::default().cassandra_options(), Options::default());
    let text = "[store]\nmax_tables = 11\n[store.cassandra]\ncontact_points = ['a:1', 'b:2']\n\
                local_datacenter = 'dc1'\nkeyspace_prefix = 'b2'\nreplication = {dc1 = 3, dc2 = 1}\n\
                user = 'u'\npassword_file = 'p'\nconnections_per_node = 4\n\
                [histograms]\nsource = 'nodetool'\njolokia_port = 1\nnodetool = 'n'\njmx_port = 2\n";
    let expect = Options {
        contact_points: vec!["a:1".to_owned(), "b:2".to_owned()],
        local_datacenter: Some("dc1".to_owned()),
        keyspace_prefix: "b2".to_owned(),
        replication: [("dc1".to_owned(), 3), ("dc2".to_owned(), 1)].into(),
        credentials: None,
        tls: None,
        connections_per_node: 4,
        tables_max: 11,
        histograms: HistogramOptions {
            source: SourceChoice::Nodetool,
            jolokia_port: 1,
            nodetool: PathBuf::from("n"),
            jmx_port: 2,
        },
    };
    assert_eq!(given(text, &[]).unwrap().config.cassandra_options(), expect);
    let variables = [
        "BRAID__STORE__MAX_TABLES=11",
        "BRAID__STORE__CASSANDRA__CONTACT_POINTS=a:1, b:2",
        "BRAID__STORE__CASSANDRA__LOCAL_DATACENTER=dc1",
        "BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX=b2",
        "BRAID__STORE__CASSANDRA__REPLICATION=dc1=3,dc2=1",
        "BRAID__STORE__CASSANDRA__CONNECTIONS_PER_NODE=4",
        "BRAID__HISTOGRAMS__SOURCE=nodetool",
        "BRAID__HISTOGRAMS__JOLOKIA_PORT=1",
        "BRAID__HISTOGRAMS__NODETOOL=n",
        "BRAID__HISTOGRAMS__JMX_PORT=2",
    ];
    assert_eq!(given("", &variables).unwrap().config.cassandra_options(), expect);
}

#[test]
fn tls_is_set_by_variables_as_everything_is() {
    let variables = [
        "BRAID__STORE__CASSANDRA__TLS__ENABLED=true",
        "BRAID__STORE__CASSANDRA__TLS__CA_FILE=/ca",
        "BRAID__STORE__CASSANDRA__TLS__VERIFY_HOSTNAME=false",
    ];
    let expect = super::super::CassandraTls {
        enabled: true,
        ca_file: PathBuf::from("/ca"),
        verify_hostname: false,
        ..Default::default()
    };
    assert_eq!(given("", &variables).unwrap().config.store.cassandra.tls, expect);
}

#[test]
fn each_store_has_its_own_number_of_tables_until_one_is_set() {
    let config = Config::default();
    assert_eq!((config.embedded_options().tables_max, config.cassandra_options().tables_max), (2_000, 500));
}

#[test]
fn where_the_events_are_is_said_in_words() {
    let place = |text| given(text, &[]).unwrap().config.store.place();
    assert_eq!(place(""), "braid-data");
    assert_eq!(
        place("store.backend = 'cassandra'\nstore.cassandra.contact_points = ['a:1', 'b:2']"),
        "Cassandra at a:1, b:2, keyspaces braid_*"
    );
}
