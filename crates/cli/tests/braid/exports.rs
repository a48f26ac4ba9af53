//! `braid export`: read back by other tools and by `braid import`, killed and gone on with, refused where it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::{Serving, braid, ended};

/// Some time ago, as `date` writes it.
fn ago(how_long: &str, format: &str) -> String {
    let date = Command::new("date").args(["-u", "-d", &format!("{how_long} ago"), format]).output().unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

/// Two days ago: closed, whatever the accept limit.
fn day() -> String {
    ago("2 days", "+%F")
}

/// A server with a namespace.
fn serving(scratch: &Path) -> Serving {
    let server = Serving::start(&scratch.join("data"));
    let wishes = ["--split-policy", "manual", "--split-threshold", "64KiB", "--split-target", "64KiB"];
    let create = ["ns", "create", "plays", "--buckets-per-id", "1"];
    run(&server, &[&create[..], &wishes].concat());
    server
}

/// Runs a command that must succeed; gives back stdout and stderr.
fn run(server: &Serving, arguments: &[&str]) -> (String, String) {
    let (code, out, said) = ended(server.run(arguments));
    assert_eq!(code, 0, "{arguments:?}: {out}{said}");
    (out, said)
}

fn import(server: &Serving, namespace: &str, file: &Path, content: &str) {
    fs::write(file, content).unwrap();
    run(server, &["import", "-n", namespace, file.to_str().unwrap(), "--backfill"]);
}

/// Imports what was exported.
fn import_files(server: &Serving, namespace: &str, out: &Path) {
    let tables = list(&manifest(out), "/tables");
    let files = tables.iter().flat_map(|table| list(table, "/files"));
    let path = |file: Value| out.join(at(&file, "/path").as_str().unwrap()).to_str().unwrap().to_owned();
    let files: Vec<String> = files.map(path).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(server, &[&["import", "-n", namespace, "--backfill"], &files[..]].concat());
}

fn manifest(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap()
}

/// What a pointer names.
fn at(value: &Value, pointer: &str) -> Value {
    value.pointer(pointer).cloned().unwrap_or_default()
}

fn list(value: &Value, pointer: &str) -> Vec<Value> {
    at(value, pointer).as_array().cloned().unwrap_or_default()
}

/// The lines of all files of an export that is complete, but for headers.
fn lines(out: &Path) -> BTreeSet<String> {
    let manifest = manifest(out);
    assert_eq!(at(&manifest, "/state"), "complete");
    let mut found = BTreeSet::new();
    for file in list(&manifest, "/tables").iter().flat_map(|table| list(table, "/files")) {
        let text = fs::read_to_string(out.join(at(&file, "/path").as_str().unwrap())).unwrap();
        let skip = usize::from(at(&manifest, "/format") == "csv");
        let lines: Vec<&str> = text.lines().skip(skip).collect();
        assert_eq!(at(&file, "/rows"), lines.len());
        found.extend(lines.into_iter().map(str::to_owned));
    }
    assert_eq!(at(&manifest, "/rows"), found.len());
    found
}

/// An event in the API's JSON.
fn event(series: &str, time: &str, id: &str, items: Value) -> String {
    json!({"time_series_id": series, "event_time": time, "event_id": id, "event_items": items}).to_string()
        + "\n"
}

/// Events with everything that may be lost on the way: nanoseconds, metadata, odd ids, many items.
fn events(day: &str) -> [String; 4] {
    let time = |rest: &str| format!("{day}T{rest}Z");
    let many = (0..64).map(|at| json!({"event_item_key": format!("k{at:03}"), "event_item_value": "eA=="}));
    let more = (64..100).map(|at| json!({"event_item_key": format!("k{at:03}")}));
    let two = json!([
        {"event_item_key": "a", "event_item_value": "AP8=", "value_metadata": {"unit": "ms", "ü": "\u{0}"}},
        {"event_item_key": "b"},
    ]);
    let one = json!([{"event_item_key": "ü", "event_item_value": "dg=="}]);
    [
        event("user:7", &time("07:00:00.000000001"), "1", two),
        event("a/b,\"c\"", &time("07:00:01"), "e", one),
        event("many", &time("23:59:59.999999999"), "1", many.collect()),
        event("many", &time("23:59:59.999999999"), "1", more.collect()),
    ]
}

#[test]
fn what_is_exported_as_ndjson_is_imported_again_and_is_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    run(&server, &["ns", "create", "copy"]);
    let (time, events) = (|rest: &str| format!("{day}T{rest}Z"), events(&day));
    import(&server, "plays", &scratch.path().join("events.ndjson"), &events.concat());
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    let (out, said) =
        run(&server, &["export", "-n", "plays", "--format", "ndjson", "--out", first.to_str().unwrap()]);
    assert!(
        out.is_empty()
            && said.contains("left out from ")
            && said.contains("4 events in 1 file of 1 table to "),
        "{said}"
    );
    import_files(&server, "copy", &first);
    run(&server, &["export", "-n", "copy", "--format", "ndjson", "--out", second.to_str().unwrap()]);
    assert_eq!(lines(&first), lines(&second));
    let written: Vec<Value> = lines(&first).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written.len(), 4, "100 items take two lines");
    for event in &events[..2] {
        assert!(written.contains(&serde_json::from_str(event).unwrap()), "{event} {written:?}");
    }

    // CSV, of one series and a part of the day; metadata has no place in it.
    let csv = scratch.path().join("csv");
    let (from, to) = (time("07:00:00"), time("07:00:01"));
    let (_, said) = run(
        &server,
        &[
            "export",
            "-n",
            "plays",
            "user:7",
            "--format",
            "csv",
            "--from",
            &from,
            "--until",
            &to,
            "--out",
            csv.to_str().unwrap(),
        ],
    );
    assert!(said.starts_with("1 item had metadata, which CSV has no place for"), "{said}");
    let expect = [
        format!("user:7,{day}T07:00:00.000000001Z,1,a,AP8="),
        format!("user:7,{day}T07:00:00.000000001Z,1,b,"),
    ];
    assert_eq!(lines(&csv), expect.into());
}

