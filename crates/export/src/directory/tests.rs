//! What is left of an export whenever it ends.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::*;
use crate::{Asked, CheckDigest, Format, ParquetFile, Row, SplitCheck, State};

fn manifest() -> Manifest {
    Manifest::new(Format::Parquet, "plays".to_owned(), 1, Asked::default(), 7)
}

fn part(directory: &Directory, number: usize, rows: u64) -> FileEntry {
    let (file, path) = directory.begin_part("data_20260328", number, "parquet").unwrap();
    let mut file = ParquetFile::new(file).unwrap();
    for at in 0..rows {
        let bytes = || Bytes::from(at.to_string());
        let row = Row {
            time_series_id: bytes(),
            time_bucket: 0,
            event_bucket: 0,
            event_time: 0,
            event_id: bytes(),
            event_item_key: bytes(),
            event_item_value: bytes(),
            value_metadata: Bytes::new(),
            write_time: 0,
        };
        file.push(row).unwrap();
    }
    let (file, rows) = file.finish().unwrap();
    directory.finish_part(file, &path, rows).unwrap()
}

#[test]
fn an_export_is_found_again_and_only_by_one_at_a_time() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("out");
    let (directory, found) = Directory::open(&root).unwrap();
    assert_eq!(found, None);
    let refusal = Directory::open(&root).unwrap_err().to_string();
    assert!(refusal.starts_with("another export writes to "), "{refusal}");
    drop(directory);
    // Killed before its first manifest.
    let (directory, found) = Directory::open(&root).unwrap();
    assert_eq!(found, None);
    let entry = part(&directory, 0, 3);
    assert_eq!((entry.path.as_str(), entry.rows), ("data/table=data_20260328/part-00000.parquet", 3));
    let manifest = Manifest { state: State::Complete, ..manifest() };
    directory.keep(&manifest).unwrap();
    drop(directory);
    let (_directory, found) = Directory::open(&root).unwrap();
    assert_eq!(found, Some(manifest));
}

#[test]
fn what_is_no_export_is_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("letter.txt"), "dear").unwrap();
    let refusal = Directory::open(scratch.path()).unwrap_err().to_string();
    assert!(refusal.ends_with("is not empty and holds no export; choose another directory"), "{refusal}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    fs::write(scratch.path().join(MANIFEST), "{\"a\": 1}").unwrap();
    let refusal = Directory::open(scratch.path()).unwrap_err().to_string();
    assert!(refusal.contains("manifest.json is no manifest of an export: "), "{refusal}");
    let refusal = Directory::open(&scratch.path().join("letter.txt")).unwrap_err().to_string();
    assert!(refusal.starts_with("cannot make the directory "), "{refusal}");
}

#[test]
fn files_that_are_not_as_they_were_end_it() {
    let scratch = tempfile::tempdir().unwrap();
    let (directory, _) = Directory::open(scratch.path()).unwrap();
    let mut manifest = manifest();
    manifest.tables.push(crate::manifest::tests::table("data_20260328"));
    let entry = part(&directory, 0, 3);
    let path = scratch.path().join(&entry.path);
    manifest.add(0, Some(entry), None);
    directory.check(&manifest).unwrap();
    fs::write(&path, "cut").unwrap();
    let refusal = directory.check(&manifest).unwrap_err().to_string();
    assert!(refusal.contains("part-00000.parquet has 3 bytes and should have "), "{refusal}");
    fs::remove_file(&path).unwrap();
    assert!(directory.check(&manifest).unwrap_err().to_string().starts_with("cannot find "));
}

#[test]
fn a_part_is_not_there_before_it_is_complete() {
    let scratch = tempfile::tempdir().unwrap();
    let (directory, _) = Directory::open(scratch.path()).unwrap();
    let (_, path) = directory.begin_part("data_1", 0, "csv").unwrap();
    let names = || -> Vec<String> {
        let entries = fs::read_dir(scratch.path().join("data/table=data_1")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(), [".part-00000.csv.tmp"]);
    directory.abandon_part(&path).unwrap();
    assert!(!scratch.path().join("data/table=data_1").try_exists().unwrap());
    let entry = part(&directory, 0, 1);
    directory.remove(&[entry]).unwrap();
    assert!(!scratch.path().join("data/table=data_20260328").try_exists().unwrap());
}

fn line(id: &str, rows: u64) -> SplitLine {
    let check = SplitCheck {
        id: id.to_owned(),
        attempt: 1,
        origin_table: "data_20260328".to_owned(),
        target_table: "wide_data_20260328_0".to_owned(),
        time_series_id: "hot".to_owned(),
        time_bucket: 7,
        event_bucket: 2,
        start_event_bucket: 32,
        targets: 2,
        layout: "rows".to_owned(),
        chunk_bytes: None,
        codec: None,
        strategy: "time_range".to_owned(),
        boundaries: vec![i64::MAX],
        slice_start: 0,
        seconds_per_bucket: 3_600,
        buckets_per_id: 4,
        split_stride: 16,
        hash_version: 1,
        covered_until: 1,
        digest_key: "00".repeat(32),
        digest: CheckDigest { rows, bytes: 9, checksum: "0f".repeat(16) },
        partitions: Vec::new(),
    };
    SplitLine { split: RawValue::from_string(serde_json::json!({ "id": id }).to_string()).unwrap(), check }
}

#[test]
fn splits_read_back_and_a_change_is_seen() {
    let scratch = tempfile::tempdir().unwrap();
    let (directory, _) = Directory::open(scratch.path()).unwrap();
    let splits = [line("data_20260328/7/2/a\"b", 4), line("data_20260328/7/2/c", 5)];
    directory.keep_splits_before(&splits).unwrap();
    let read = directory.splits_before().unwrap();
    assert_eq!(read.iter().map(|line| &line.check).collect::<Vec<_>>(), [&splits[0].check, &splits[1].check]);
    assert!(splits[0].is_unchanged(&read[0]) && !splits[1].is_unchanged(&line("data_20260328/7/2/c", 6)));
    let entry = directory.finish_splits(&splits).unwrap();
    let text = fs::read_to_string(scratch.path().join(&entry.path)).unwrap();
    assert_eq!((entry.count, entry.bytes, text.lines().count()), (2, text.len() as u64, 2));
    assert!(
        text.starts_with(
            r#"{"split":{"id":"data_20260328/7/2/a\"b"},"check":{"id":"data_20260328/7/2/a\"b","#
        )
    );
    directory.tidy().unwrap();
    directory.tidy().unwrap();
    assert!(directory.splits_before().is_err());
}
