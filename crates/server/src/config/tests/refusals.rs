//! What an operator is told, word for word.

use super::super::Flags;
use super::{given, given_with};

#[track_caller]
fn check(text: &str, expect: &str) {
    let told = given(text, &[]).unwrap_err().to_string();
    assert_eq!(told, expect, "for\n{text}");
}

#[track_caller]
fn check_variables(variables: &[&str], expect: &str) {
    let told = given("", variables).unwrap_err().to_string();
    assert_eq!(told, expect, "for {variables:?}");
}

#[test]
fn unknown_keys_in_the_file() {
    let store = "braid.toml:2: [store] has no key";
    check("[store]\nbackendd = 'embedded'", &format!("{store} `backendd`; did you mean `backend`?"));
    check("[store]\nMAX_TABLES = 1", &format!("{store} `MAX_TABLES`; did you mean `max_tables`?"));
    check("[store]\nBCKENDS = 1", &format!("{store} `BCKENDS`; did you mean `backend`?"));
    check("[store]\nwidth = 1", &format!("{store} `width`; it has `backend`, `data`, `max_tables`"));
    check("[store]\nworkers = 1", &format!("{store} `workers`; did you mean `workers` in [store.embedded]?"));
    check(
        "[store]\nembedded_workers = 1",
        &format!("{store} `embedded_workers`; did you mean `workers` in [store.embedded]?"),
    );
    check(
        "[store]\n'embedded.workers' = 1",
        &format!("{store} `embedded.workers`; did you mean `workers` in [store.embedded]?"),
    );
    check(
        "[store.embedded]\ncache = 1",
        "braid.toml:2: [store.embedded] has no key `cache`; did you mean `cache_bytes`?",
    );
    let outside = "braid.toml:1: there is no key";
    check(
        "listen = 1",
        &format!("{outside} `listen` outside the sections; did you mean `listen` in [server]?"),
    );
    check(
        "frobnicate = 1",
        &format!(
            "{outside} `frobnicate` outside the sections; \
             the sections are [server], [store], [store.embedded], [store.cassandra], [store.cassandra.tls], \
             [queue], [queue.kafka], [histograms], [limits], [log]"
        ),
    );
    let long = "x".repeat(100);
    check(
        &format!("[log]\n{long} = 1"),
        &format!("braid.toml:2: [log] has no key `{}...`; it has `level`, `format`", "x".repeat(60)),
    );
}

#[test]
fn unknown_sections_in_the_file() {
    check("\n[storr]\na = 1", "braid.toml:2: there is no section [storr]; did you mean [store]?");
    check(
        "[store.embeddd]",
        "braid.toml:1: there is no section [store.embeddd]; did you mean [store.embedded]?",
    );
    check(
        "[console]",
        "braid.toml:1: there is no section [console]; \
         the sections are [server], [store], [store.embedded], [store.cassandra], [store.cassandra.tls], \
         [queue], [queue.kafka], [histograms], [limits], [log]",
    );
    check(
        "['store.embedded']",
        "braid.toml:1: there is no section [store.embedded]; did you mean [store.embedded]?",
    );
    check("store = 1", "braid.toml:1: `store` is a section; write [store] and its keys below");
    check("[[limits]]", "braid.toml:1: `limits` is a section; write [limits] and its keys below");
    check(
        "[store]\nembedded = 'x'",
        "braid.toml:2: `embedded` is a section; write [store.embedded] and its keys below",
    );
}

