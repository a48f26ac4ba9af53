//! An over-partitioned namespace as an operator tunes it: looked at, proposed, tried, accepted.

use serde_json::Value;

use crate::process::{Serving, ended};

const NAMESPACE: &str = "plays";

struct Story {
    server: Serving,
    scratch: tempfile::TempDir,
}

impl Story {
    /// Minutes as buckets, and three days of which each id uses ten minutes.
    fn begin() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let server = Serving::start(&scratch.path().join("data"));
        let story = Self { server, scratch };
        let made = story.run(&["ns", "create", NAMESPACE, "--bucket", "1m", "--buckets-per-id", "1"], 0).0;
        assert!(made.contains("tune         propose "), "{made}");
        let file = story.scratch.path().join("old.csv");
        let mut events = String::from("time_series_id,event_time,k\n");
        for ago in ["2 days ago", "3 days ago", "4 days ago"] {
            let day = std::process::Command::new("date").args(["-u", "-d", ago, "+%F"]).output().unwrap();
            let day = String::from_utf8(day.stdout).unwrap().trim().to_owned();
            for (series, hour) in (0..5).flat_map(|series| (0..10).map(move |hour| (series, hour))) {
                events += &format!("s{series},{day}T{hour:02}:00:00Z,{}\n", "x".repeat(500));
            }
        }
        std::fs::write(&file, events).unwrap();
        story.run(&["import", "-n", NAMESPACE, file.to_str().unwrap(), "--backfill"], 0);
        story
    }

    /// Runs a command that must end with this code; gives back stdout and stderr.
    fn run(&self, arguments: &[&str], expect: i32) -> (String, String) {
        let (code, out, said) = ended(self.server.run(arguments));
        assert_eq!(code, expect, "{arguments:?}: {out}{said}");
        (out, said)
    }

    fn tune(&self, arguments: &[&str], expect: i32) -> (String, String) {
        self.run(&[&["tune", "-n", NAMESPACE], arguments].concat(), expect)
    }
}

#[test]
fn a_proposal_is_found_tried_and_accepted() {
    let story = Story::begin();
    let (_, said) = story.tune(&["list"], 0);
    assert!(said.starts_with("plays (propose): "), "{said}");
    let (out, said) = story.tune(&["observe", "--reason", "just imported"], 0);
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(
        out.contains("EXACT") && said.contains("proposal 1 is open; see `braid tune show"),
        "{out}{said}"
    );
    let (out, _) = story.tune(&["list", "--state", "OPEN"], 0);
    assert!(out.contains("60s -> 86400s"), "{out}");
    let (out, _) = story.tune(&["show", "1"], 0);
    assert!(out.starts_with("DynamicTimeSliceConfigWorker:\nnamespace: plays\nObserved: "), "{out}");
    assert!(out.contains("\nProposed: time_bucket interval: 60s -> 86400s\n"), "{out}");
    let (out, said) = story.tune(&["simulate", "--bucket", "12h"], 0);
    assert!(out.contains("series") && said.contains("1440 -> 2 partitions for a read of 1d"), "{out}{said}");
    let (_, said) = story.tune(&["accept", "1", "--validate-only"], 0);
    assert!(said.starts_with("checked only"), "{said}");
    let (out, said) = story.tune(&["accept", "1", "--reason", "narrow", "--author", "ann", "-o", "json"], 0);
    let accepted: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(accepted.pointer("/state").and_then(Value::as_str), Some("ACCEPTED"));
    assert!(said.contains("on have the new shape"), "{said}");
    let (out, _) = story.run(&["ns", "show", NAMESPACE], 0);
    assert!(out.contains("bucket       1d"), "{out}");
    let (out, _) = story.run(&["audit", "-o", "csv"], 0);
    assert!(out.contains("ann") && out.contains("narrow"), "{out}");
    let (out, _) = story.tune(&["list", "-o", "csv"], 0);
    assert!(
        out.lines().nth(1).is_some_and(|line| line.starts_with("plays,1,ACCEPTED,60,86400,1,1,")),
        "{out}"
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let story = Story::begin();
    let refuses = |arguments: &[&str], code, says: &str| {
        let (_, said) = story.tune(arguments, code);
        assert!(said.contains(says), "{arguments:?}: {said}");
    };
    refuses(&["show", "7"], 3, "has no proposal 7");
    refuses(&["simulate"], 2, "name a shape");
    refuses(&["simulate", "--bucket", "7m"], 2, "divides the slice");
    refuses(&["list", "--state", "open"], 2, "choose OPEN");
    story.tune(&["observe"], 0);
    story.tune(&["reject", "1", "--reason", "not now"], 0);
    refuses(&["accept", "1"], 5, "it is REJECTED");
    let (_, said) = story.tune(&["observe"], 0);
    assert!(said.contains("REJECTED: proposal 1 for the same shape was rejected"), "{said}");
    story.run(&["ns", "set", NAMESPACE, "--tune-policy", "off", "--density-max", "16MiB"], 0);
    let (_, said) = story.tune(&["observe"], 0);
    assert!(said.starts_with("plays (off): OFF: "), "{said}");
    story.run(&["ns", "set", NAMESPACE, "--density-max", "3MiB"], 2);
}
