//! The manifest: what was asked for, what is there and where an export that was killed goes on.

use serde::{Deserialize, Serialize};

/// What kind of directory it is.
const KIND: &str = "braid export";
/// The only version there is.
const VERSION: u32 = 1;

/// The manifest of an export. Times are nanoseconds since 1970. Fields that a newer version has added are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `braid export`.
    pub kind: String,
    /// Of this form.
    pub version: u32,
    /// The version of the program.
    pub braid: String,
    /// How rows are written.
    pub format: Format,
    /// Of which namespace.
    pub namespace: String,
    /// Which making of it.
    pub incarnation: u32,
    /// What was asked for.
    pub request: Asked,
    /// Whether it has come to its end.
    pub state: State,
    /// Whether nothing of the exported time can change any more.
    pub consistent: bool,
    /// Closed time of the namespace when it began.
    pub closed_time: i64,
    /// Rows from this time on.
    pub start: i64,
    /// Rows before this time.
    pub end: i64,
    /// When it began.
    pub began: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// Of all files.
    pub rows: u64,
    /// Of all files.
    pub bytes: u64,
    /// The tables, origins first, oldest first.
    pub tables: Vec<TableEntry>,
    /// The split records.
    pub splits: Option<SplitsEntry>,
    /// What was asked for and is not there.
    pub left_out: Vec<LeftOut>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Rows as columns.
    Parquet,
    /// Events, one a line.
    Ndjson,
    /// Items, one a record.
    Csv,
}

impl Format {
    /// How file names end.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }
}

/// What was asked for. Empty lists mean all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Tables of slices.
    pub slices: Vec<String>,
    /// Series.
    pub series: Vec<String>,
    /// Splits, by their ids.
    pub splits: Vec<String>,
    /// From this time on.
    pub since: Option<i64>,
    /// Before this time.
    pub until: Option<i64>,
    /// Targets and split records too.
    pub with_splits: bool,
    /// Also time that is not closed.
    #[serde(default)]
    pub include_open: bool,
}

/// Whether an export has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not yet.
    Open,
    /// It has.
    Complete,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Its name.
    pub name: String,
    /// What lies in it.
    pub kind: TableKind,
    /// The table of the slice.
    pub time_slice: String,
    /// Where the slice begins.
    pub slice_start: i64,
    /// Where it ends.
    pub slice_end: i64,
    /// Width of a time bucket.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u32,
    /// Which version of the hash places events.
    pub hash_version: u32,
    /// Event buckets set aside per split.
    pub split_stride: u32,
    /// How far it has come.
    pub state: TableState,
    /// Of its files.
    pub rows: u64,
    /// Complete files in order.
    pub files: Vec<FileEntry>,
    /// Where the next file begins.
    pub position: Option<Position>,
}

/// What lies in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Partitions as they were written.
    Origin,
    /// What wide ones were split into.
    Target,
}

/// How far a table has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableState {
    /// Not begun.
    Waiting,
    /// Some files are there.
    Open,
    /// All are.
    Done,
    /// Retention dropped it meanwhile; it has no files.
    Dropped,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Below the directory of the export.
    pub path: String,
    /// Rows, or lines.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Hexadecimal.
    pub sha256: String,
}

/// A place in a table, in the order of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Whose partition.
    pub time_series_id: String,
    /// Its time bucket.
    pub time_bucket: u32,
    /// Its event bucket.
    pub event_bucket: u32,
    /// Behind which row of it; none: behind all of them.
    pub row: Option<RowPosition>,
}

/// A row of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowPosition {
    /// When its event happened.
    pub event_time: i64,
    /// Its event.
    pub event_id: String,
    /// Its item.
    pub event_item_key: String,
}

/// The split records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitsEntry {
    /// Below the directory of the export.
    pub path: String,
    /// How many.
    pub count: u64,
    /// Size of the file.
    pub bytes: u64,
    /// Hexadecimal.
    pub sha256: String,
}

/// Something that was asked for and is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What it is.
    pub what: LeftOutKind,
    /// Which.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftOutKind {
    /// A range of time.
    Time,
    /// A split.
    Split,
    /// A slice.
    Slice,
}

