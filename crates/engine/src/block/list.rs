//! The list of one namespace: what is blocked at a moment, and what a change makes of it. Pure.
//!
//! Invariant: a list never has more than [`BLOCKS_MAX`] blocks. One that has expired blocks nothing, and the next change
//! drops it.

use std::collections::BTreeMap;

use model::slice::utc;
use model::{NamespaceName, SeriesId};

use super::etag::check_etag;
use crate::clip::clip;
use crate::{Error, Reason, Result};

/// Ids that a namespace may block.
pub const BLOCKS_MAX: usize = 10_000;
/// Ids that one change may name.
pub const BLOCKS_PER_CHANGE_MAX: usize = 1_000;
/// Bytes of a block's reason.
const REASON_BYTES_MAX: usize = 512;
/// Bytes of the name of its author.
const AUTHOR_BYTES_MAX: usize = 128;
/// What a refusal quotes of an id.
pub(super) const QUOTE_CHARS_MAX: usize = 64;

/// What a client wants to do with a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A block that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBlock {
    /// Whose events.
    pub series: SeriesId,
    /// Reads are refused; where neither reads nor writes are named, both are.
    pub reads: bool,
    /// Writes are refused.
    pub writes: bool,
    /// Why: clients are told. At most 512 bytes.
    pub reason: String,
    /// Who asked for it. At most 128 bytes.
    pub author: String,
    /// From then on it blocks nothing, nanoseconds since 1970; none for ever.
    pub expires: Option<i64>,
    /// Only in place of the block that has this etag; none in place of any.
    pub etag: Option<String>,
}

/// A block as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whose events.
    pub series: SeriesId,
    /// Reads are refused.
    pub reads: bool,
    /// Writes are refused.
    pub writes: bool,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub author: String,
    /// When it was made, nanoseconds since 1970.
    pub created: i64,
    /// From then on it blocks nothing, nanoseconds since 1970; none for ever.
    pub expires: Option<i64>,
}

impl Block {
    fn made(asked: &NewBlock, now: i64) -> Result<Self> {
        for (field, text, max) in
            [("reason", &asked.reason, REASON_BYTES_MAX), ("author", &asked.author, AUTHOR_BYTES_MAX)]
        {
            if text.len() > max {
                let problem = format!("has {} bytes, the limit is {max}; shorten it", text.len());
                return Err(Error::field(&format!("blocks.{field}"), problem));
            }
            if text.contains(char::is_control) {
                let problem = "has a control character; write it on one line of plain text";
                return Err(Error::field(&format!("blocks.{field}"), problem));
            }
        }
        if asked.expires.is_some_and(|expires| expires <= now) {
            return Err(Error::field("blocks.expire_time", "is over already; send a later one, or none"));
        }
        let both = !asked.reads && !asked.writes;
        Ok(Self {
            series: asked.series.clone(),
            reads: asked.reads || both,
            writes: asked.writes || both,
            reason: asked.reason.clone(),
            author: asked.author.clone(),
            created: now,
            expires: asked.expires,
        })
    }

    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn concerns(&self, access: Access) -> bool {
        match access {
            Access::Read => self.reads,
            Access::Write => self.writes,
        }
    }

    /// What a client is told that wanted `access`.
    fn refusal(&self, namespace: &NamespaceName, access: Access) -> Error {
        let access = match access {
            Access::Read => "reads",
            Access::Write => "writes",
        };
        let until = self.expires.map(|expires| format!(" until {}", utc(expires))).unwrap_or_default();
        let why = if self.reason.is_empty() { String::new() } else { format!(" ({})", self.reason) };
        let message = format!(
            "time_series_id `{}` is blocked for {access} in namespace `{}`{until}{why}; use another id, or remove \
             the block with `braid block rm`",
            clip(self.series.as_str(), QUOTE_CHARS_MAX),
            namespace.as_str(),
        );
        Error::new(Reason::IdBlocked, message)
    }
}

/// What becomes of a list.
#[derive(Clone, Debug)]
pub(crate) enum BlockChange {
    /// These are blocked as said here, whatever was said of them before.
    Add(Vec<NewBlock>),
    /// These are blocked no longer; those that were not are passed over.
    Remove(Vec<SeriesId>),
}

/// The blocked ids of one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockList {
    blocks: BTreeMap<SeriesId, Block>,
}

