//! What a namespace asks of its store, as it is typed and shown.

use crate::process::{Serving, ended};

#[test]
fn what_a_namespace_asks_of_its_store_is_set_shown_and_set_back() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str], expect: i32| {
        let (code, out, said) = ended(server.run(arguments));
        assert_eq!(code, expect, "{arguments:?}: {out}{said}");
        out + &said
    };
    let shows = |text: &str, name: &str, value: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        assert_eq!(line.split_whitespace().nth(1), Some(value), "{text}");
    };
    let made = run(&["ns", "create", "plays", "--consistency", "LOCAL_ONE", "--compaction", "leveled"], 0);
    shows(&made, "consistency", "LOCAL_ONE");
    shows(&made, "compaction", "leveled");
    shows(&made, "compression", "default");
    run(&["put", "-n", "plays", "--id", "a", "k=v"], 0);

    let changed = run(&["ns", "set", "plays", "--compaction", "", "--compression", "zstd"], 0);
    shows(&changed, "consistency", "LOCAL_ONE");
    shows(&changed, "compaction", "default");
    shows(&changed, "compression", "zstd");
    let json = run(&["-o", "json", "ns", "show", "plays"], 0);
    assert!(
        json.contains(r#""consistency":"LOCAL_ONE""#) && json.contains(r#""compression":"zstd""#),
        "{json}"
    );
    let slices = run(&["-o", "csv", "slices", "list", "-n", "plays"], 0);
    assert!(slices.lines().nth(1).unwrap().ends_with(",leveled,,OPEN"), "{slices}");

    let refused = run(&["ns", "set", "plays", "--consistency", "quorum"], 2);
    assert!(refused.contains("choose LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM"), "{refused}");
    let refused = run(&["ns", "set", "plays", "--compression", "gzip"], 2);
    assert!(refused.contains("choose lz4, zstd, none or \"\" for the store's choice"), "{refused}");
}
