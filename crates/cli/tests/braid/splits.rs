//! Splits as they are typed: settings, refusals, lists of nothing, pauses.

use crate::process::{Serving, ended};

#[test]
fn wishes_about_splits_are_set_shown_and_refused_with_what_is_good() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str], expect: i32| {
        let (code, out, said) = ended(server.run(arguments));
        assert_eq!(code, expect, "{arguments:?}: {out}{said}");
        out + &said
    };
    let shows = |text: &str, name: &str, value: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        assert!(line.trim_start_matches(name).trim_start().starts_with(value), "{name} {value}: {text}");
    };
    let made = run(&["ns", "create", "plays", "--split-threshold", "8MiB", "--split-target", "1MiB"], 0);
    shows(&made, "split ", "auto");
    shows(&made, "wide over", "8.0 MiB");
    shows(&made, "target", "1.0 MiB");
    let change = ["--split-policy", "manual", "--split-strategy", "time_range", "--split-max-buckets", "8"];
    let changed = run(&[&["ns", "set", "plays"], &change[..]].concat(), 0);
    shows(&changed, "split ", "manual");
    shows(&changed, "wide over", "8.0 MiB");
    shows(&changed, "max targets", "8");
    shows(&changed, "strategy", "time_range");
    let json = run(&["-o", "json", "ns", "show", "plays"], 0);
    let split = r#""split":{"policy":"manual","threshold_bytes":"8388608","target_bytes":"1048576","max_split_buckets":8,"strategy":"time_range","layout":"auto"}"#;
    assert!(json.contains(split), "{json}");
    let refused = run(&["ns", "set", "plays", "--split-policy", "never"], 2);
    assert!(refused.contains("split.policy: is `never`; choose auto, manual or off"), "{refused}");
    let refused = run(&["ns", "set", "plays", "--split-target", "1GB"], 2);
    assert!(refused.contains("write one such as 16MiB"), "{refused}");
    let refused = run(&["ns", "set", "plays", "--split-target", "16MiB"], 2);
    assert!(refused.contains("split.target_bytes: "), "{refused}");
}

#[test]
fn where_nothing_is_split_every_verb_says_so() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    assert_eq!(run(&["ns", "create", "plays"]).0, 0);
    assert_eq!(run(&["put", "-n", "plays", "--id", "open:7", "k=v"]).0, 0);
    let nothing = |said: &str| (0, String::new(), said.to_owned());
    assert_eq!(run(&["split", "list", "-n", "plays"]), nothing("no splits\n"));
    assert_eq!(run(&["split", "watch", "-n", "plays"]), nothing("nothing is being split\n"));
    assert_eq!(run(&["partitions", "top", "-n", "plays"]), nothing(""));
    let (code, out, _) = run(&["-o", "json", "split", "list", "-n", "plays"]);
    assert!(code == 0 && out.starts_with("{\"summary\":{"), "{out}");

    server.refuses(&["split", "list", "-n", "nowhere"], 3, "namespace `nowhere` does not exist");
    server.refuses(&["split", "list", "-n", "plays", "--state", "odd"], 2, "choose of CANDIDATE, PLANNING");
    for verb in ["show", "watch", "retry", "verify", "retire"] {
        let arguments = ["-o", "json", "split", verb, "-n", "plays", "data_20260328/7/2/user:7"];
        server.refuses(&arguments, 3, r#""reason":"SPLIT_NOT_FOUND""#);
    }
    server.refuses(&["split", "create", "-n", "plays", "user:7"], 2, "as in data_20260328/7/2/user:7");
    server.refuses(&["partitions", "top", "-n", "plays", "--measure"], 2, "TABLE");
    // What is written now may be written to for ten minutes more.
    let (_, slices, _) = run(&["-o", "csv", "slices", "list", "-n", "plays"]);
    let table = slices.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    let hour = std::process::Command::new("date").args(["-u", "+%-H"]).output().unwrap().stdout;
    let id = format!("{table}/{}/0/open:7", String::from_utf8(hour).unwrap().trim());
    let create = ["-o", "json", "split", "create", "-n", "plays", &id, "--reason", "why"];
    server.refuses(&create, 5, r#""reason":"SPLIT_NOT_IMMUTABLE""#);
}

#[test]
fn workers_are_paused_in_one_namespace_or_in_all() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    assert_eq!((run(&["ns", "create", "plays"]).0, run(&["ns", "create", "views"]).0), (0, 0));
    server.refuses(&["split", "pause"], 2, "or all of them with --all");
    let (code, out, said) = run(&["split", "pause", "-n", "plays", "--validate-only", "-o", "csv"]);
    assert_eq!((code, out.as_str()), (0, "namespace\nplays\n"));
    assert_eq!(said, "checked only; nothing was changed\n");
    let is_paused = |name: &str| run(&["split", "list", "-n", name]).2.contains("paused");
    assert!(!is_paused("plays"));
    let (code, _, said) = run(&["split", "pause", "-n", "plays", "--reason", "busy"]);
    assert_eq!((code, said.as_str()), (0, "workers leave the splits of 1 namespace alone\n"));
    assert!(is_paused("plays") && !is_paused("views"));
    assert_eq!(run(&["split", "pause", "--all"]).0, 0);
    assert!(is_paused("plays") && is_paused("views"));
    let (code, out, _) = run(&["-o", "json", "split", "resume", "--all"]);
    assert_eq!((code, out.as_str()), (0, "{\"namespaces\":[\"plays\",\"views\"]}\n"));
    assert!(!is_paused("plays") && !is_paused("views"));
}