impl BlockList {
    /// What forbids `access` to `series` at `now`.
    pub(crate) fn find(&self, series: &SeriesId, now: i64, access: Access) -> Option<&Block> {
        self.blocks.get(series).filter(|block| block.concerns(access) && !block.is_over(now))
    }

    /// Refuses `access` to a series that is blocked at `now`.
    pub(crate) fn check(
        &self,
        namespace: &NamespaceName,
        series: &SeriesId,
        now: i64,
        access: Access,
    ) -> Result<()> {
        self.find(series, now, access).map_or(Ok(()), |block| Err(block.refusal(namespace, access)))
    }

    /// Those in force at `now`, in the order of their ids.
    pub(crate) fn in_force(&self, now: i64) -> impl Iterator<Item = &Block> {
        self.blocks.values().filter(move |block| !block.is_over(now))
    }

    /// What is kept of a series.
    pub(super) fn get(&self, series: &SeriesId) -> Option<&Block> {
        self.blocks.get(series)
    }

    /// All that are kept, in the order of their ids.
    pub(super) fn all(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values()
    }

    /// The list after `change`, and the blocks that were made or removed by it. Refuses the whole change or does it.
    pub(crate) fn changed(&self, change: &BlockChange, now: i64) -> Result<(Self, Vec<Block>)> {
        let named = match change {
            BlockChange::Add(asked) => asked.len(),
            BlockChange::Remove(series) => series.len(),
        };
        if named > BLOCKS_PER_CHANGE_MAX {
            let message = format!(
                "{named} ids are too many for one request; send at most {BLOCKS_PER_CHANGE_MAX} at a time"
            );
            return Err(Error::new(Reason::RangeTooWide, message));
        }
        let mut next = Self { blocks: self.blocks.clone() };
        next.blocks.retain(|_, block| !block.is_over(now));
        let mut touched = Vec::with_capacity(named);
        match change {
            BlockChange::Add(asked) => {
                for asked in asked {
                    check_etag(asked, self.blocks.get(&asked.series).filter(|block| !block.is_over(now)))?;
                    let block = Block::made(asked, now)?;
                    next.blocks.insert(block.series.clone(), block.clone());
                    touched.push(block);
                }
            }
            BlockChange::Remove(series) => {
                touched.extend(series.iter().filter_map(|series| next.blocks.remove(series)));
            }
        }
        let count = next.blocks.len();
        if count > BLOCKS_MAX {
            let message = format!(
                "the namespace would have {count} blocked ids, the limit is {BLOCKS_MAX}; remove some first"
            );
            return Err(Error::new(Reason::RangeTooWide, message));
        }
        Ok((next, touched))
    }
}