#[test]
fn what_is_exported_as_csv_is_imported_again_and_is_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    run(&server, &["ns", "create", "copy"]);
    import(&server, "plays", &scratch.path().join("events.ndjson"), &events(&day).concat());
    let export = |namespace: &str, out: &Path| {
        let (_, said) =
            run(&server, &["export", "-n", namespace, "--format", "csv", "--out", out.to_str().unwrap()]);
        said
    };
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    assert!(export("plays", &first).contains("103 rows in 1 file of 1 table to "));
    import_files(&server, "copy", &first);
    // What came back has no metadata, so none is lost now.
    assert!(!export("copy", &second).contains("metadata"));
    let rows = lines(&first);
    assert_eq!(rows, lines(&second));
    assert!(rows.contains(&format!("user:7,{day}T07:00:00.000000001Z,1,a,AP8=")), "{rows:?}");
    assert!(rows.contains(&format!(r#""a/b,""c""",{day}T07:00:01Z,e,ü,dg=="#)), "{rows:?}");
}

#[test]
fn what_is_older_than_was_asked_for_is_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    let recent = ago("3 hours", "+%FT%H:%M:%SZ");
    let item = json!([{"event_item_key": "k", "event_item_value": "dg=="}]);
    let old = event("s", &format!("{day}T12:00:00Z"), "old", item.clone());
    let new = event("s", &recent, "new", item);
    import(&server, "plays", &scratch.path().join("events.ndjson"), &format!("{old}{new}"));
    let export = |since: &str| {
        let out = scratch.path().join(since);
        let place = ["--format", "ndjson", "--out", out.to_str().unwrap()];
        run(&server, &[&["export", "-n", "plays", "--since", since], &place[..]].concat());
        let ids = lines(&out).into_iter().map(|line| {
            let event: Value = serde_json::from_str(&line).unwrap();
            event["event_id"].as_str().unwrap().to_owned()
        });
        (ids.collect::<BTreeSet<_>>(), manifest(&out))
    };
    let (ids, manifest) = export("1d");
    assert_eq!(ids, ["new".to_owned()].into());
    assert_eq!(
        (&manifest["start"], manifest["consistent"].as_bool()),
        (&manifest["request"]["since"], Some(true))
    );
    // Three days hold both.
    assert_eq!(export("3d").0, ["new", "old"].map(str::to_owned).into());
}

/// Rows of 1 KB of one partition, as CSV.
fn whale(day: &str, rows: usize) -> String {
    let line = |at: usize| {
        let (minute, second) = (at / 60 % 60, at % 60);
        format!("whale,{day}T07:{minute:02}:{second:02}Z,e{at:06},{at:04}{}\n", "x".repeat(1_000))
    };
    let lines: String = (0..rows).map(line).collect();
    format!("time_series_id,event_time,event_id,k\n{lines}")
}

/// What pyarrow and DuckDB read.
fn read_back(out: &Path) -> Vec<Value> {
    let read = Command::new(env!("CARGO")).args(["xtask", "read-export"]).arg(out).output().unwrap();
    let (code, rows, said) = ended(read);
    assert_eq!(code, 0, "{said}");
    rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn other_tools_read_origins_and_targets_and_the_records_of_splits() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    import(&server, "plays", &scratch.path().join("whale.csv"), &whale(&day, 300));
    import(&server, "plays", &scratch.path().join("few.csv"), &whale(&day, 3).replace("whale", "few"));
    let table = format!("data_{}", day.replace('-', ""));
    let id = format!("{table}/7/0/whale");
    // As rows, which other tools can read; what is packed is for whoever knows its format.
    run(&server, &["split", "create", "-n", "plays", &id, "--layout", "rows"]);
    run(&server, &["split", "watch", "-n", "plays", &id]);

    let out = scratch.path().join("out");
    let export =
        ["export", "-n", "plays", "--slice", &table, "--with-splits", "--out", out.to_str().unwrap()];
    let (_, said) = run(&server, &export);
    assert!(said.contains("603 rows in 2 files of 2 tables, 1 split to "), "{said}");
    let rows = read_back(&out);
    let of = |name: &str, series: &str| -> BTreeSet<String> {
        let mine = rows.iter().filter(|row| row[0] == name && row[1] == series);
        // Without table and event bucket, which differ.
        mine.map(|row| json!([row[1], row[2], row[4], row[5], row[6], row[7], row[8], row[9]]).to_string())
            .collect()
    };
    let wide = format!("wide_{table}_0");
    assert_eq!((of(&table, "whale").len(), of(&table, "few").len(), of(&wide, "few").len()), (300, 3, 0));
    assert_eq!(of(&table, "whale"), of(&wide, "whale"));
    let first = rows.iter().find(|row| row[5] == "e000299").unwrap();
    assert_eq!((&first[2], &first[6], &first[8]), (&json!(7), &json!("k"), &json!("")));
    assert!(first[7].as_str().unwrap().starts_with("30323939"), "{first}");

    let lines = fs::read_to_string(out.join("splits.ndjson")).unwrap();
    let line: Value = serde_json::from_str(lines.trim()).unwrap();
    let check = &line["check"];
    assert_eq!(
        (&line["split"]["id"], &check["id"], &check["target_table"]),
        (&json!(id), &json!(id), &json!(wide))
    );
    assert_eq!((&check["digest"]["rows"], check["digest_key"].as_str().unwrap().len()), (&json!(300), 64));
    assert_eq!(check["targets"].as_u64().unwrap(), check["boundaries"].as_array().unwrap().len() as u64 + 1);

    // Again it is there; one split alone; and what is retired cannot be proven.
    assert!(run(&server, &export).1.starts_with("it was exported before; nothing to do\n"));
    let alone = scratch.path().join("alone");
    let split = ["export", "-n", "plays", "--split", &id, "--out", alone.to_str().unwrap()];
    assert!(run(&server, &split).1.contains("600 rows in 2 files of 2 tables, 1 split to "));
    assert_eq!(read_back(&alone).len(), 600);
    run(&server, &["split", "retire", "-n", "plays", &id]);
    run(&server, &["split", "watch", "-n", "plays", &id]);
    let retired = scratch.path().join("retired");
    let split = ["export", "-n", "plays", "--split", &id, "--out", retired.to_str().unwrap()];
    let (_, said) = run(&server, &split);
    assert!(said.contains(&format!("left out {id}: it is RETIRED\n")), "{said}");
    assert_eq!(manifest(&retired)["splits"]["count"], 0);
}

#[test]
fn series_and_splits_that_are_named_come_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    let table = format!("data_{}", day.replace('-', ""));
    let names = ["a", "b", "c"];
    let ids = names.map(|name| format!("{table}/7/0/{name}"));
    // All rows first: while somebody may write to their time, splits are looked at again.
    for name in names {
        import(&server, "plays", &scratch.path().join("whale.csv"), &whale(&day, 300).replace("whale", name));
    }
    for id in &ids {
        run(&server, &["split", "create", "-n", "plays", id, "--layout", "rows"]);
        run(&server, &["split", "watch", "-n", "plays", id]);
    }
    let export = |place: &str, arguments: &[&str]| {
        let out = scratch.path().join(place);
        let begin = ["export", "-n", "plays", "--out", out.to_str().unwrap()];
        run(&server, &[&begin[..], arguments].concat());
        let series = read_back(&out).into_iter().map(|row| (row[0].to_string(), row[1].to_string()));
        let mut rows = BTreeMap::new();
        series.for_each(|place| *rows.entry(place).or_insert(0) += 1);
        (rows, split_ids(&out))
    };
    let expect = |wanted: &[usize]| {
        let tables = [format!("\"{table}\""), format!("\"wide_{table}_0\"")];
        let series = |name: &String| {
            wanted.iter().map(|at| ((name.clone(), format!("\"{}\"", names[*at])), 300)).collect::<Vec<_>>()
        };
        let rows: BTreeMap<_, _> = tables.iter().flat_map(series).collect();
        (rows, wanted.iter().map(|at| ids[*at].clone()).collect::<BTreeSet<_>>())
    };
    // A name that is there twice is one name.
    assert_eq!(export("series", &["b", "b", "--with-splits"]), expect(&[1]));
    let two = ["--split", &ids[0], "--split", &ids[2], "--split", &ids[0]];
    assert_eq!(export("splits", &two), expect(&[0, 2]));
    assert_eq!(export("all", &["--with-splits"]), expect(&[0, 1, 2]));
}

