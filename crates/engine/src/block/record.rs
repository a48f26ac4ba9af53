//! The stored form of a list: one head that names its chunks, and chunks that are written once. JSON with a version;
//! `docs/formats/catalog.md` describes it.
//!
//! Invariant: the name of a chunk is never used twice, so a chunk that a head names is always the one that was meant.

use bytes::Bytes;
use model::{NamespaceName, SeriesId};
use serde::{Deserialize, Serialize};
use store::{MetaKey, MetaRecord};

use super::list::{Block, BlockList};
use crate::catalog::record::{decode, encode};
use crate::catalog::setting::is_default;
use crate::{Error, Reason, Result};

const VERSION: u32 = 1;
const BLOCKS: &str = "blocks";
/// A chunk is full once its blocks have so many bytes: a quarter of what the store takes.
const CHUNK_BYTES: usize = store::limits::META_VALUE_BYTES_MAX / 4;

/// The state of a list: changed by compare-and-set, and with it the whole list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadRecord {
    version: u32,
    /// How often the list was changed.
    pub(crate) change: u64,
    /// Which attempt made it so: after an unknown outcome this tells whose change it was.
    pub(super) attempt: String,
    /// Where its blocks are.
    pub(super) chunks: Vec<String>,
    /// Of the change of the view that made it so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) epoch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkRecord {
    version: u32,
    blocks: Vec<BlockRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockRecord {
    series: String,
    reads: bool,
    writes: bool,
    reason: String,
    author: String,
    created: i64,
    expires: Option<i64>,
}

impl From<&Block> for BlockRecord {
    fn from(block: &Block) -> Self {
        Self {
            series: block.series.as_str().to_owned(),
            reads: block.reads,
            writes: block.writes,
            reason: block.reason.clone(),
            author: block.author.clone(),
            created: block.created,
            expires: block.expires,
        }
    }
}

impl BlockRecord {
    fn block(self) -> Result<Block> {
        Ok(Block {
            series: SeriesId::new(&self.series)?,
            reads: self.reads,
            writes: self.writes,
            reason: self.reason,
            author: self.author,
            created: self.created,
            expires: self.expires,
        })
    }
}

/// Where the list of one incarnation of a namespace is.
pub(super) struct Home {
    pub(super) head: MetaKey,
    pub(super) chunks: String,
}

impl Home {
    pub(super) fn new(name: &NamespaceName, incarnation: u32) -> Self {
        Self::of(&format!("{}.{incarnation}", name.as_str()))
    }

    /// The same, of `name.incarnation`.
    pub(super) fn of(which: &str) -> Self {
        Self { chunks: format!("{BLOCKS}/{which}"), head: MetaKey::new(BLOCKS, which.to_owned()) }
    }

    /// Where one chunk is.
    pub(super) fn chunk(&self, name: &str) -> MetaKey {
        MetaKey::new(self.chunks.clone(), name.to_owned())
    }
}

impl HeadRecord {
    /// The head that `attempt` makes as change number `change`, and its chunks.
    pub(super) fn new(change: u64, attempt: String, list: &BlockList) -> Result<(Self, Vec<Bytes>)> {
        let values = cut(list)?;
        let chunks = (0..values.len()).map(|at| format!("{change:020}-{attempt}-{at:04}")).collect();
        Ok((Self { version: VERSION, change, attempt, chunks, epoch: 0 }, values))
    }

    /// The same, in force from `epoch` on.
    pub(super) fn at(&self, epoch: u64) -> Self {
        Self { epoch, ..self.clone() }
    }

    /// Where the heads of all namespaces are.
    pub(crate) fn group() -> &'static [u8] {
        BLOCKS.as_bytes()
    }

    /// Whether a group holds heads.
    pub(crate) fn is_group(group: &str) -> bool {
        group == BLOCKS
    }

    /// Whether no head from this one on can name the chunk: it was written for this change or an earlier one.
    pub(super) fn outlives(&self, chunk: &[u8]) -> bool {
        let change = std::str::from_utf8(chunk).ok().and_then(|name| name.get(..20)?.parse::<u64>().ok());
        change.is_some_and(|change| change <= self.change)
            && !self.chunks.iter().any(|name| name.as_bytes() == chunk)
    }

    /// Reads a head back.
    pub(crate) fn decode(stored: &[u8]) -> Result<Self> {
        let head: Self = decode(stored)?;
        check_version(head.version)?;
        Ok(head)
    }

    /// The list, from the chunks that were found; none where one is missing.
    pub(super) fn assemble(&self, found: &[MetaRecord]) -> Result<Option<BlockList>> {
        let mut blocks = Vec::new();
        for name in &self.chunks {
            let Some(stored) = found.iter().find(|record| record.name == name.as_bytes()) else {
                return Ok(None);
            };
            let chunk: ChunkRecord = decode(&stored.value)?;
            check_version(chunk.version)?;
            for block in chunk.blocks {
                blocks.push(block.block()?);
            }
        }
        Ok(Some(blocks.into_iter().collect()))
    }
}