impl FromIterator<Block> for BlockList {
    fn from_iter<T: IntoIterator<Item = Block>>(blocks: T) -> Self {
        Self { blocks: blocks.into_iter().map(|block| (block.series.clone(), block)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_774_656_000_000_000_000;

    fn id(text: &str) -> SeriesId {
        SeriesId::new(text).unwrap()
    }

    fn new(series: &str) -> NewBlock {
        let (reason, author) = ("too hot".to_owned(), "ann".to_owned());
        NewBlock {
            series: id(series),
            reads: false,
            writes: false,
            reason,
            author,
            expires: None,
            etag: None,
        }
    }

    fn added(list: &BlockList, blocks: Vec<NewBlock>) -> Result<BlockList> {
        list.changed(&BlockChange::Add(blocks), NOW).map(|(list, _)| list)
    }

    /// `r`, `w`, `rw` or nothing.
    fn refused(list: &BlockList, series: &str, now: i64) -> String {
        let is = |access, name: &'static str| list.find(&id(series), now, access).map_or("", |_| name);
        format!("{}{}", is(Access::Read, "r"), is(Access::Write, "w"))
    }

    #[test]
    fn a_block_refuses_what_it_names_and_neither_means_both() {
        let blocks = vec![
            NewBlock { reads: true, ..new("a") },
            NewBlock { writes: true, ..new("b") },
            NewBlock { reads: true, writes: true, ..new("c") },
            new("d"),
        ];
        let list = added(&BlockList::default(), blocks).unwrap();
        let found = ["a", "b", "c", "d", "e"].map(|series| refused(&list, series, NOW));
        assert_eq!(found, ["r", "w", "rw", "rw", ""]);
        let again = added(&list, vec![NewBlock { reads: true, ..new("d") }]).unwrap();
        assert_eq!(refused(&again, "d", NOW), "r");
        let gone = BlockChange::Remove(vec![id("a"), id("nobody")]);
        let (list, removed) = again.changed(&gone, NOW).unwrap();
        assert_eq!(removed.iter().map(|block| block.series.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!((refused(&list, "a", NOW), refused(&list, "b", NOW)), (String::new(), "w".to_owned()));
    }

    #[test]
    fn a_block_ends_at_its_expiry_and_the_next_change_drops_it() {
        let list =
            added(&BlockList::default(), vec![NewBlock { expires: Some(NOW + 5), ..new("a") }]).unwrap();
        assert_eq!(
            (refused(&list, "a", NOW + 4), refused(&list, "a", NOW + 5)),
            ("rw".into(), String::new())
        );
        assert_eq!((list.in_force(NOW + 4).count(), list.in_force(NOW + 5).count()), (1, 0));
        let next = |now| list.changed(&BlockChange::Add(vec![new("b")]), now).unwrap().0.all().count();
        assert_eq!((next(NOW + 4), next(NOW + 5)), (2, 1));
        // Nothing is removed of what was over already.
        assert_eq!(list.changed(&BlockChange::Remove(vec![id("a")]), NOW + 5).unwrap().1, []);
    }

    #[test]
    fn what_is_over_a_limit_is_refused_whole() {
        let check = |block: NewBlock, expect: &str| {
            let refused = added(&BlockList::default(), vec![new("fine"), block]).unwrap_err();
            assert_eq!((refused.reason(), refused.to_string().as_str()), (Reason::FieldInvalid, expect));
        };
        check(
            NewBlock { reason: "r".repeat(513), ..new("a") },
            "blocks.reason: has 513 bytes, the limit is 512; shorten it",
        );
        check(
            NewBlock { author: "a".repeat(129), ..new("a") },
            "blocks.author: has 129 bytes, the limit is 128; shorten it",
        );
        check(
            NewBlock { reason: "a\nb".to_owned(), ..new("a") },
            "blocks.reason: has a control character; write it on one line of plain text",
        );
        check(
            NewBlock { expires: Some(NOW), ..new("a") },
            "blocks.expire_time: is over already; send a later one, or none",
        );
        assert!(added(&BlockList::default(), vec![NewBlock { reason: "r".repeat(512), ..new("a") }]).is_ok());
        let many = |from: usize, count: usize| (from..from + count).map(|at| new(&at.to_string())).collect();
        let refused = added(&BlockList::default(), many(0, 1_001)).unwrap_err();
        assert_eq!(refused.to_string(), "1001 ids are too many for one request; send at most 1000 at a time");
        let full =
            (0..10).fold(BlockList::default(), |list, at| added(&list, many(at * 1_000, 1_000)).unwrap());
        assert_eq!(full.all().count(), BLOCKS_MAX);
        assert!(added(&full, vec![new("17")]).is_ok(), "one that is there already takes no place");
        let refused = added(&full, vec![new("one more")]).unwrap_err();
        assert_eq!(refused.reason(), Reason::RangeTooWide);
        assert_eq!(
            refused.to_string(),
            "the namespace would have 10001 blocked ids, the limit is 10000; remove some first"
        );
    }

    #[test]
    fn a_refusal_says_which_why_until_when_and_what_to_do() {
        let name = NamespaceName::new("plays").unwrap();
        let check = |block: NewBlock, expect: &str| {
            let series = block.series.clone();
            let list = added(&BlockList::default(), vec![block]).unwrap();
            let refused = list.check(&name, &series, NOW, Access::Write).unwrap_err();
            assert_eq!((refused.reason(), refused.to_string().as_str()), (Reason::IdBlocked, expect));
        };
        check(
            NewBlock { expires: Some(NOW + 86_399_000_000_000), ..new("user:7") },
            "time_series_id `user:7` is blocked for writes in namespace `plays` until 2026-03-28T23:59:59Z \
             (too hot); use another id, or remove the block with `braid block rm`",
        );
        check(
            NewBlock { reason: String::new(), ..new(&"é".repeat(65)) },
            &format!(
                "time_series_id `{}…` is blocked for writes in namespace `plays`; use another id, or remove the \
                 block with `braid block rm`",
                "é".repeat(64)
            ),
        );
    }
}
