//! The ids that are meant: those typed, and those of a file. A file is taken whole or, where a line of it is wrong, not
//! at all.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

use crate::failure::Failure;

/// Bytes that a file may have: more than all ids that can be blocked.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Bytes of an id.
const ID_BYTES_MAX: usize = 512;
/// Wrong lines that are named.
const NAMED_MAX: usize = 10;
/// How a line of the published configuration begins, and what follows the name of the dataset.
const CONFIG: &str = "dgwts.config.";
const CONFIG_IDS: &str = ".block.Ids";

/// What was typed, then what the file has, each once.
pub(super) fn gather(typed: Vec<String>, file: Option<&str>) -> Result<Vec<String>, Failure> {
    let mut ids = typed;
    if let Some(file) = file {
        ids.extend(parse(file, &read(file)?).map_err(Failure::Usage)?);
    }
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    if ids.is_empty() {
        return Err(Failure::Usage("there are no ids in the file; write one a line".to_owned()));
    }
    Ok(ids)
}

fn read(file: &str) -> Result<String, Failure> {
    let open = || -> io::Result<Box<dyn Read>> {
        Ok(if file == "-" { Box::new(io::stdin()) } else { Box::new(File::open(file)?) })
    };
    let mut bytes = Vec::new();
    let read = open().and_then(|input| input.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    let problem = match read {
        Ok(count) if count as u64 > FILE_BYTES_MAX => {
            format!("has over {FILE_BYTES_MAX} bytes; name a file of ids")
        }
        Ok(_) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(_) => "is not UTF-8 text; name a file of ids".to_owned(),
        },
        Err(error) => format!("cannot be read: {error}"),
    };
    Err(Failure::Usage(format!("`{file}` {problem}")))
}

/// The ids of a text; or every line that is wrong, up to a few.
fn parse(file: &str, text: &str) -> Result<Vec<String>, String> {
    let (mut ids, mut wrong, mut dataset) = (Vec::new(), Vec::new(), None);
    for (line, number) in text.lines().zip(1_u64..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let found = match line.strip_prefix(CONFIG) {
            Some(rest) => published(rest, &mut dataset),
            None => check(line).map(|id| vec![id]),
        };
        match found {
            Ok(found) => ids.extend(found),
            Err(problem) => wrong.push(format!("{file}:{number}: {problem}")),
        }
    }
    if wrong.is_empty() {
        return Ok(ids);
    }
    let more = wrong.len().saturating_sub(NAMED_MAX);
    wrong.truncate(NAMED_MAX);
    if more > 0 {
        wrong.push(format!("and {more} more lines"));
    }
    Err(wrong.join("\n"))
}

/// The ids of a line of the published form, whose beginning is gone. All such lines of a file are of one dataset: ids of
/// several cannot go into one namespace.
fn published<'a>(rest: &'a str, dataset: &mut Option<&'a str>) -> Result<Vec<String>, String> {
    let wrong = || format!("write {CONFIG}<dataset>{CONFIG_IDS}: \"<id>, <id>\"");
    let (name, value) = rest.split_once(CONFIG_IDS).ok_or_else(wrong)?;
    let value = value.trim_start().strip_prefix([':', '=']).ok_or_else(wrong)?.trim();
    let first = *dataset.get_or_insert(name);
    if first != name {
        return Err(format!("is of dataset `{name}`, lines before of `{first}`; put each into its own file"));
    }
    let unquoted = match value.strip_prefix('"') {
        Some(open) => open.strip_suffix('"').ok_or_else(wrong)?,
        None => value,
    };
    if unquoted.contains('"') {
        return Err(wrong());
    }
    if unquoted.trim().is_empty() {
        return Ok(Vec::new());
    }
    unquoted.split(',').map(|id| check(id.trim())).collect()
}

fn check(id: &str) -> Result<String, String> {
    match id.len() {
        0 => Err("has an empty id between commas; remove one of them".to_owned()),
        1..=ID_BYTES_MAX => Ok(id.to_owned()),
        bytes => {
            Err(format!("has an id of {bytes} bytes, the limit is {ID_BYTES_MAX}; put one id on a line"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, expect: Result<&[&str], &str>) {
        let found = parse("f", text);
        let expect = expect.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expect.map_err(str::to_owned));
    }

    #[test]
    fn a_file_has_an_id_a_line() {
        check_text("", Ok(&[]));
        check_text("a\r\n\n  b c \n# no\n\"d\", e", Ok(&["a", "b c", "\"d\", e"]));
        let long = "x".repeat(513);
        check_text(
            &format!("a\n{long}\nb"),
            Err("f:2: has an id of 513 bytes, the limit is 512; put one id on a line"),
        );
    }

    #[test]
    fn the_published_form_is_taken() {
        let seed = "dgwts.config.<dataset>.block.Ids: \"<tsid-1>, <tsid-2>, <tsid-3>\"";
        check_text(seed, Ok(&["<tsid-1>", "<tsid-2>", "<tsid-3>"]));
        check_text("dgwts.config.d.block.Ids=a,b\nc\ndgwts.config.d.block.Ids: \"\"", Ok(&["a", "b", "c"]));
        let form = "write dgwts.config.<dataset>.block.Ids: \"<id>, <id>\"";
        for bad in
            ["dgwts.config.d.block.ids: a", "dgwts.config.d.block.Ids a", "dgwts.config.d.block.Ids: \"a"]
        {
            check_text(&format!("ok\n{bad}"), Err(&format!("f:2: {form}")));
        }
        check_text(
            "dgwts.config.d.block.Ids: \"a,,b\"",
            Err("f:1: has an empty id between commas; remove one of them"),
        );
        check_text(
            "dgwts.config.d.block.Ids: a\ndgwts.config.e.block.Ids: b",
            Err("f:2: is of dataset `e`, lines before of `d`; put each into its own file"),
        );
    }

    #[test]
    fn a_few_wrong_lines_are_named_and_the_rest_counted() {
        let text = "dgwts.config.x\n".repeat(12);
        let told = parse("f", &text).unwrap_err();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!((lines.len(), lines[10]), (11, "and 2 more lines"));
        assert!(lines[9].starts_with("f:10: "), "{told}");
    }

    #[test]
    fn an_id_is_sent_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        std::fs::write(&path, "b\na\nb\n").unwrap();
        let ids = gather(vec!["a".to_owned(), "a".to_owned()], path.to_str()).unwrap();
        assert_eq!(ids, ["a", "b"]);
        std::fs::write(&path, "# none\n").unwrap();
        assert!(matches!(gather(Vec::new(), path.to_str()), Err(Failure::Usage(_))));
        std::fs::write(&path, b"\xff").unwrap();
        assert!(matches!(gather(Vec::new(), path.to_str()), Err(Failure::Usage(_))));
        assert!(matches!(gather(Vec::new(), Some("/nowhere")), Err(Failure::Usage(_))));
    }
}