/// The blocks in chunks that the store takes.
fn cut(list: &BlockList) -> Result<Vec<Bytes>> {
    let (mut chunks, mut open, mut bytes) = (Vec::new(), Vec::new(), 0);
    for block in list.all() {
        let record = BlockRecord::from(block);
        bytes += encode(&record)?.len() + 1;
        open.push(record);
        if bytes >= CHUNK_BYTES {
            chunks.push(encode(&ChunkRecord { version: VERSION, blocks: std::mem::take(&mut open) })?);
            bytes = 0;
        }
    }
    if !open.is_empty() {
        chunks.push(encode(&ChunkRecord { version: VERSION, blocks: open })?);
    }
    Ok(chunks)
}

fn check_version(version: u32) -> Result<()> {
    if version == VERSION {
        return Ok(());
    }
    let message =
        format!("blocked ids are stored in version {version}, this program knows {VERSION}; use a newer one");
    Err(Error::new(Reason::ChecksumMismatch, message))
}

#[cfg(test)]
mod tests {
    use store::MetaVersion;

    use super::super::list::{BlockChange, NewBlock};
    use super::*;

    const GOLDEN: &str = include_str!("../../golden/blocks.txt");
    const NOW: i64 = 1_774_656_000_000_000_000;

    fn list(blocks: Vec<NewBlock>) -> BlockList {
        blocks.chunks(1_000).fold(BlockList::default(), |list, blocks| {
            list.changed(&BlockChange::Add(blocks.to_vec()), NOW).unwrap().0
        })
    }

    fn block(series: &str, reason: &str, expires: Option<i64>) -> NewBlock {
        NewBlock {
            series: SeriesId::new(series).unwrap(),
            reads: expires.is_none(),
            writes: true,
            reason: reason.to_owned(),
            author: "ann".to_owned(),
            expires,
            etag: None,
        }
    }

    fn found(head: &HeadRecord, values: Vec<Bytes>) -> Vec<MetaRecord> {
        let record = |(name, value): (&String, Bytes)| MetaRecord {
            name: Bytes::from(name.clone()),
            version: MetaVersion(1),
            value,
        };
        head.chunks.iter().zip(values).map(record).collect()
    }

    #[test]
    fn records_are_written_and_read_as_they_always_were() {
        let list = list(vec![block("user:7", "too hot", None), block("ü\n", "", Some(NOW + 1))]);
        let (head, values) = HeadRecord::new(3, "00ff".to_owned(), &list).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let home = Home::new(&NamespaceName::new("plays").unwrap(), 2);
        let chunk = home.chunk(&head.chunks[0]);
        let written = format!(
            "{} {}\n{}\n{} {}\n{}\n",
            text(&home.head.group),
            text(&home.head.name),
            text(&encode(&head).unwrap()),
            text(&chunk.group),
            text(&chunk.name),
            text(&values[0])
        );
        assert_eq!(written, GOLDEN);
        let lines: Vec<&str> = GOLDEN.lines().collect();
        let read = HeadRecord::decode(lines[1].as_bytes()).unwrap();
        assert_eq!(read, head);
        let stored = found(&read, vec![Bytes::from_static(lines[3].as_bytes())]);
        assert_eq!(read.assemble(&stored).unwrap(), Some(list));
        assert_eq!(read.assemble(&[]).unwrap(), None);
    }

    #[test]
    fn another_version_or_field_is_refused() {
        let (head, values) = HeadRecord::new(1, "a".to_owned(), &list(vec![block("s", "", None)])).unwrap();
        let newer = |bytes: &[u8], from: &str, to: &str| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            assert!(text.contains(from), "{text}");
            Bytes::from(text.replace(from, to))
        };
        for (from, to) in [("\"version\":1", "\"version\":2"), ("\"change\":1", "\"change\":1,\"more\":0")] {
            let refused = HeadRecord::decode(&newer(&encode(&head).unwrap(), from, to)).unwrap_err();
            assert_eq!(refused.reason(), Reason::ChecksumMismatch);
        }
        for (from, to) in [("\"version\":1", "\"version\":2"), ("\"reads\":true", "\"reads\":true,\"x\":0")] {
            let stored = found(&head, vec![newer(&values[0], from, to)]);
            assert_eq!(head.assemble(&stored).unwrap_err().reason(), Reason::ChecksumMismatch);
        }
    }

    #[test]
    fn the_largest_list_there_can_be_reads_back_and_fits_the_store() {
        // Control characters take six bytes each.
        let series = |at: usize| format!("{at:05}{}", "\u{1}".repeat(507));
        let blocks: Vec<NewBlock> =
            (0..super::super::BLOCKS_MAX).map(|at| block(&series(at), &"\"".repeat(512), None)).collect();
        let list = list(blocks);
        let (head, values) = HeadRecord::new(u64::MAX, "f".repeat(32), &list).unwrap();
        let largest = values.iter().map(Bytes::len).max().unwrap();
        assert!(largest <= store::limits::META_VALUE_BYTES_MAX / 2, "{largest}");
        let bytes = encode(&head).unwrap();
        assert!(bytes.len() < 64 << 10, "{} chunks in {} bytes", values.len(), bytes.len());
        let read = HeadRecord::decode(&bytes).unwrap();
        assert_eq!(read.assemble(&found(&read, values)).unwrap(), Some(list));
    }
}
