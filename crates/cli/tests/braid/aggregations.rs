//! `agg`, `explain` and searches without a series, as they are typed.

use std::path::Path;

use serde_json::Value;

use crate::process::{Serving, ended};

/// Three series with events of the last minutes: `a` 1 to 4, `b` 10 and `ten`, `c` nothing under `n`.
fn serving(scratch: &Path) -> Serving {
    let server = Serving::start(&scratch.join("data"));
    assert_eq!(ended(server.run(&["ns", "create", "plays"])).0, 0);
    for (id, items) in [
        ("a", ["n=1", "device=tv"]),
        ("a", ["n=2", "device=tv"]),
        ("a", ["n=3.5", "device=tv"]),
        ("a", ["n=4", "device=ios"]),
        ("b", ["n=10", "device=ios"]),
        ("b", ["n=ten", "device=web"]),
        ("c", ["m=1", "device=tv"]),
    ] {
        let put = [&["put", "-n", "plays", "--id", id][..], &items].concat();
        let (code, _, said) = ended(server.run(&put));
        assert_eq!(code, 0, "{said}");
    }
    server
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn events_are_counted_and_their_values_summed_up() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let run = |arguments: &[&str]| ended(server.run(arguments));
    let counted = |arguments: &[&str]| {
        let (code, out, said) = run(&[&["agg", "count", "-n", "plays"], arguments].concat());
        assert!(code == 0 && said.contains("read from"), "{said}");
        out
    };
    assert_eq!(counted(&[]), "EVENTS\n7\n");
    assert_eq!(counted(&["a", "c"]), "EVENTS\n5\n");
    assert_eq!(counted(&["--where", "device=ios"]), "EVENTS\n2\n");
    assert_eq!(counted(&["--where", "n>=3", "--where", "device=tv", "--any", "a"]), "EVENTS\n4\n");
    assert_eq!(counted(&["--limit", "3"]), "EVENTS\n3\n");
    assert_eq!(counted(&["nobody"]), "EVENTS\n0\n");

    let distinct = ["agg", "distinct", "-n", "plays", "device"];
    let (code, out, _) = run(&distinct);
    assert_eq!((code, out.as_str()), (0, "VALUE  EVENTS\ntv     4\nios    2\nweb    1\n"));
    let (_, out, _) = run(&[&distinct[..], &["-o", "csv", "--text", "b"]].concat());
    assert_eq!(out, "event_item_value,count\nios,1\nweb,1\n");
    let (_, out, _) = run(&[&distinct[..], &["-o", "json"]].concat());
    let message = json(&out);
    assert_eq!(
        (&message["count"], &message["buckets"][0]["event_item_value"]),
        (&"7".into(), &"dHY=".into())
    );
    let (_, out, _) = run(&[&distinct[..], &["-o", "json", "--text"]].concat());
    let text = json(&out);
    assert_eq!((&text["count"], &text["buckets"][0]["event_item_value"]), (&"7".into(), &"tv".into()));
    assert_eq!(text["complete_interval"].is_object(), message["complete_interval"].is_object());

    let (code, out, _) = run(&["agg", "stats", "-n", "plays", "n"]);
    assert_eq!((code, out.as_str()), (0, "NUMBERS  MIN  MAX  SUM\n5        1    10   20.5\n"));
    let (_, out, _) = run(&["agg", "stats", "-n", "plays", "n", "-o", "json"]);
    let stats = serde_json::json!({"count": "5", "min": 1.0, "max": 10.0, "sum": 20.5});
    assert_eq!((&json(&out)["stats"], &json(&out)["count"]), (&stats, &"7".into()));

    let (code, out, _) = run(&["agg", "histogram", "-n", "plays", "365d", "a", "-o", "ndjson"]);
    let counts: i64 =
        out.lines().map(|line| json(line)["count"].as_str().unwrap().parse::<i64>().unwrap()).sum();
    assert_eq!((code, counts), (0, 4), "{out}");
}

#[test]
fn answers_are_followed_to_the_end_and_added_up() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    // A day has 92,160 partitions of a series, of which an answer visits 4,096; the whole day, whatever the time is now.
    let shape = ["--bucket", "60s", "--buckets-per-id", "64"];
    let (code, _, said) = run(&[&["ns", "create", "plays"], &shape[..]].concat());
    assert_eq!(code, 0, "{said}");
    for n in ["n=1", "n=2", "n=3"] {
        assert_eq!(run(&["put", "-n", "plays", "--id", "a", n]).0, 0);
    }
    let day = ["--from", "now-1d", "--to", "now+1d"];
    let (code, out, said) = run(&[&["agg", "stats", "-n", "plays", "n", "a"], &day[..]].concat());
    assert_eq!((code, out.as_str()), (0, "NUMBERS  MIN  MAX  SUM\n3        1    3    6\n"), "{said}");
    let count = [&["agg", "count", "-n", "plays", "a", "-o", "json"], &day[..]].concat();
    let (_, out, _) = run(&count);
    let whole = json(&out);
    assert_eq!((&whole["count"], &whole["truncated"]), (&"3".into(), &Value::Null), "{out}");
    let partitions: u64 = whole["response_context"][0]["partitions"].as_str().unwrap().parse().unwrap();
    assert!(partitions > 4_096, "more than one answer was needed: {partitions}");
    let (_, out, said) = run(&[&count[..], &["--page"]].concat());
    assert_eq!(json(&out)["truncated"], true, "{out}");
    assert!(said.contains("this is not all: it covers "), "{said}");
}

