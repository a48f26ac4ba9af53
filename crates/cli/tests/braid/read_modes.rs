//! Reads of a partition that was split, in every mode and over restarts, as an operator moves them.

use std::path::Path;

use serde_json::Value;

use crate::process::{Serving, ended};

const NAMESPACE: &str = "plays";
const EVENTS: u32 = 200;

/// A namespace with one split partition, on a server that can be started again.
struct Story {
    server: Serving,
    scratch: tempfile::TempDir,
    /// The day of its events.
    day: String,
    /// The ID of its split.
    id: String,
}

impl Story {
    fn begin() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let server = Serving::start(&scratch.path().join("data"));
        let date =
            std::process::Command::new("date").args(["-u", "-d", "2 days ago", "+%F"]).output().unwrap();
        let day = String::from_utf8(date.stdout).unwrap().trim().to_owned();
        let id = format!("data_{}/7/0/whale", day.replace('-', ""));
        let story = Self { server, scratch, day, id };
        let splits = ["--split-policy", "manual", "--split-threshold", "64KiB", "--split-target", "64KiB"];
        let reads = ["--read-mode-policy", "manual", "--read-min-compared", "1", "--canary-share", "1"];
        let create = ["ns", "create", NAMESPACE, "--buckets-per-id", "1"];
        let made = story.run(&[&create[..], &splits, &reads].concat(), 0).0;
        assert!(made.contains("read mode    shadow ") && made.contains("canary       100% "), "{made}");
        story.fill(story.scratch.path());
        story.run(&["split", "create", "-n", NAMESPACE, &story.id], 0);
        story.run(&["split", "watch", "-n", NAMESPACE, &story.id], 0);
        story
    }

    fn fill(&self, scratch: &Path) {
        let day = &self.day;
        let line = |at: u32| format!("whale,{day}T07:{:02}:{:02}Z,{}\n", at / 60, at % 60, "x".repeat(1_000));
        let events: String = (0..EVENTS).map(line).collect();
        let file = scratch.join("old.csv");
        std::fs::write(&file, format!("time_series_id,event_time,k\n{events}")).unwrap();
        self.run(&["import", "-n", NAMESPACE, file.to_str().unwrap(), "--backfill"], 0);
    }

    /// Runs a command that must end with this code; gives back stdout and stderr.
    fn run(&self, arguments: &[&str], expect: i32) -> (String, String) {
        let (code, out, said) = ended(self.server.run(arguments));
        assert_eq!(code, expect, "{arguments:?}: {out}{said}");
        (out, said)
    }

    fn readmode(&self, arguments: &[&str], expect: i32) -> (String, String) {
        self.run(&[&["readmode", "-n", NAMESPACE], arguments].concat(), expect)
    }

    /// The mode as programs see it.
    fn mode(&self) -> Value {
        serde_json::from_str(&self.readmode(&["show", "-o", "json"], 0).0).unwrap()
    }

    /// Reads everything; from how many targets it came.
    fn targets_read(&self) -> u64 {
        let read = ["-n", NAMESPACE, "whale", "--from", &self.day, "--to", "now"];
        let (out, _) = self.run(&[&["get", "-o", "json"], &read[..]].concat(), 0);
        let page: Value = serde_json::from_str(&out).unwrap();
        let records = page.pointer("/records").unwrap().as_array().unwrap();
        assert_eq!(u32::try_from(records.len()).unwrap(), EVENTS);
        let target = page.pointer("/response_context/0/routes/target").and_then(Value::as_str);
        let targets: u64 = target.unwrap_or("0").parse().unwrap();
        let (tree, said) = self.run(&[&["explain"], &read[..]].concat(), 0);
        let way = if targets > 0 { "filter YES, cache HIT, route TARGET " } else { "route ORIGIN\n" };
        assert!(tree.contains(way), "{tree}");
        assert_eq!(said.contains(" target"), targets > 0, "{said}");
        targets
    }

    /// Stops the server, starts it again and reads.
    fn again(mut self) -> Self {
        let before = self.targets_read();
        let data = self.scratch.path().join("data");
        let (code, said) = self.server.stop();
        assert_eq!(code, 0, "{said}");
        self.server = Serving::start(&data);
        // What is known of splits is not in the cache yet.
        self.run(&["get", "-n", NAMESPACE, "whale", "--from", &self.day], 0);
        assert_eq!(self.targets_read(), before);
        self
    }
}