#[test]
fn an_export_that_was_killed_goes_on_and_has_every_row_once() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    import(&server, "plays", &scratch.path().join("whale.csv"), &whale(&day, 30_000));
    let format = ["--format", "ndjson", "--part-size", "64KiB", "--since", "9d"];
    let (cut, whole) = kill_and_go_on(&server, scratch.path(), &format);
    let (cut, whole) = (lines(&cut), lines(&whole));
    assert_eq!(cut.len(), 30_000);
    assert!(cut == whole);
}

#[test]
fn an_export_with_splits_that_was_killed_goes_on_and_has_every_row_once() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    import(&server, "plays", &scratch.path().join("whale.csv"), &whale(&day, 6_000));
    let id = format!("data_{}/7/0/whale", day.replace('-', ""));
    run(&server, &["ns", "set", "plays", "--split-threshold", "1MiB", "--split-target", "1MiB"]);
    run(&server, &["split", "create", "-n", "plays", &id, "--layout", "rows"]);
    run(&server, &["split", "watch", "-n", "plays", &id]);
    let (cut, whole) = kill_and_go_on(&server, scratch.path(), &["--with-splits", "--part-size", "64KiB"]);
    // Rows come in the order of the store, so also the order is the same.
    let rows = read_back(&cut);
    assert_eq!(rows.len(), 12_000);
    assert!(rows == read_back(&whole));
    assert_eq!((split_ids(&cut), split_ids(&whole)), (BTreeSet::from([id.clone()]), BTreeSet::from([id])));
}

