//! The files of an import, or stdin: opened one after another, each read as what it is.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::csv::Csv;
use super::ndjson::{EventParser, Ndjson};
use super::source::{Found, Place, Source};
use crate::failure::Failure;

/// What is read from a file at once.
const READ_BYTES: usize = 256 << 10;
/// What stands for stdin.
const STDIN: &str = "-";

/// How events are written in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// One event a line, in the API's JSON shape.
    Ndjson,
    /// A header, then one event a record.
    Csv,
}

impl InputFormat {
    /// What a file of this name holds, going by its ending.
    fn of(name: &str) -> Self {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) { Self::Csv } else { Self::Ndjson }
    }
}

/// What an import reads, opened as it gets there.
pub(crate) struct Inputs {
    files: Vec<(String, InputFormat)>,
    parser: EventParser,
    at: usize,
    open: Option<Box<dyn Source>>,
    read_bytes: Arc<AtomicU64>,
}

impl Inputs {
    /// The inputs with these names, `-` or none at all for stdin. Refuses what cannot be opened now, before anything is
    /// sent.
    pub(crate) fn new(files: &[String], format: Option<InputFormat>, text: bool) -> Result<Self, Failure> {
        let stdin = [STDIN.to_owned()];
        let files = if files.is_empty() { &stdin } else { files };
        if files.iter().filter(|name| *name == STDIN).count() > 1 {
            return Err(Failure::Usage("`-` is named twice; stdin can be read once".to_owned()));
        }
        for name in files.iter().filter(|name| *name != STDIN) {
            check(name)?;
        }
        let format_of = |name: &String| format.unwrap_or_else(|| InputFormat::of(name));
        Ok(Self {
            files: files.iter().map(|name| (name.clone(), format_of(name))).collect(),
            parser: EventParser::new(text).map_err(Failure::Other)?,
            at: 0,
            open: None,
            read_bytes: Arc::default(),
        })
    }

    /// What messages call the inputs.
    pub(crate) fn names(&self) -> Vec<String> {
        let shown = |name: &String| if name == STDIN { "stdin".to_owned() } else { name.clone() };
        self.files.iter().map(|(name, _)| shown(name)).collect()
    }

    /// Bytes of all inputs together, where every one of them is a file.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        let sizes = self.files.iter().map(|(name, _)| {
            let found = std::fs::metadata(name).ok().filter(std::fs::Metadata::is_file);
            found.filter(|_| name != STDIN).map(|found| found.len())
        });
        sizes.sum()
    }

    /// Counts what has been read.
    pub(crate) fn read_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read_bytes)
    }

    fn start(&self, name: &str, format: InputFormat) -> io::Result<Box<dyn Source>> {
        let from: Box<dyn Read + Send> =
            if name == STDIN { Box::new(io::stdin()) } else { Box::new(File::open(name)?) };
        let counted = Counted { from, count: Arc::clone(&self.read_bytes) };
        let reader = BufReader::with_capacity(READ_BYTES, counted);
        Ok(match format {
            InputFormat::Ndjson => Box::new(Ndjson::new(reader, self.at, self.parser.clone())),
            InputFormat::Csv => Box::new(Csv::new(reader, self.at, self.parser.text())),
        })
    }
}

fn check(name: &str) -> Result<(), Failure> {
    let problem = match File::open(name).and_then(|file| file.metadata()) {
        Ok(found) if found.is_dir() => "is a directory; name its files".to_owned(),
        Ok(_) => return Ok(()),
        Err(error) => format!("cannot be read: {error}"),
    };
    Err(Failure::Usage(format!("`{name}` {problem}")))
}

impl Source for Inputs {
    fn next(&mut self) -> Option<(Place, Found)> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(found) = open.next() {
                    return Some(found);
                }
                self.open = None;
                self.at += 1;
            }
            let (name, format) = self.files.get(self.at)?;
            match self.start(name, *format) {
                Ok(source) => self.open = Some(source),
                Err(error) => {
                    let place = Place { input: self.at, line: 0 };
                    self.at += 1;
                    return Some((place, Found::Bad(format!("cannot be read: {error}"))));
                }
            }
        }
    }
}

/// Counts what passes.
struct Counted<R> {
    from: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.count.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &Path, name: &str, text: &str) -> String {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn refused(files: &[&str]) -> String {
        let files: Vec<String> = files.iter().map(|name| (*name).to_owned()).collect();
        match Inputs::new(&files, None, false) {
            Err(Failure::Usage(message)) => message,
            other => panic!("not refused: {}", other.is_ok()),
        }
    }

    #[test]
    fn files_are_read_one_after_another_by_their_ending() {
        let home = tempfile::tempdir().unwrap();
        let files = [
            write(home.path(), "a.ndjson", "{\"time_series_id\":\"a\"}\n{\n"),
            write(home.path(), "empty.json", ""),
            write(home.path(), "b.CSV", "time_series_id,event_time\nb,1\n"),
        ];
        let mut inputs = Inputs::new(&files, None, false).unwrap();
        let (total, read) = (inputs.total_bytes().unwrap(), inputs.read_bytes());
        let mut found = Vec::new();
        while let Some((place, what)) = inputs.next() {
            let shown = match what {
                Found::Event(event) => event.time_series_id,
                Found::Bad(_) => "bad".to_owned(),
            };
            found.push((place.input, place.line, shown));
        }
        let expect = [(0, 1, "a"), (0, 2, "bad"), (2, 2, "b")];
        assert_eq!(found, expect.map(|(input, line, shown)| (input, line, shown.to_owned())));
        assert_eq!((read.load(Ordering::Relaxed), total), (total, 55));
        assert_eq!(inputs.names(), files);
        let csv = InputFormat::Csv;
        let mut forced = Inputs::new(&files, Some(csv), false).unwrap();
        let Some((_, Found::Bad(problem))) = forced.next() else { panic!("JSON read as CSV") };
        assert!(problem.starts_with("the header has no column"), "{problem}");
    }

    #[test]
    fn what_cannot_be_read_is_refused_before_anything_is_sent() {
        let home = tempfile::tempdir().unwrap();
        let missing = home.path().join("none.csv");
        assert!(refused(&[missing.to_str().unwrap()]).contains("none.csv` cannot be read: No such file"));
        assert!(refused(&[home.path().to_str().unwrap()]).ends_with("is a directory; name its files"));
        assert_eq!(refused(&["-", "-"]), "`-` is named twice; stdin can be read once");
        let stdin = Inputs::new(&[], None, false).unwrap();
        assert_eq!((stdin.names(), stdin.total_bytes()), (vec!["stdin".to_owned()], None));
    }

    #[test]
    fn a_file_that_vanishes_is_a_problem_of_that_file() {
        let home = tempfile::tempdir().unwrap();
        let files = [
            write(home.path(), "gone", "x"),
            write(home.path(), "b.csv", "time_series_id,event_time\nb,1\n"),
        ];
        let mut inputs = Inputs::new(&files, None, false).unwrap();
        std::fs::remove_file(&files[0]).unwrap();
        assert!(matches!(inputs.next(), Some((Place { input: 0, line: 0 }, Found::Bad(_)))));
        assert!(matches!(inputs.next(), Some((Place { input: 1, line: 2 }, Found::Event(_)))));
        assert!(inputs.next().is_none());
    }
}