#[test]
fn a_search_without_a_series_says_that_its_order_is_another() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let order = "events come partition by partition";
    let (code, out, said) =
        ended(server.run(&["search", "-n", "plays", "--where", "device=tv", "-o", "csv"]));
    assert_eq!((code, out.lines().filter(|line| line.contains(",device,")).count()), (0, 4), "{out}");
    assert!(said.contains(order), "{said}");
    let (_, out, said) = ended(server.run(&["search", "-n", "plays", "-o", "json"]));
    assert_eq!((json(&out)["record_order"].as_str(), said.contains(order)), (Some("BY_PARTITION"), true));
    let (_, out, said) = ended(server.run(&["search", "-n", "plays", "a", "b", "-o", "json"]));
    assert_eq!((json(&out)["record_order"].as_str(), said.contains(order)), (Some("BY_TIME"), false));
    assert_eq!(ended(server.run(&["block", "add", "-n", "plays", "a"])).0, 0);
    let (code, out, said) = ended(server.run(&["search", "-n", "plays", "-o", "json"]));
    assert_eq!((code, json(&out)["records"].as_array().unwrap().len()), (0, 3));
    assert!(said.contains("passed over: their series are blocked"), "{said}");
    assert_eq!(ended(server.run(&["agg", "count", "-n", "plays", "a", "b"])).0, 4);
    let (_, listed, _) = ended(server.run(&["block", "list", "-n", "plays", "-o", "json"]));
    assert!(json(&listed)["blocks"][0]["etag"].is_string(), "{listed}");
}

#[test]
fn a_read_is_explained_as_a_tree_and_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let run = |arguments: &[&str]| ended(server.run(arguments));
    let (code, out, said) = run(&["explain", "-n", "plays", "a"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        out.starts_with("data_") && out.contains("time bucket ") && out.contains("route ORIGIN"),
        "{out}"
    );
    assert!(said.starts_with("4 events, "), "{said}");
    let (_, out, said) = run(&["explain", "-n", "plays", "a", "-o", "json"]);
    assert_eq!((json(&out)["records"].as_str(), said.as_str()), (Some("4"), ""), "{out}");
    let (_, out, _) = run(&["explain", "-n", "plays", "a", "-o", "csv"]);
    assert!(out.starts_with("table,time_bucket,start,end,event_bucket,") && out.lines().count() > 4, "{out}");
    // What is printed for the next page can be run.
    let (_, _, said) = run(&["explain", "-n", "plays", "a", "--page-size", "3"]);
    let next = said.lines().find_map(|line| line.strip_prefix("next page: braid ")).unwrap();
    let words: Vec<&str> = next.split(' ').collect();
    let (code, _, said) = run(&words);
    assert!(code == 0 && said.starts_with("1 event, "), "{next}: {said}");
    let as_get: Vec<&str> = ["get"].into_iter().chain(words.into_iter().skip(1)).collect();
    let (code, out, _) = run(&[&as_get[..], &["-o", "ndjson"]].concat());
    assert_eq!((code, out.lines().count()), (0, 1));
}

#[test]
fn wrong_input_is_refused_with_what_to_write() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let check = |arguments: &[&str], expect, text| server.refuses(arguments, expect, text);
    check(&["agg", "median", "-n", "plays"], 2, "unrecognized subcommand 'median'");
    check(&["agg", "distinct", "-n", "plays"], 2, "<KEY>");
    check(&["agg", "histogram", "-n", "plays", "a"], 2, "`a` is not a duration; write one such as");
    check(&["agg", "histogram", "-n", "plays", "0"], 2, "time_histogram.interval: is not over 0");
    check(&["agg", "stats", "-n", "plays", ""], 2, "aggregation_query.stats.event_item_key: has 0 bytes");
    check(&["agg", "count", "-n", "nowhere"], 3, "namespace `nowhere` does not exist");
    check(&["agg", "count", "-n", "plays", "--where", "=x"], 2, "has no key");
    check(&["explain", "-n", "plays"], 2, "<ID>");
    check(&["explain", "-n", "nowhere", "a"], 3, "namespace `nowhere` does not exist");
}
