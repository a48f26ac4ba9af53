//! The etag of a block: names its content, so that a change can be made on condition that it is still the same. Pure.
//!
//! Never stored. The hash is the pinned one of the model, so that every server and every build names a block alike.

use model::hash::event_hash;

use super::list::{Block, NewBlock, QUOTE_CHARS_MAX};
use crate::clip::clip;
use crate::{Error, Reason, Result};

impl Block {
    /// Names this block: another one of the series, or the same made anew, has another etag.
    pub fn etag(&self) -> String {
        let mut content = Vec::with_capacity(256);
        for text in [self.series.as_str(), &self.reason, &self.author] {
            content.extend(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            content.extend_from_slice(text.as_bytes());
        }
        content.extend([u8::from(self.reads), u8::from(self.writes)]);
        content.extend(self.created.to_be_bytes());
        content.extend(self.expires.map(i64::to_be_bytes).into_iter().flatten());
        format!("{:016x}", event_hash(&content))
    }
}

/// Refuses a block that was asked for in place of another one than `present`.
pub(super) fn check_etag(asked: &NewBlock, present: Option<&Block>) -> Result<()> {
    let Some(etag) = &asked.etag else { return Ok(()) };
    if present.is_some_and(|present| present.etag() == *etag) {
        return Ok(());
    }
    let what = if present.is_some() { "changed since it was read" } else { "is not there any more" };
    let message = format!(
        "the block of time_series_id `{}` {what}; list the blocks again and repeat, or leave out its etag",
        clip(asked.series.as_str(), QUOTE_CHARS_MAX)
    );
    Err(Error::new(Reason::EtagMismatch, message))
}

#[cfg(test)]
mod tests {
    use model::SeriesId;

    use super::super::list::{BlockChange, BlockList};
    use super::*;

    const NOW: i64 = 1_774_656_000_000_000_000;

    fn new(series: &str, etag: Option<&str>) -> NewBlock {
        NewBlock {
            series: SeriesId::new(series).unwrap(),
            reads: true,
            writes: false,
            reason: "too hot".to_owned(),
            author: "ann".to_owned(),
            expires: Some(NOW + 10),
            etag: etag.map(str::to_owned),
        }
    }

    fn added(list: &BlockList, asked: NewBlock, now: i64) -> Result<(BlockList, Block)> {
        list.changed(&BlockChange::Add(vec![asked]), now).map(|(list, mut made)| (list, made.remove(0)))
    }

    #[test]
    fn every_part_of_a_block_is_in_its_etag() {
        let (_, block) = added(&BlockList::default(), new("s", None), NOW).unwrap();
        // The same on every server, whatever its build.
        assert_eq!(block.etag(), "5a627fbb495a0d77");
        let changes: [fn(&mut Block); 8] = [
            |block| block.series = SeriesId::new("t").unwrap(),
            |block| block.reads = false,
            |block| block.writes = true,
            |block| block.reason.push('!'),
            |block| block.author.clear(),
            |block| (block.reason, block.author) = ("too hota".to_owned(), "nn".to_owned()),
            |block| block.created += 1,
            |block| block.expires = None,
        ];
        let mut etags = vec![block.etag()];
        for change in changes {
            let mut other = block.clone();
            change(&mut other);
            assert!(!etags.contains(&other.etag()), "{other:?}");
            etags.push(other.etag());
        }
    }

    #[test]
    fn a_block_is_replaced_only_if_it_is_the_one_that_was_read() {
        let (list, first) = added(&BlockList::default(), new("s", None), NOW).unwrap();
        let etag = first.etag();
        let (list, second) = added(&list, new("s", Some(&etag)), NOW + 1).unwrap();
        assert_ne!(second.etag(), etag);
        let refused = |list: &BlockList, asked: NewBlock, now| {
            let error = added(list, asked, now).unwrap_err();
            assert_eq!(error.reason(), Reason::EtagMismatch);
            error.to_string()
        };
        let tail = "list the blocks again and repeat, or leave out its etag";
        assert_eq!(
            refused(&list, new("s", Some(&etag)), NOW + 2),
            format!("the block of time_series_id `s` changed since it was read; {tail}")
        );
        let gone = format!("the block of time_series_id `t` is not there any more; {tail}");
        assert_eq!(refused(&list, new("t", Some(&etag)), NOW + 2), gone);
        // One that has expired is not there, whatever is still kept of it.
        let late = NewBlock { expires: None, ..new("s", Some(&second.etag())) };
        assert!(added(&list, late.clone(), NOW + 9).is_ok());
        assert!(refused(&list, late, NOW + 10).contains("is not there any more"));
        // Refused whole.
        let both = BlockChange::Add(vec![new("u", None), new("s", Some(&etag))]);
        assert!(list.changed(&both, NOW + 2).is_err());
    }
}