#[test]
fn values_in_the_file() {
    let count = "give a whole number from 1 to 65536";
    check("[limits]\nstreams = 0", &format!("braid.toml:2: limits.streams is 0; {count}"));
    check("[limits]\nstreams = -1", &format!("braid.toml:2: limits.streams is -1; {count}"));
    check("[limits]\nstreams = 0x1_FFFF", &format!("braid.toml:2: limits.streams is 0x1_FFFF; {count}"));
    check("[limits]\nstreams = [1,\n 2]", &format!("braid.toml:2: limits.streams is [1,  2]; {count}"));
    check("[limits.streams]", &format!("braid.toml:1: limits.streams is an empty table; {count}"));
    check(
        "[limits]\nstreams = {a = 'b'}",
        &format!("braid.toml:2: limits.streams is {{a = \"b\"}}; {count}"),
    );
    check(
        "[limits]\nstreams = '9'",
        &format!("braid.toml:2: limits.streams is \"9\"; {count}, without quotes"),
    );
    check(
        "[server]\nreflection = 'yes'",
        "braid.toml:2: server.reflection is \"yes\"; give true or false, without quotes",
    );
    check("[server]\nreflection = 1.0", "braid.toml:2: server.reflection is 1.0; give true or false");
    check(
        "[server]\nlisten = 'localhost:1'",
        "braid.toml:2: server.listen is \"localhost:1\"; \
         give an IP address with a port, as \"127.0.0.1:7420\" or \"[::1]:7420\"",
    );
    check(
        "[server]\nshutdown_grace = '1d'",
        "braid.toml:2: server.shutdown_grace is \"1d\"; \
         give a duration from 0s to 1h, as \"500ms\", \"1m 30s\" or a whole number of seconds",
    );
    check(
        "[store.embedded]\njournal_bytes = '64M'",
        "braid.toml:2: store.embedded.journal_bytes is \"64M\"; \
         give a size from 64MiB to 1TiB, as \"256MiB\", \"10MB\" or a number of bytes",
    );
    check("[store]\ndata = ''", "braid.toml:2: store.data is \"\"; give a path that is not empty");
    check(
        "[store]\nbackend = 'redis'",
        "braid.toml:2: store.backend is \"redis\"; give \"embedded\" or \"cassandra\"",
    );
    check(
        "[log]\nlevel = 'loud'",
        "braid.toml:2: log.level is \"loud\"; give \"error\", \"warn\", \"info\", \"debug\" or \"trace\"",
    );
}

#[test]
fn settings_of_a_cluster() {
    let check_key = |given: &str, expect: &str| {
        check(&format!("[store.cassandra]\n{given}"), &format!("braid.toml:2: store.cassandra.{expect}"));
    };
    let nodes = "give a list of nodes as host:port, as [\"10.0.0.1:9042\", \"10.0.0.2:9042\"]";
    check_key("contact_points = 'a:1'", &format!("contact_points is \"a:1\"; {nodes}"));
    check_key("contact_points = ['a']", &format!("contact_points is ['a']; {nodes}"));
    let replicas = "give a table of data centres with 1 to 15 replicas each, as {dc1 = 3, dc2 = 2}";
    check_key("replication = {dc1 = 0}", &format!("replication is {{dc1 = 0}}; {replicas}"));
    check_key("replication = 3", &format!("replication is 3; {replicas}"));
    check_key(
        "[store.cassandra.replication]\ndc1 = '3'",
        &format!("replication is {{dc1 = \"3\"}}; {replicas}"),
    );
    check_key(
        "keyspace_prefix = 'a_b'",
        "keyspace_prefix is \"a_b\"; give 1 to 10 of a-z and 0-9 that start with a letter",
    );
    check_key(
        "local_datacenter = 'a b'",
        "local_datacenter is \"a b\"; give the name of a data centre, or \"\" for the only one there is",
    );
    check_variables(
        &["BRAID__STORE__CASSANDRA__CONTACT_POINTS=a:1,,b:2", "BRAID__STORE__CASSANDRA__REPLICATION=dc1"],
        "BRAID__STORE__CASSANDRA__CONTACT_POINTS: store.cassandra.contact_points is \"a:1,,b:2\"; \
         give a list of nodes as host:port, as 10.0.0.1:9042,10.0.0.2:9042\n\
         BRAID__STORE__CASSANDRA__REPLICATION: store.cassandra.replication is \"dc1\"; \
         give a table of data centres with 1 to 15 replicas each, as dc1=3,dc2=2",
    );
}

#[test]
fn tls_is_a_section() {
    check(
        "[store.cassandra]\ntls = true",
        "braid.toml:2: `tls` is a section; write [store.cassandra.tls] and its keys below",
    );
    check(
        "[store.cassandra.tls]\nca = 'x'",
        "braid.toml:2: [store.cassandra.tls] has no key `ca`; it has `enabled`, `ca_file`, `cert_file`, `key_file`, \
         `verify_hostname`",
    );
}

