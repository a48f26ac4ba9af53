//! The page for operators says what the code does: its table is the table of keys, its example loads.

use super::super::Config;
use super::super::keys::KEYS;
use super::given;

const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating/configuration.md"));

/// The lines of the page from the first that begins with `start` to the last before `end`.
fn part(start: &str, end: &str) -> String {
    let lines = PAGE.lines().skip_while(|line| !line.starts_with(start)).take_while(|line| *line != end);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_has_the_table_of_keys() {
    let mut table = String::from("| key | default | allowed | meaning |\n|---|---|---|---|");
    for key in &KEYS {
        let default = key.show(&Config::default());
        let flag = key.flag.as_ref().map(|flag| format!(" Also `{}`.", flag.name)).unwrap_or_default();
        let (name, help) = (key.name, key.help);
        table.push_str(&format!("\n| `{name}` | `{default}` | {} | {help}{flag} |", key.allowed()));
    }
    assert_eq!(part("| key |", ""), table, "the page should have\n{table}\n");
}

#[test]
fn the_example_on_the_page_loads() {
    let example = part("```toml", "```").replace("```toml\n", "");
    let loaded = given(&example, &[]).unwrap();
    let set = loaded.settings().iter().filter(|setting| setting.origin.starts_with("braid.toml:")).count();
    assert!(set >= 5, "the example sets {set} keys");
    assert_ne!(loaded.config, Config::default());
}

#[test]
fn every_help_is_a_sentence() {
    for key in &KEYS {
        assert!(key.help.ends_with('.') && key.help.starts_with(char::is_uppercase), "{}", key.name);
        assert!(!key.help.contains('|'), "{} would break the table", key.name);
    }
}