impl Manifest {
    /// Of an export that begins at `began`.
    pub fn new(format: Format, namespace: String, incarnation: u32, request: Asked, began: i64) -> Self {
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            braid: env!("CARGO_PKG_VERSION").to_owned(),
            format,
            namespace,
            incarnation,
            consistent: !request.include_open,
            request,
            state: State::Open,
            closed_time: 0,
            start: 0,
            end: 0,
            began,
            ended: None,
            rows: 0,
            bytes: 0,
            tables: Vec::new(),
            splits: None,
            left_out: Vec::new(),
        }
    }

    /// Reads one; the error says what it is instead.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let manifest: Self =
            serde_json::from_slice(json).map_err(|error| format!("is no manifest of an export: {error}"))?;
        if manifest.kind != KIND || manifest.version != VERSION {
            return Err(format!("is a `{}` of version {}", manifest.kind, manifest.version));
        }
        Ok(manifest)
    }

    /// As it is written.
    pub fn to_json(&self) -> Vec<u8> {
        // Only maps with keys that are no text, and there are none, can fail.
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }

    /// What differs from another request into the same directory, for people; none if it is the same one.
    pub fn differs(&self, format: Format, namespace: &str, request: &Asked) -> Option<&'static str> {
        let same = [
            (self.namespace == namespace, "another namespace"),
            (self.format == format, "another format"),
            (self.request == *request, "other slices, series, splits or times"),
        ];
        same.into_iter().find(|(same, _)| !same).map(|(_, what)| what)
    }

    /// Adds a file to a table, which goes on at `position`.
    pub fn add(&mut self, table: usize, file: Option<FileEntry>, position: Option<Position>) {
        let Some(entry) = self.tables.get_mut(table) else { return };
        if let Some(file) = file {
            entry.rows += file.rows;
            self.rows += file.rows;
            self.bytes += file.bytes;
            entry.files.push(file);
        }
        entry.state = if position.is_some() { TableState::Open } else { TableState::Done };
        entry.position = position;
    }

    /// Takes a table out that was dropped meanwhile; gives back its files.
    pub fn drop_table(&mut self, table: usize) -> Vec<FileEntry> {
        let Some(entry) = self.tables.get_mut(table) else { return Vec::new() };
        self.rows -= entry.rows;
        self.bytes -= entry.files.iter().map(|file| file.bytes).sum::<u64>();
        (entry.rows, entry.position, entry.state) = (0, None, TableState::Dropped);
        self.left_out.push(LeftOut {
            what: LeftOutKind::Slice,
            name: entry.name.clone(),
            reason: "retention dropped it while it was exported".to_owned(),
        });
        std::mem::take(&mut entry.files)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../golden/manifest.json");

    /// A table before it is begun.
    pub(crate) fn table(name: &str) -> TableEntry {
        TableEntry {
            name: name.to_owned(),
            kind: TableKind::Origin,
            time_slice: "data_20260328".to_owned(),
            slice_start: 1_774_656_000_000_000_000,
            slice_end: 1_774_742_400_000_000_000,
            seconds_per_bucket: 3_600,
            buckets_per_id: 4,
            hash_version: 1,
            split_stride: 16,
            state: TableState::Waiting,
            rows: 0,
            files: Vec::new(),
            position: None,
        }
    }

    fn manifest() -> Manifest {
        let request =
            Asked { slices: vec!["data_20260328".to_owned()], with_splits: true, ..Asked::default() };
        let mut manifest =
            Manifest::new(Format::Parquet, "plays".to_owned(), 1, request, 1_774_900_000_000_000_000);
        manifest.braid = "0.1.0".to_owned();
        (manifest.closed_time, manifest.end) = (1_774_800_000_000_000_000, 1_774_742_400_000_000_000);
        manifest.start = 1_774_656_000_000_000_000;
        manifest.tables = vec![
            table("data_20260328"),
            TableEntry { kind: TableKind::Target, ..table("wide_data_20260328_0") },
        ];
        let file = FileEntry {
            path: "data/table=data_20260328/part-00000.parquet".to_owned(),
            rows: 1_000,
            bytes: 65_536,
            sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        };
        let row = RowPosition {
            event_time: 1_774_681_200_000_000_003,
            event_id: "event-0".to_owned(),
            event_item_key: "b".to_owned(),
        };
        let position =
            Position { time_series_id: "hot".to_owned(), time_bucket: 7, event_bucket: 2, row: Some(row) };
        manifest.add(0, Some(file), Some(position));
        let reason = "events of this time may still be accepted".to_owned();
        let name = "from 2026-03-29T16:00:00Z on".to_owned();
        manifest.left_out = vec![LeftOut { what: LeftOutKind::Time, name, reason }];
        manifest
    }

    #[test]
    fn the_manifest_is_written_and_read_as_it_always_was() {
        assert_eq!(String::from_utf8(manifest().to_json()).unwrap(), GOLDEN);
        assert_eq!(Manifest::parse(GOLDEN.as_bytes()).unwrap(), manifest());
        // A newer program may say more.
        let more = GOLDEN.replacen('{', "{\"new\": {}, ", 1);
        assert_eq!(Manifest::parse(more.as_bytes()).unwrap(), manifest());
    }

    #[test]
    fn what_is_no_manifest_is_told() {
        let problem = |json: &str| Manifest::parse(json.as_bytes()).unwrap_err();
        assert!(problem("{}").starts_with("is no manifest of an export: "));
        assert_eq!(
            problem(&GOLDEN.replace("\"version\": 1", "\"version\": 2")),
            "is a `braid export` of version 2"
        );
    }

    #[test]
    fn another_request_is_not_the_same_export() {
        let there = manifest();
        let differs = |format, namespace: &str, change: fn(&mut Asked)| {
            let mut request = there.request.clone();
            change(&mut request);
            there.differs(format, namespace, &request)
        };
        assert_eq!(differs(Format::Parquet, "plays", |_| ()), None);
        assert_eq!(differs(Format::Csv, "plays", |_| ()), Some("another format"));
        assert_eq!(differs(Format::Parquet, "views", |_| ()), Some("another namespace"));
        let other = Some("other slices, series, splits or times");
        assert_eq!(differs(Format::Parquet, "plays", |request| request.until = Some(7)), other);
        assert_eq!(differs(Format::Parquet, "plays", |request| request.with_splits = false), other);
    }

    #[test]
    fn a_table_that_was_dropped_counts_for_nothing() {
        let mut manifest = manifest();
        assert_eq!((manifest.rows, manifest.bytes), (1_000, 65_536));
        assert_eq!(manifest.drop_table(0).len(), 1);
        assert_eq!((manifest.rows, manifest.bytes, manifest.tables[0].rows), (0, 0, 0));
        assert_eq!(manifest.tables[0].state, TableState::Dropped);
        manifest.add(1, None, None);
        assert_eq!(manifest.tables[1].state, TableState::Done);
    }
}