#[test]
fn tls_without_what_it_needs() {
    let section = "braid.toml:2: store.cassandra.tls";
    check(
        "[store.cassandra.tls]\nenabled = true",
        &format!(
            "{section}.enabled is true; name the certificates to trust in store.cassandra.tls.ca_file; those of the \
             system are usually in /etc/ssl/certs/ca-certificates.crt"
        ),
    );
    for (given, other) in [("cert_file", "key_file"), ("key_file", "cert_file")] {
        let what = given.strip_suffix("_file").unwrap().replace("cert", "certificate");
        check(
            &format!("[store.cassandra.tls]\n{given} = 'f'"),
            &format!(
                "{section}.{given} is \"f\"; a {what} needs store.cassandra.tls.{other}; give both or neither"
            ),
        );
    }
}

#[test]
fn settings_that_do_not_go_together() {
    let section = "braid.toml:2: store.cassandra";
    check(
        "[store.cassandra]\nuser = 'braid'",
        &format!(
            "{section}.user is \"braid\"; a user needs store.cassandra.password_file; give both or neither"
        ),
    );
    check(
        "[store.cassandra]\npassword_file = 'p'",
        &format!(
            "{section}.password_file is \"p\"; a password needs store.cassandra.user; give both or neither"
        ),
    );
    check(
        "[store.cassandra]\nreplication = {dc2 = 3}\nlocal_datacenter = 'dc1'",
        &format!(
            "{section}.replication is {{dc2 = 3}}; give replicas for the local data centre too, as dc1 = 3"
        ),
    );
    // What is wrong by itself is told first.
    check(
        "[store.cassandra]\nconnections_per_node = 0\nuser = 'braid'",
        "braid.toml:2: store.cassandra.connections_per_node is 0; give a whole number from 1 to 64",
    );
}

/// The words after the last colon are the parser's; a new version of it may change them.
#[test]
fn text_that_is_not_toml() {
    let told = "this is not valid TOML, correct it";
    check("[store]\ndata = 'a'\ndata = 'b'", &format!("braid.toml:3:1: {told}: duplicate key"));
    check("[store]\n[log]\n[store]", &format!("braid.toml:3:2: {told}: duplicate key"));
    check("[log]\nlevel = \"in", &format!("braid.toml:2:12: {told}: invalid basic string, expected `\"`"));
    check("[log]\n  level", &format!("braid.toml:2:8: {told}: key with no value, expected `=`"));
    check(
        "[store]\ndata = 'é' b\nfoo = 1",
        &format!("braid.toml:2:12: {told}: unexpected key or value, expected newline, `#`"),
    );
    check(
        "[log\nx = 1\n[log]\nlevel = info",
        &format!(
            "braid.toml:1:5: {told}: unclosed table, expected `]`\n\
             braid.toml:4:9: {told}: invalid float, expected `inf`; a string stands in quotes"
        ),
    );
}

#[test]
fn variables() {
    let none = "no setting has this name";
    check_variables(
        &["BRAID__STORE__BCKENDS=x"],
        &format!("BRAID__STORE__BCKENDS: {none}; did you mean BRAID__STORE__BACKEND?"),
    );
    check_variables(
        &["BRAID__STORE_DATA=x"],
        &format!("BRAID__STORE_DATA: {none}; did you mean BRAID__STORE__DATA?"),
    );
    check_variables(
        &["BRAID__STORR__DATE=x"],
        &format!("BRAID__STORR__DATE: {none}; did you mean BRAID__STORE__DATA?"),
    );
    check_variables(
        &["BRAID__store__data=x"],
        &format!("BRAID__store__data: {none}; did you mean BRAID__STORE__DATA?"),
    );
    check_variables(
        &["BRAID__LOG__COLOUR=x"],
        &format!(
            "BRAID__LOG__COLOUR: {none}; of its section there are BRAID__LOG__LEVEL, BRAID__LOG__FORMAT"
        ),
    );
    check_variables(
        &["BRAID__CONSOLE__X=x"],
        &format!(
            "BRAID__CONSOLE__X: {none}; there are BRAID__SERVER__*, BRAID__STORE__*, BRAID__STORE__EMBEDDED__*, \
             BRAID__STORE__CASSANDRA__*, BRAID__STORE__CASSANDRA__TLS__*, BRAID__QUEUE__*, BRAID__QUEUE__KAFKA__*, \
             BRAID__HISTOGRAMS__*, BRAID__LIMITS__*, BRAID__LOG__*"
        ),
    );
    check_variables(
        &["BRAID__LIMITS__STREAMS=many"],
        "BRAID__LIMITS__STREAMS: limits.streams is \"many\"; give a whole number from 1 to 65536",
    );
}

