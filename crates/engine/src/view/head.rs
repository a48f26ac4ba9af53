//! The change log of a cluster, as it is stored: a head that is changed by compare-and-set, and entries that have left it.
//! JSON with a version; `docs/formats/view.md` describes it.
//!
//! An entry is a list of records to put, and it is the truth: once the head holds it, it has happened. The records that it
//! names are written afterwards (settled), for whoever starts anew. Invariants: epochs count up by one; the head holds every
//! entry that is not settled; an entry that has left the head is in the log.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::MetaKey;

use crate::catalog::record::{decode, encode};
use crate::{Error, Reason, Result};

const VERSION: u32 = 1;
const GROUP: &str = "view";
const LOG: &str = "view/log";
/// Settled entries stay in the head within this, so that a server that was away for a moment finds all in one read.
const KEPT_BYTES: usize = 16 << 10;
/// A head with more entries than this, or bytes, is settled before it takes another.
const ENTRIES_MAX: usize = 256;
const BYTES_MAX: usize = 128 << 10;

/// A record to put.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Put {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) value: Box<RawValue>,
    /// What the audit says of it, where the record itself says nothing to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Shown>,
}

/// What a change was, for the audit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    pub(crate) before: Box<RawValue>,
    pub(crate) after: Box<RawValue>,
}

impl Shown {
    fn bytes(&self) -> usize {
        self.before.get().len() + self.after.get().len()
    }
}

impl Put {
    /// Puts `record` at `key`.
    pub(crate) fn new(key: &MetaKey, record: &impl Serialize) -> Result<Self> {
        let text = |part: &[u8]| String::from_utf8(part.to_vec()).ok();
        let put = text(&key.group).zip(text(&key.name));
        let (group, name) = put.ok_or_else(|| Error::field("record", "is not text"))?;
        Ok(Self { group, name, value: raw(record)?, shown: None })
    }

    /// The same, audited as a change from `before` to `after`.
    pub(crate) fn shown(self, before: &impl Serialize, after: &impl Serialize) -> Result<Self> {
        Ok(Self { shown: Some(Shown { before: raw(before)?, after: raw(after)? }), ..self })
    }

    /// Where it goes.
    pub(crate) fn key(&self) -> MetaKey {
        MetaKey::new(self.group.clone(), self.name.clone())
    }

    /// What it puts there.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::copy_from_slice(self.value.get().as_bytes())
    }
}

fn raw(record: &impl Serialize) -> Result<Box<RawValue>> {
    let text = String::from_utf8(encode(record)?.to_vec()).ok();
    text.and_then(|text| RawValue::from_string(text).ok())
        .ok_or_else(|| Error::field("record", "is not text"))
}

/// Who asked for a change of configuration, and why. What servers do by themselves has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Who.
    pub author: String,
    /// Why.
    pub reason: String,
}

/// One change.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) epoch: u64,
    /// Wall time of the server that made it.
    pub(crate) time: i64,
    pub(crate) server: String,
    /// Drawn by whoever made it: after an unknown outcome this tells whose it is.
    pub(crate) attempt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<Cause>,
    pub(crate) puts: Vec<Put>,
}

impl Entry {
    /// Its place in the log.
    pub(crate) fn key(&self) -> MetaKey {
        MetaKey::new(LOG, format!("{:020}", self.epoch))
    }
}

/// The log group, and the name behind which the entries after `epoch` are.
pub(crate) fn log_after(epoch: u64) -> (&'static [u8], String) {
    (LOG.as_bytes(), format!("{epoch:020}"))
}

/// Where the head is.
pub(crate) fn head_key() -> MetaKey {
    MetaKey::new(GROUP, "head")
}

/// The head of the log. None was written yet: the default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    version: u32,
    /// Of the newest entry.
    pub(crate) epoch: u64,
    /// Records hold what entries up to this one have put.
    pub(crate) settled: u64,
    /// The barrier of this epoch has passed, and so have those of earlier ones.
    pub(crate) passed: u64,
    /// The newest entries, oldest first.
    pub(crate) entries: Vec<Entry>,
}

impl Default for Head {
    fn default() -> Self {
        Self { version: VERSION, epoch: 0, settled: 0, passed: 0, entries: Vec::new() }
    }
}

impl Head {
    /// Reads a head back.
    pub(crate) fn decode(stored: &[u8]) -> Result<Self> {
        let head: Self = decode(stored)?;
        if head.version == VERSION {
            return Ok(head);
        }
        let message = format!(
            "the change log is stored in version {}, this program knows {VERSION}; use a newer one",
            head.version
        );
        Err(Error::new(Reason::ChecksumMismatch, message))
    }

    /// The stored form.
    pub(crate) fn encode(&self) -> Result<Bytes> {
        encode(self)
    }