#[test]
fn reads_move_to_targets_step_by_step_and_back_and_survive_restarts() {
    let story = Story::begin();
    let (out, said) = story.readmode(&["show"], 0);
    assert!(out.contains("\nmode       shadow ") && out.contains("\nmin_compared "), "{out}");
    assert!(said.starts_with("still missing for canary: min_compared is 0, wanted at least 1"), "{said}");
    let (_, said) = story.readmode(&["advance"], 5);
    assert!(said.starts_with("braid: reads of `plays` stay shadow: min_compared is 0"), "{said}");
    assert_eq!(story.targets_read(), 0);
    let story = story.again();

    let (out, said) = story.readmode(&["compare", "--at-once", "1"], 0);
    assert!(out.lines().nth(1).unwrap().starts_with("1 "), "{out}");
    assert!(said.starts_with("1 split compared, 200 events of "), "{said}");
    assert!(
        said.contains("nothing is missing for canary; the step is yours: braid readmode advance"),
        "{said}"
    );
    let (_, said) = story.readmode(&["advance", "--validate-only"], 0);
    assert!(said.starts_with("checked only; reads of plays may move on to canary"), "{said}");
    let (_, said) = story.readmode(&["advance", "--reason", "compared", "--author", "ann"], 0);
    assert!(said.starts_with("reads of plays are canary\n"), "{said}");
    assert_eq!(story.mode()["mode"], "canary");
    assert!(story.targets_read() > 0);
    let story = story.again();

    story.readmode(&["compare"], 0);
    let (out, _) = story.readmode(&["advance", "-o", "json"], 0);
    let on: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&on["mode"], &on["next_mode"]), (&"on".into(), &Value::Null), "{on}");
    let story = story.again();
    assert!(story.targets_read() > 0);

    let (_, said) = story.readmode(&["rollback"], 0);
    assert!(said.starts_with("reads of plays are shadow\n"), "{said}");
    assert_eq!(story.targets_read(), 0);
    let (_, said) = story.readmode(&["rollback", "--to", "off", "--reason", "slow"], 0);
    assert!(said.contains("nothing is missing for shadow"), "{said}");
    let story = story.again();
    assert_eq!(story.mode()["mode"], "off");
    let (out, _) = story.run(&["-o", "csv", "audit", "--limit", "5"], 0);
    assert!(out.contains(",slow,") && out.contains(",ann,CHANGED,namespace,plays,compared,"), "{out}");
}

#[test]
fn reads_are_held_filters_are_shown_and_nothing_differs() {
    let story = Story::begin();
    let (_, said) = story.readmode(&["hold", "--reason", "weekend"], 0);
    assert!(said.starts_with("reads of plays stay shadow, until `braid readmode hold --release"), "{said}");
    assert_eq!(story.mode()["held"], true);
    story.readmode(&["hold", "--release"], 0);
    assert_eq!(story.mode()["held"], Value::Null);
    let none = (String::new(), "no difference was ever confirmed\n".to_owned());
    assert_eq!(story.readmode(&["mismatches"], 0), none);
    let (out, _) = story.readmode(&["compare", "-o", "json"], 0);
    let compared: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&compared["splits"], &compared["records"]), (&"1".into(), &"200".into()), "{compared}");

    let slice = story.id.split('/').next().unwrap();
    let (out, _) = story.run(&["filters", "list"], 0);
    assert!(out.lines().nth(1).unwrap().starts_with(&format!("plays      {slice}  1 ")), "{out}");
    let (out, _) = story.run(&["filters", "reload", "-n", NAMESPACE, "-o", "csv"], 0);
    assert!(out.lines().nth(1).unwrap().starts_with(&format!("plays,{slice},1,")), "{out}");
    let (out, said) = story.run(&["filters", "probe", "-n", NAMESPACE, "whale"], 0);
    let row: Vec<&str> = out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, [slice, "7", "0", "YES", "COMPLETED", "ORIGIN"], "{out}");
    assert!(said.contains("the filter lets 1 through, 0 would be read from targets"), "{said}");
    let (out, _) = story.run(&["filters", "probe", "-n", NAMESPACE, "nobody", "--from", &story.day], 0);
    assert_eq!(out, "");

    let refuses = |arguments: &[&str], code, text| story.server.refuses(arguments, code, text);
    refuses(
        &["readmode", "rollback", "-n", NAMESPACE, "--to", "half"],
        2,
        "choose off, shadow, canary or on",
    );
    refuses(&["readmode", "rollback", "-n", NAMESPACE, "--to", "on"], 2, "`braid readmode advance`");
    refuses(&["readmode", "show", "-n", "nowhere"], 3, "namespace `nowhere` does not exist");
    refuses(&["readmode", "show"], 2, "no namespace; name one with -n NAME");
    refuses(&["ns", "set", NAMESPACE, "--read-mode", "on"], 5, "only through the gates");
    refuses(&["ns", "set", NAMESPACE, "--canary-share", "1.5"], 2, "canary_share: is 1.5; choose 0 to 1");
    let set = ["ns", "set", NAMESPACE, "--read-max-latency-ratio", "1.5", "--read-min-time", "1h"];
    let (out, _) = story.run(&set, 0);
    assert!(out.contains("slower       1.5 ") && out.contains("mode lasts   1h "), "{out}");
}