#[test]
fn all_at_once_in_the_order_of_the_layers() {
    let flags = Flags { listen: Some("here".to_owned()), data: Some("".into()), ..Flags::default() };
    let text =
        "[store]\nmax_tables = -1\n[limits]\nstreems = 1\n[log]\nlevel = 1\n[store.embedded]\nworkers = 65";
    let variables = ["BRAID__LOG__FORMAT=xml", "BRAID__LIMITS__REQUESTS=0", "BRAID__LOG__LEVEL=info"];
    let told = given_with(&flags, text, &variables).unwrap_err().to_string();
    assert_eq!(
        told,
        "braid.toml:2: store.max_tables is -1; give a whole number from 0 to 20000
braid.toml:4: [limits] has no key `streems`; did you mean `streams`?
braid.toml:6: log.level is 1; give \"error\", \"warn\", \"info\", \"debug\" or \"trace\"
braid.toml:8: store.embedded.workers is 65; give a whole number from 1 to 64
BRAID__LIMITS__REQUESTS: limits.requests is \"0\"; give a whole number from 1 to 65536
BRAID__LOG__FORMAT: log.format is \"xml\"; give \"text\" or \"json\"
--listen: server.listen is \"here\"; give an IP address with a port, as \"127.0.0.1:7420\" or \"[::1]:7420\"
--data: store.data is \"\"; give a path that is not empty"
    );
}

#[test]
fn a_file_of_another_program_is_not_told_in_full() {
    let text: String = (0..25).map(|number| format!("setting{number} = 1\n")).collect();
    let told = given(&text, &[]).unwrap_err().to_string();
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 21);
    assert!(lines[19].starts_with("braid.toml:20: "), "{}", lines[19]);
    assert_eq!(lines[20], "and 5 more; correct these first");
}

#[test]
fn roles_and_queues_that_contradict_the_rest() {
    check(
        "[server]\nroles = ['api']",
        "braid.toml:2: server.roles is [\"api\"]; the embedded store belongs to one process, which has to do everything; leave \
         the roles out, or use store.backend = \"cassandra\"",
    );
    let roles = "give a list of \"api\", \"split_worker\", \"slice_keeper\" or \"tuner\", each once";
    for bad in ["['worker']", "['api', 'api']", "[]"] {
        let told = given(&format!("[server]\nroles = {bad}"), &[]).unwrap_err().to_string();
        assert!(told.contains(roles), "{told}");
    }
    check(
        "[store]\nbackend = 'cassandra'\n[server]\nroles = ['split_worker']\n[limits]\nsplits = 0",
        "braid.toml:6: limits.splits is 0; a server that only splits has to be allowed to; give limits.splits 1 or more",
    );
    check(
        "[queue.kafka]\nproperties = {'group.id' = 'x'}",
        "braid.toml:2: queue.kafka.properties is {\"group.id\" = \"x\"}; take group.id out of it: set queue.kafka.group",
    );
}

#[test]
fn a_password_among_the_properties_is_never_shown() {
    let text = "[queue.kafka]\npassword_file = '/p'\nproperties = {sasl.password = 'hush'}";
    let told = given(text, &[]).unwrap_err().to_string();
    assert!(told.contains("\"sasl.password\" = \"***\"") && !told.contains("hush"), "{told}");
    let refused = given("", &["BRAID__QUEUE__KAFKA__PROPERTIES=sasl.password:hush"]).unwrap_err().to_string();
    assert!(refused.contains("queue.kafka.properties") && !refused.contains("hush"), "{refused}");
}