    /// Whether it has to be settled before it takes another entry.
    pub(crate) fn is_full(&self) -> bool {
        let open = self.unsettled();
        open.len() >= ENTRIES_MAX || bytes_of(open) >= BYTES_MAX
    }

    /// Entries whose records may not be written yet.
    pub(crate) fn unsettled(&self) -> &[Entry] {
        let first = self.entries.partition_point(|entry| entry.epoch <= self.settled);
        self.entries.get(first..).unwrap_or_default()
    }

    /// The entries after `epoch`; none where some of them have left the head.
    pub(crate) fn after(&self, epoch: u64) -> Option<&[Entry]> {
        let first = self.entries.partition_point(|entry| entry.epoch <= epoch);
        let entries = self.entries.get(first..).unwrap_or_default();
        let whole = entries.first().map_or(epoch >= self.epoch, |entry| entry.epoch == epoch + 1);
        whole.then_some(entries)
    }

    /// With one more entry, whose epoch is the next. Old ones that are settled leave.
    pub(crate) fn with(&self, entry: Entry) -> Self {
        let mut entries = self.entries.clone();
        entries.push(entry);
        let mut bytes = bytes_of(&entries);
        let settled = entries.partition_point(|entry| entry.epoch <= self.settled);
        let leaves = |entry: &&Entry| {
            let leaves = bytes > KEPT_BYTES;
            bytes -= weight(entry);
            leaves
        };
        let leaving = entries.iter().take(settled).take_while(leaves).count();
        entries.drain(..leaving);
        Self { epoch: self.epoch + 1, entries, ..self.clone() }
    }
}

fn weight(entry: &Entry) -> usize {
    let fixed = 160 + entry.server.len();
    let put = |put: &Put| {
        let shown = put.shown.as_ref().map_or(0, Shown::bytes);
        put.group.len() + put.name.len() + put.value.get().len() + shown
    };
    fixed + entry.puts.iter().map(put).sum::<usize>()
}

fn bytes_of(entries: &[Entry]) -> usize {
    entries.iter().map(weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../../golden/view.txt");

    fn entry(epoch: u64, bytes: usize) -> Entry {
        let put = Put::new(&MetaKey::new("namespaces", "plays"), &"x".repeat(bytes)).unwrap();
        let cause = (epoch == 1).then(|| Cause { author: "ann".to_owned(), reason: "new".to_owned() });
        let (server, attempt) = ("s1".to_owned(), format!("a{epoch}"));
        Entry { epoch, time: 1_774_656_000_000_000_000, server, attempt, cause, puts: vec![put] }
    }

    fn head(epochs: u64, bytes: usize, settled: u64) -> Head {
        let first = Head { settled, ..Head::default() };
        (1..=epochs).fold(first, |head, epoch| head.with(entry(epoch, bytes)))
    }

    fn epochs(entries: &[Entry]) -> Vec<u64> {
        entries.iter().map(|entry| entry.epoch).collect()
    }

    #[test]
    fn the_head_is_written_and_read_as_it_always_was() {
        let head = Head { passed: 1, ..head(2, 3, 1) };
        assert_eq!(format!("{}\n", String::from_utf8(head.encode().unwrap().to_vec()).unwrap()), GOLDEN);
        let read = Head::decode(GOLDEN.trim_end().as_bytes()).unwrap();
        assert_eq!(read.encode().unwrap(), head.encode().unwrap());
        let newer = GOLDEN.replace("\"version\":1", "\"version\":2");
        assert!(Head::decode(newer.as_bytes()).unwrap_err().to_string().contains("use a newer one"));
    }

    #[test]
    fn whoever_is_behind_gets_what_follows_or_is_told_that_it_is_gone() {
        let head = head(5, 3, 0);
        assert_eq!(head.after(3).map(epochs), Some(vec![4, 5]));
        assert_eq!(head.after(5).map(epochs), Some(vec![]));
        let short = Head { entries: head.entries.get(3..).unwrap().to_vec(), ..head };
        assert_eq!(short.after(3).map(epochs), Some(vec![4, 5]));
        assert_eq!(short.after(2).map(epochs), None);
        assert_eq!(Head { epoch: 7, ..Head::default() }.after(6).map(epochs), None);
    }

    #[test]
    fn only_settled_entries_leave_and_a_head_of_others_is_full_one_day() {
        let all = head(300, 1_000, 0);
        assert_eq!(all.entries.len(), 300);
        assert!(all.is_full());
        let some = Head { settled: 290, ..all }.with(entry(301, 1_000));
        assert_eq!((some.epoch, some.unsettled().len()), (301, 11));
        assert!(some.entries.len() < 20, "{}", some.entries.len());
        assert!(!some.is_full());
    }
}