#[test]
fn a_partition_is_split_by_hand_watched_shown_compared_and_retired() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    let wishes = ["--split-policy", "manual", "--split-threshold", "64KiB", "--split-target", "64KiB"];
    let create = ["ns", "create", "plays", "--buckets-per-id", "1"];
    assert_eq!(run(&[&create[..], &wishes].concat()).0, 0);
    let date = std::process::Command::new("date").args(["-u", "-d", "2 days ago", "+%F"]).output().unwrap();
    let day = String::from_utf8(date.stdout).unwrap().trim().to_owned();
    let line = |at: u32| format!("whale,{day}T07:{:02}:{:02}Z,{}\n", at / 60, at % 60, "x".repeat(1_000));
    let events: String = (0..200).map(line).collect();
    let file = scratch.path().join("old.csv");
    std::fs::write(&file, format!("time_series_id,event_time,k\n{events}")).unwrap();
    assert_eq!(run(&["import", "-n", "plays", file.to_str().unwrap(), "--backfill"]).0, 0);

    let id = format!("data_{}/7/0/whale", day.replace('-', ""));
    let asked = run(&["split", "create", "-n", "plays", &id, "--reason", "slow reads", "--author", "ann"]);
    assert!(asked.0 == 0 && asked.1.contains("asked for by ann: slow reads"), "{asked:?}");
    assert!(asked.2.contains(&format!("braid split watch -n plays {id}\n")), "{asked:?}");
    let (code, seen, said) = run(&["split", "watch", "-n", "plays", &id, "-o", "json"]);
    let last: serde_json::Value = serde_json::from_str(seen.lines().last().unwrap()).unwrap();
    assert_eq!((code, &last["state"]), (0, &"COMPLETED".into()), "{seen}{said}");
    assert_eq!(last["pre_split_data"]["digest"], last["post_split_data"]["digest"], "{last}");
    assert_eq!(last["pre_split_data"]["digest"]["rows"], "200");

    let (code, story, _) = run(&["split", "show", "-n", "plays", &id]);
    assert!(code == 0 && story.contains("\nplan       1 target by time_range, layout packed"), "{story}");
    let states = ["CANDIDATE", "PLANNING", "PLANNED", "COPYING", "VERIFYING", "COMPLETED"];
    assert!(states.iter().all(|state| story.contains(&format!("Z  {state} "))), "{story}");
    let (code, _, said) = run(&["split", "list", "-n", "plays"]);
    assert!(code == 0 && said.starts_with("1 split: 1 COMPLETED; "), "{said}");
    let (_, top, _) = run(&["partitions", "top", "-n", "plays"]);
    assert!(top.lines().nth(1).unwrap().starts_with(&id) && top.ends_with("COMPLETED\n"), "{top}");
    let (code, compared, _) = run(&["split", "verify", "-n", "plays", &id]);
    assert!(code == 0 && compared.ends_with("\nequal\n"), "{compared}");

    server.refuses(
        &["split", "retry", "-n", "plays", &id],
        5,
        "is completed; ask for a layout to make it anew",
    );
    server.refuses(
        &["split", "retry", "-n", "plays", &id, "--layout", "columns"],
        2,
        "choose rows or packed",
    );
    assert_eq!(run(&["split", "retry", "-n", "plays", &id, "--layout", "rows"]).0, 0);
    assert_eq!(run(&["split", "watch", "-n", "plays", &id]).0, 0);
    let (_, story, _) = run(&["split", "show", "-n", "plays", &id]);
    assert!(story.contains("\nplan       4 targets by time_range, layout rows"), "{story}");
    assert_eq!(run(&["split", "retire", "-n", "plays", &id]).0, 0);
    assert_eq!(run(&["split", "watch", "-n", "plays", &id]).0, 0);
    server.refuses(&["split", "verify", "-n", "plays", &id], 5, "is RETIRED");
    let narrow = id.replace("whale", "nobody");
    assert_eq!(run(&["split", "create", "-n", "plays", &narrow]).0, 0);
    let (code, seen, _) = run(&["split", "watch", "-n", "plays", &narrow]);
    assert!(code == 5 && seen.contains("REJECTED ") && seen.contains(" NOT_WIDE: "), "{seen}");
}
