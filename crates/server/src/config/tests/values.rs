//! How sizes, durations, switches and the rest are read, from the file and from a variable.

use super::given;

/// What `key` shows after it was given `value` as TOML; `-` where that is refused.
#[track_caller]
fn check_file(key: &str, table: &[(&str, &str)]) {
    for (value, expect) in table {
        let shown = given(&format!("{key} = {value}"), &[]).ok();
        check(key, value, shown.as_ref(), expect);
    }
}

/// The same for a variable.
#[track_caller]
fn check_variable(key: &str, table: &[(&str, &str)]) {
    for (value, expect) in table {
        let variable = format!("{}={value}", super::super::keys::variable(key));
        check(key, value, given("", &[&variable]).ok().as_ref(), expect);
    }
}

#[track_caller]
fn check(key: &str, value: &str, loaded: Option<&super::Loaded>, expect: &str) {
    let setting = loaded.and_then(|loaded| loaded.settings().into_iter().find(|setting| setting.key == key));
    let shown = setting.map_or_else(|| "-".to_owned(), |setting| setting.value);
    assert_eq!(shown, expect, "{key} given {value}");
}

#[test]
fn sizes() {
    let table = [
        ("67108864", r#""64MiB""#),
        ("67108865", "67108865"),
        ("0x4000000", r#""64MiB""#),
        (r#""67108864""#, r#""64MiB""#),
        (r#""65536KiB""#, r#""64MiB""#),
        (r#""64MiB""#, r#""64MiB""#),
        (r#""64 mib""#, r#""64MiB""#),
        (r#""1GiB""#, r#""1GiB""#),
        (r#""1TiB""#, r#""1TiB""#),
        (r#""80MB""#, r#""78125KiB""#),
        (r#""100001KB""#, "100001000"),
        (r#""1GB""#, "1000000000"),
        (r#""100000001B""#, "100000001"),
        (r#""64M""#, "-"),
        (r#""1.5GiB""#, "-"),
        (r#""-1GiB""#, "-"),
        (r#""+67108864""#, "-"),
        (r#""MiB""#, "-"),
        (r#""""#, "-"),
        (r#""99999999TiB""#, "-"),
        // Would be 1 TiB if it wrapped.
        (r#""16777217TiB""#, "-"),
        (r#""63MiB""#, "-"),
        (r#""1025GiB""#, "-"),
        ("-1", "-"),
        ("1e9", "-"),
    ];
    check_file("store.embedded.journal_bytes", &table);
    check_variable(
        "store.embedded.journal_bytes",
        &[("67108865", "67108865"), ("64MiB", r#""64MiB""#), ("", "-")],
    );
}

#[test]
fn durations() {
    let table = [
        ("10", r#""10s""#),
        ("0", r#""0s""#),
        (r#""10""#, r#""10s""#),
        (r#""500ms""#, r#""500ms""#),
        (r#""90s""#, r#""1m 30s""#),
        (r#""1m 30s""#, r#""1m 30s""#),
        (r#""5m""#, r#""5m""#),
        (r#""1h""#, r#""1h""#),
        (r#""1h 1ms""#, "-"),
        (r#""1d""#, "-"),
        (r#""-1s""#, "-"),
        (r#""1s ago""#, "-"),
        (r#""soon""#, "-"),
        (r#""""#, "-"),
        ("1.5", "-"),
        ("-1", "-"),
    ];
    check_file("server.shutdown_grace", &table);
    check_variable("server.shutdown_grace", &[("7", r#""7s""#), ("1m 30s", r#""1m 30s""#), ("x", "-")]);
}

#[test]
fn counts_and_switches_are_typed_in_the_file_only() {
    check_file(
        "limits.streams",
        &[("1", "1"), ("65536", "65536"), ("0", "-"), ("65537", "-"), ("\"5\"", "-"), ("1_000", "1000")],
    );
    check_variable("limits.streams", &[("5", "5"), ("0", "-"), ("+5", "-"), ("5.0", "-"), ("", "-")]);
    check_file("server.reflection", &[("false", "false"), ("\"false\"", "-"), ("0", "-")]);
    check_variable("server.reflection", &[("false", "false"), ("true", "true"), ("no", "-"), ("", "-")]);
}

#[test]
fn bounds_of_counts() {
    let (tables, workers) = ("store.max_tables", "store.embedded.workers");
    check_file(tables, &[("0", "0"), ("20000", "20000"), ("-1", "-"), ("20001", "-")]);
    check_file(workers, &[("1", "1"), ("64", "64"), ("0", "-"), ("65", "-")]);
    for key in ["limits.connections", "limits.requests"] {
        check_file(key, &[("1", "1"), ("65536", "65536"), ("0", "-"), ("65537", "-")]);
    }
}

#[test]
fn bounds_of_sizes() {
    check_file("store.embedded.cache_bytes", &[("8388608", r#""8MiB""#), ("8388607", "-")]);
    check_file("store.embedded.memtable_budget_bytes", &[("16777216", r#""16MiB""#), ("16777215", "-")]);
}

#[test]
fn words_addresses_and_paths() {
    check_file("log.level", &[("'debug'", r#""debug""#), ("'DEBUG'", "-"), ("'loud'", "-"), ("3", "-")]);
    check_file("log.format", &[("'json'", r#""json""#), ("'xml'", "-")]);
    check_file(
        "store.backend",
        &[("'embedded'", r#""embedded""#), ("'cassandra'", r#""cassandra""#), ("'x'", "-")],
    );
    check_file("store.data", &[("'a\\b'", r#""a\\b""#), ("''", "-"), ("1", "-")]);
    check_file("store.data", &[("\"a\\tb\\r\"", "\"a\\tb\\u000D\"")]);
    check_file(
        "server.listen",
        &[
            ("'0.0.0.0:0'", r#""0.0.0.0:0""#),
            ("'[::]:7420'", r#""[::]:7420""#),
            ("'localhost:7420'", "-"),
            ("'127.0.0.1'", "-"),
            ("':7420'", "-"),
            ("7420", "-"),
        ],
    );
}

#[test]
fn nodes() {
    let key = "store.cassandra.contact_points";
    check_file(
        key,
        &[
            ("['10.0.0.1:9042']", r#"["10.0.0.1:9042"]"#),
            ("['a.b-c:1', '[::1]:65535']", r#"["a.b-c:1", "[::1]:65535"]"#),
            ("[]", "-"),
            ("['a']", "-"),
            ("['a:0']", "-"),
            ("['a:65536']", "-"),
            ("[':9042']", "-"),
            ("['a b:1']", "-"),
            ("['::1:9042']", "-"),
            ("['[::1:9042']", "-"),
            ("['[host]:9042']", "-"),
            ("[9042]", "-"),
            ("['a:1', 2]", "-"),
            ("'a:1'", "-"),
        ],
    );
    check_variable(
        key,
        &[("a:1", r#"["a:1"]"#), ("a:1, b:2", r#"["a:1", "b:2"]"#), ("", "-"), ("a:1,", "-")],
    );
    let many = vec!["a:1"; 65].join(",");
    check_variable(key, &[(&many, "-")]);
}

#[test]
fn replicas() {
    let key = "store.cassandra.replication";
    check_file(
        key,
        &[
            ("{}", "{}"),
            ("{dc2 = 15, dc1 = 1}", "{dc1 = 1, dc2 = 15}"),
            ("{'eu.west' = 3}", r#"{"eu.west" = 3}"#),
            ("{dc1 = 0}", "-"),
            ("{dc1 = 16}", "-"),
            ("{dc1 = -1}", "-"),
            ("{dc1 = '3'}", "-"),
            ("{'' = 3}", "-"),
            (r#"{"a'b" = 3}"#, "-"),
            ("[3]", "-"),
            ("'dc1=3'", "-"),
        ],
    );
    check_variable(
        key,
        &[
            ("dc1=3,dc2=2", "{dc1 = 3, dc2 = 2}"),
            (" dc1 = 3 , dc2 = 2 ", "{dc1 = 3, dc2 = 2}"),
            ("", "{}"),
            ("dc1=3,dc1=2", "-"),
            ("dc1", "-"),
            ("dc1=x", "-"),
            ("dc1=3,", "-"),
        ],
    );
}

#[test]
fn texts_of_a_form() {
    check_file(
        "store.cassandra.keyspace_prefix",
        &[
            ("'a'", r#""a""#),
            ("'tenletters'", r#""tenletters""#),
            ("'elevenchars'", "-"),
            ("''", "-"),
            ("'2b'", "-"),
            ("'a_b'", "-"),
            ("'A'", "-"),
            ("1", "-"),
        ],
    );
    let datacenter = "store.cassandra.local_datacenter";
    check_file(datacenter, &[("''", r#""""#), ("'eu-west.1'", r#""eu-west.1""#), ("'a b'", "-"), ("1", "-")]);
    check_file("histograms.source", &[("'jolokia'", r#""jolokia""#), ("'Jolokia'", "-"), ("1", "-")]);
    check_file("histograms.jolokia_port", &[("1", "1"), ("0", "-"), ("65536", "-"), ("'1'", "-")]);
}
