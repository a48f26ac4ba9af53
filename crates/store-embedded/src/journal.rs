//! The engine's journal after a crash: cut off what was never synced, refuse what was and is damaged.
//!
//! A power loss may leave the journal's unsynced tail torn: later sectors there, earlier ones not. The engine would
//! then either refuse to open or silently stop at the tear, and it cannot tell a torn tail from damage to data that
//! was acknowledged. We can: every group of writes carries a [`SyncMark`] that names the last group synced before
//! it. So before the engine opens, each journal is read once:
//! - all groups whole: nothing to do;
//! - damage, and no later group knows it as synced: cut off there (only the newest journal can have this);
//! - damage to a group that a later one knows as synced: refuse with [`ErrorKind::Corrupt`], touching nothing.
//!
//! The layout of the journal is that of the pinned engine version; `tests/power.rs` fails if it changes.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use store::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::Xxh3;

use crate::keys::sync_mark::{self, SyncMark};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const TRAILER: &[u8] = b"FJL\x03";
/// The highest codec tag: 0 is none, 1 is lz4.
const LZ4: u8 = 1;

/// Checks all journals below `engine` and cuts off an unsynced torn tail. Gives back how many bytes were cut off.
pub(crate) fn settle(engine: &Path) -> Result<u64> {
    let mut journals = list(engine).map_err(|error| unreadable(engine, error))?;
    let newest = journals.pop();
    let mut last_group = None;
    for (_, path) in journals {
        let content = read(&path)?;
        let walked = walk(&content);
        if walked.damaged {
            return Err(damaged(&path, walked.end));
        }
        last_group = walked.last_group.or(last_group);
    }
    let Some((_, path)) = newest else {
        return Ok(0);
    };
    let content = read(&path)?;
    let walked = walk(&content);
    if !walked.damaged {
        return Ok(0);
    }
    let before = walked.last_group.or(last_group);
    let known_synced = synced_behind(&content, walked.end);
    if known_synced.is_some_and(|synced| before.is_none_or(|group| synced > group)) {
        return Err(damaged(&path, walked.end));
    }
    cut(&path, walked.end).map_err(|error| unreadable(&path, error))?;
    Ok((content.len() - walked.end) as u64)
}

/// What walking a journal from its start found.
struct Walked {
    /// Behind the last whole group.
    end: usize,
    /// Whether something follows that is not a whole group.
    damaged: bool,
    /// Number of the last whole group.
    last_group: Option<u64>,
}

fn walk(content: &[u8]) -> Walked {
    let (mut end, mut last_group) = (0, None);
    while let Some(batch) = content.get(end..).and_then(batch_at) {
        end += batch.length;
        last_group = batch.mark.map(|mark| mark.group).or(last_group);
    }
    Walked { end, damaged: end < content.len(), last_group }
}

/// The newest group that any whole batch behind `from` knows as synced.
fn synced_behind(content: &[u8], from: usize) -> Option<u64> {
    let (mut at, mut newest) = (from, None);
    while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(batch) = batch_at(rest) {
            newest = newest.max(batch.mark.map(|mark| mark.synced));
            at += batch.length;
        } else {
            // Groups have no fixed places, so every byte that could start one is tried.
            let step =
                rest.iter().skip(1).position(|byte| *byte == START).map_or(rest.len(), |found| found + 1);
            at += step;
        }
    }
    newest
}

/// A whole batch with a matching checksum.
struct Batch {
    length: usize,
    mark: Option<SyncMark>,
}

/// Reads fields off the front of a journal.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(field)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        let field = self.take(bytes)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// Reads the batch at the start of `content`; none if it is not whole.
fn batch_at(content: &[u8]) -> Option<Batch> {
    let mut fields = Fields(content);
    (fields.byte()? == START).then_some(())?;
    let items = fields.number(4)?;
    let _sequence = fields.number(8)?;
    let mut checksum = Xxh3::new();
    let mut mark = None;
    for _ in 0..items {
        let before = fields.0;
        (fields.byte()? == ITEM).then_some(())?;
        let _kind = fields.byte()?;
        let compression = fields.byte()?;
        (compression <= LZ4).then_some(())?;
        let _keyspace = fields.number(8)?;
        let key_length = fields.number(2)?;
        let _value_length = fields.number(4)?;
        let stored_length = fields.number(4)?;
        let key = fields.take(usize::try_from(key_length).ok()?)?;
        let value = fields.take(usize::try_from(stored_length).ok()?)?;
        if key == sync_mark::KEY {
            mark = SyncMark::decode(value).or(mark);
        }
        checksum.update(before.get(..before.len() - fields.0.len())?);
    }
    (fields.byte()? == END).then_some(())?;
    (fields.number(8)? == checksum.digest()).then_some(())?;
    (fields.take(TRAILER.len())? == TRAILER).then_some(())?;
    Some(Batch { length: content.len() - fields.0.len(), mark })
}

fn list(engine: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(engine) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut journals = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let (Some(number), Some("jnl")) = (number, path.extension().and_then(|e| e.to_str())) {
            journals.push((number, path));
        }
    }
    journals.sort_unstable();
    Ok(journals)
}

/// The content of a journal, without the zeros at its end: journals are made 64 MiB long and filled bit by bit. The
/// last byte of a group is never zero.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut content))
        .map_err(|error| unreadable(path, error))?;
    let zeros = [0; 4_096];
    let hollow = |block: &&[u8]| Some(*block) == zeros.get(..block.len());
    let hollow_bytes: usize = content.rchunks(zeros.len()).take_while(hollow).map(<[u8]>::len).sum();
    content.truncate(content.len() - hollow_bytes);
    content.truncate(content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    Ok(content)
}

fn cut(path: &Path, end: usize) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(end as u64)?;
    file.sync_all()
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    let message =
        format!("cannot read the journal at {}: {error}; check the disk and the rights", path.display());
    Error::new(ErrorKind::Unavailable, message).caused_by(error)
}

fn damaged(path: &Path, at: usize) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "the journal {} is damaged at byte {at}, in data that was acknowledged; restore the data directory \
             from a backup, or move it aside to start empty: nothing was changed",
            path.display()
        ),
    )
}