/// The splits that an export has records of.
fn split_ids(out: &Path) -> BTreeSet<String> {
    let lines = fs::read_to_string(out.join("splits.ndjson")).unwrap();
    let id = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        at(&line, "/check/id").as_str().unwrap().to_owned()
    };
    let ids: Vec<String> = lines.lines().map(id).collect();
    assert_eq!(at(&manifest(out), "/splits/count"), ids.len());
    ids.into_iter().collect()
}

/// Exports twice: once killed behind some files and gone on with, once in one go.
fn kill_and_go_on(server: &Serving, scratch: &Path, arguments: &[&str]) -> (PathBuf, PathBuf) {
    let (cut, whole) = (scratch.join("cut"), scratch.join("whole"));
    let export = |out: &Path| {
        let mut command = braid(&["export", "-n", "plays"]);
        command.args(arguments).arg("--out").arg(out).env("BRAID_SERVER", &server.address);
        command
    };
    let mut child = export(&cut).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let files = |out: &Path| -> usize {
        let json = fs::read(out.join("manifest.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&json).unwrap_or_default();
        list(&manifest, "/tables/0/files").len()
    };
    while files(&cut) < 3 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be killed");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = manifest(&cut);
    assert_eq!(at(&before, "/state"), "open");
    assert!(at(&before, "/tables/0/position/row/event_id").is_string(), "{before}");

    let (code, _, said) = ended(export(&cut).output().unwrap());
    assert!(code == 0 && said.starts_with("going on behind "), "{said}");
    assert_eq!(ended(export(&whole).output().unwrap()).0, 0);
    let (kept, there) = (list(&before, "/tables/0/files"), list(&manifest(&cut), "/tables/0/files"));
    assert!(kept.len() >= 3 && there.starts_with(&kept), "{there:?}");
    (cut, whole)
}

#[test]
fn what_cannot_be_exported_is_refused_with_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, day) = (serving(scratch.path()), day());
    import(&server, "plays", &scratch.path().join("few.csv"), &whale(&day, 3));
    let out = scratch.path().join("out");
    let refuses = |arguments: &[&str], code: i32, text: &str| {
        let place = ["export", "--out", out.to_str().unwrap()];
        server.refuses(&[&place[..], arguments].concat(), code, text);
    };
    server.refuses(&["export", "-n", "plays"], 2, "--out <DIR>");
    refuses(&[], 2, "no namespace");
    refuses(&["-n", "nobody"], 3, "namespace `nobody` does not exist");
    refuses(&["-n", "plays", "--slice", "data_19700101"], 3, "has no table `data_19700101`");
    refuses(&["-n", "plays", "--split", "data_19700101/0/0/s"], 3, "has no table `data_19700101`");
    refuses(&["-n", "plays", "--format", "csv", "--with-splits"], 2, "splits are exported as Parquet only");
    refuses(&["-n", "plays", "--with-splits", "--include-open"], 2, "cannot be used with");
    refuses(&["-n", "plays", "--part-size", "1KiB"], 2, "write at least 64.0 KiB");
    refuses(
        &["-n", "plays", "--from", "2026-05-02", "--to", "2026-05-01"],
        2,
        "end: is before start; swap them",
    );

    run(&server, &["export", "-n", "plays", "--out", out.to_str().unwrap()]);
    refuses(
        &["-n", "plays", "--to", "2026-05-01"],
        2,
        "holds an export of other slices, series, splits or times",
    );
    refuses(&["-n", "plays", "--format", "csv"], 2, "holds an export of another format");
    let full = scratch.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("letter"), "dear").unwrap();
    let arguments = ["export", "-n", "plays", "--out", full.to_str().unwrap()];
    server.refuses(&arguments, 2, "is not empty and holds no export");

    // What is open is exported on request, and nobody is told that it is consistent.
    run(&server, &["put", "-n", "plays", "--id", "now", "k=v"]);
    let open = scratch.path().join("open");
    let (_, said) =
        run(&server, &["export", "-n", "plays", "--include-open", "--out", open.to_str().unwrap()]);
    assert!(said.starts_with("not consistent from ") && said.contains("4 rows in 2 files"), "{said}");
    assert_eq!(manifest(&open)["consistent"], false);
    let (json, _) = run(&server, &["-o", "json", "export", "-n", "plays", "--out", out.to_str().unwrap()]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), manifest(&out));
}
