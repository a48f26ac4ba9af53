//! Whether two copies hold the same rows: number, bytes, first and last key, and a keyed sum over all rows.
//!
//! Each row is hashed with a key that only the split knows, over a form in which every part has its length before it; the
//! first 16 bytes are added up. A sum does not depend on the order, can be taken in parts and goes on after a stop; a row that
//! comes twice changes it, which an exclusive or would not notice. Write times are left out: a copy keeps them, but they say
//! nothing about what a client sees. Rows come newest first, the order in which Cassandra keeps them.

use model::{RowKey, RowView};
use serde::{Deserialize, Serialize};

/// A row's identity, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// When the event happened, nanoseconds since 1970.
    pub event_time: i64,
    /// Which event.
    pub event_id: String,
    /// Which item of it.
    pub item_key: String,
}

impl Key {
    /// The key of a row.
    pub fn of(row: &RowView<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let event_time = row.event_time.nanos();
        Self { event_time, event_id: text(row.event_id), item_key: text(row.item_key) }
    }

    /// The same for a scan to go on behind; none if it is not one.
    pub fn to_row_key(&self) -> Option<RowKey> {
        Some(RowKey {
            event_time: model::Timestamp::from_nanos(self.event_time).ok()?,
            event_id: model::EventId::from_stored(self.event_id.clone().into()),
            item_key: model::ItemKey::from_stored(self.item_key.clone().into()),
        })
    }
}

/// The secret of one attempt: nobody who writes events can make two that cancel out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DigestKey([u8; 32]);

impl DigestKey {
    /// Takes random bytes.
    pub const fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// As text, for the record.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From the record; none if it is not one.
    pub fn from_hex(text: &str) -> Option<Self> {
        let pair =
            |at: usize| text.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let mut key = [0; 32];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = pair(at)?;
        }
        (text.len() == 64).then_some(Self(key))
    }
}

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey(..)")
    }
}

/// What a scan adds up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digest {
    /// How many rows.
    pub rows: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// The sum over all rows, modulo 2^128.
    #[serde(with = "hex")]
    pub checksum: u128,
    /// The oldest key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Key>,
    /// The newest key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Key>,
}

impl Digest {
    /// The digest of both sets of rows together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let least = |a: &Option<Key>, b: &Option<Key>| a.iter().chain(b).min().cloned();
        let greatest = |a: &Option<Key>, b: &Option<Key>| a.iter().chain(b).max().cloned();
        Self {
            rows: self.rows + other.rows,
            bytes: self.bytes + other.bytes,
            checksum: self.checksum.wrapping_add(other.checksum),
            first: least(&self.first, &other.first),
            last: greatest(&self.last, &other.last),
        }
    }

    /// The digest without its oldest rows, which add up to `oldest`; `first` is the oldest key of the others. Nothing is left
    /// where that is none.
    #[must_use]
    pub fn without(&self, oldest: &Self, first: Option<Key>) -> Self {
        if first.is_none() {
            return Self::default();
        }
        Self {
            rows: self.rows.saturating_sub(oldest.rows),
            bytes: self.bytes.saturating_sub(oldest.bytes),
            checksum: self.checksum.wrapping_sub(oldest.checksum),
            first,
            last: self.last.clone(),
        }
    }

    /// As people compare it.
    pub fn checksum_hex(&self) -> String {
        format!("{:032x}", self.checksum)
    }
}

/// Adds rows up, newest first.
#[derive(Clone, Debug)]
pub struct Digester {
    key: DigestKey,
    digest: Digest,
    buffer: Vec<u8>,
    /// The row before.
    before: Option<(i64, Vec<u8>, Vec<u8>)>,
}

impl Digester {
    /// Begins, or goes on behind what `digest` holds.
    pub fn new(key: DigestKey, digest: Digest) -> Self {
        let before = digest
            .first
            .clone()
            .map(|first| (first.event_time, first.event_id.into(), first.item_key.into()));
        Self { key, digest, buffer: Vec::new(), before }
    }

    /// Adds a row. False: it does not come behind the one before, so the scan is not one of a partition.
    #[must_use]
    pub fn add(&mut self, row: &RowView<'_>) -> bool {
        let time = row.event_time.nanos();
        let is_older = self.before.as_ref().is_none_or(|(before, event_id, item_key)| {
            (time, row.event_id, row.item_key) < (*before, event_id.as_slice(), item_key.as_slice())
        });
        if !is_older {
            return false;
        }
        if self.digest.last.is_none() {
            self.digest.last = Some(Key::of(row));
        }
        let (before, event_id, item_key) = self.before.get_or_insert_default();
        *before = time;
        event_id.clear();
        event_id.extend_from_slice(row.event_id);
        item_key.clear();
        item_key.extend_from_slice(row.item_key);
        self.digest.rows += 1;
        self.digest.bytes += row.logical_bytes();
        self.digest.checksum = self.digest.checksum.wrapping_add(self.hash(row));
        true
    }

    fn hash(&mut self, row: &RowView<'_>) -> u128 {
        self.buffer.clear();
        self.buffer.extend_from_slice(&row.event_time.nanos().to_be_bytes());
        for part in [row.event_id, row.item_key, row.value, row.metadata] {
            self.buffer.extend_from_slice(&(part.len() as u64).to_be_bytes());
            self.buffer.extend_from_slice(part);
        }
        let hash = blake3::keyed_hash(&self.key.0, &self.buffer);
        let mut first = [0; 16];
        first.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
        u128::from_be_bytes(first)
    }

    /// What it has come to so far.
    pub fn digest(&self) -> Digest {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let first = self.before.as_ref().map(|(event_time, event_id, item_key)| Key {
            event_time: *event_time,
            event_id: text(event_id),
            item_key: text(item_key),
        });
        Digest { first, ..self.digest.clone() }
    }

    /// Logical bytes so far.
    pub const fn bytes(&self) -> u64 {
        self.digest.bytes
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(sum: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{sum:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
