//! Blocked ids: asked for, removed, and listed by pages.

use engine::{BLOCKS_PER_CHANGE_MAX, Block, Error, NewBlock, Reason, Result};
use model::{NamespaceName, SeriesId};

use super::namespace::namespace_name;
use super::time::{time_from_wire, timestamp_to_wire};
use crate::admin::v1;

/// The blocks that a request asks for. The engine checks their texts and times.
pub fn new_blocks(wire: v1::AddBlockRequest) -> Result<(NamespaceName, Vec<NewBlock>)> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    check_some("blocks", wire.blocks.len())?;
    let blocks = wire.blocks.into_iter().map(new_block).collect::<Result<_>>()?;
    Ok((namespace, blocks))
}

fn new_block(wire: v1::Block) -> Result<NewBlock> {
    let expires = wire.expire_time.map(|time| time_from_wire("blocks.expire_time", time)).transpose()?;
    Ok(NewBlock {
        series: series("blocks.time_series_id", &wire.time_series_id)?,
        reads: wire.reads,
        writes: wire.writes,
        reason: wire.reason,
        author: wire.author,
        expires,
        etag: Some(wire.etag).filter(|etag| !etag.is_empty()),
    })
}

/// The ids whose blocks a request removes.
pub fn unblocked(wire: &v1::RemoveBlockRequest) -> Result<(NamespaceName, Vec<SeriesId>)> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    check_some("time_series_ids", wire.time_series_ids.len())?;
    let ids = wire.time_series_ids.iter().map(|id| series("time_series_ids", id)).collect::<Result<_>>()?;
    Ok((namespace, ids))
}

fn series(field: &str, id: &str) -> Result<SeriesId> {
    SeriesId::new(id).map_err(|error| Error::field(field, error))
}

fn check_some(field: &str, count: usize) -> Result<()> {
    if count == 0 { Err(Error::field(field, "is empty; send at least one")) } else { Ok(()) }
}

/// A block as it is kept.
pub fn block_to_wire(block: &Block) -> v1::Block {
    v1::Block {
        time_series_id: block.series.as_str().to_owned(),
        reads: block.reads,
        writes: block.writes,
        reason: block.reason.clone(),
        author: block.author.clone(),
        expire_time: block.expires.map(timestamp_to_wire),
        create_time: Some(timestamp_to_wire(block.created)),
        etag: block.etag(),
    }
}

/// The page of `blocks`, which are in the order of their ids, that a request asks for. A token is the last id of the page
/// before, so it stays right whatever is blocked and unblocked meanwhile.
pub fn block_page(wire: &v1::ListBlocksRequest, blocks: &[Block]) -> Result<v1::ListBlocksResponse> {
    let size = match usize::try_from(wire.page_size) {
        Ok(0) => BLOCKS_PER_CHANGE_MAX,
        Ok(size) if size <= BLOCKS_PER_CHANGE_MAX => size,
        _ => {
            let message = format!(
                "page_size: is {}; send 1 to {BLOCKS_PER_CHANGE_MAX}, or 0 for the default",
                wire.page_size
            );
            return Err(Error::new(Reason::RangeTooWide, message));
        }
    };
    let after = wire.page_token.as_str();
    if after.len() > model::id::SERIES_ID_BYTES_MAX {
        let message = "page_token: is not one of this call; send the one from the page before, or none";
        return Err(Error::new(Reason::PageTokenInvalid, message));
    }
    let mut rest = blocks.iter().filter(|block| block.series.as_str() > after);
    let page: Vec<v1::Block> = rest.by_ref().take(size).map(block_to_wire).collect();
    let last = page.last().map(|block| block.time_series_id.clone());
    let next_page_token = rest.next().and(last).unwrap_or_default();
    Ok(v1::ListBlocksResponse { blocks: page, next_page_token })
}

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::*;

    fn asked(block: v1::Block) -> std::result::Result<NewBlock, String> {
        let request =
            v1::AddBlockRequest { namespace: "plays".to_owned(), blocks: vec![block], ..Default::default() };
        new_blocks(request).map(|(_, mut blocks)| blocks.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_block_passes_as_it_came_and_is_shown_as_it_is_kept() {
        let wire = v1::Block {
            time_series_id: "s".to_owned(),
            writes: true,
            reason: "why".to_owned(),
            author: "who".to_owned(),
            expire_time: Some(Timestamp { seconds: 7, nanos: 5 }),
            ..v1::Block::default()
        };
        let new = asked(wire.clone()).unwrap();
        let expect = NewBlock {
            series: SeriesId::new("s").unwrap(),
            reads: false,
            writes: true,
            reason: "why".to_owned(),
            author: "who".to_owned(),
            expires: Some(7_000_000_005),
            etag: None,
        };
        assert_eq!(new, expect);
        let replacing = asked(v1::Block { etag: "e".to_owned(), ..wire.clone() }).unwrap();
        assert_eq!(replacing, NewBlock { etag: Some("e".to_owned()), ..expect });
        let kept = Block {
            series: new.series,
            reads: new.reads,
            writes: new.writes,
            reason: new.reason,
            author: new.author,
            created: 3,
            expires: new.expires,
        };
        let create_time = Some(Timestamp { seconds: 0, nanos: 3 });
        assert_eq!(block_to_wire(&kept), v1::Block { create_time, etag: kept.etag(), ..wire });
    }

    #[test]
    fn what_says_nothing_is_refused() {
        let wire = v1::Block { time_series_id: "s".to_owned(), ..v1::Block::default() };
        assert_eq!(asked(wire.clone()).unwrap().expires, None);
        let empty = asked(v1::Block::default()).unwrap_err();
        assert!(empty.starts_with("blocks.time_series_id: series id is not valid: it is empty"), "{empty}");
        let odd = v1::Block { expire_time: Some(Timestamp { seconds: 1, nanos: -1 }), ..wire };
        assert!(asked(odd).unwrap_err().starts_with("blocks.expire_time: has nanos outside"));
        let none = v1::AddBlockRequest { namespace: "plays".to_owned(), ..Default::default() };
        assert_eq!(new_blocks(none).unwrap_err().to_string(), "blocks: is empty; send at least one");
        let none = v1::RemoveBlockRequest { namespace: "plays".to_owned(), ..Default::default() };
        assert_eq!(unblocked(&none).unwrap_err().to_string(), "time_series_ids: is empty; send at least one");
    }

    #[test]
    fn pages_give_every_block_once() {
        let block = |series: &str| Block {
            series: SeriesId::new(series).unwrap(),
            reads: true,
            writes: true,
            reason: String::new(),
            author: String::new(),
            created: 0,
            expires: None,
        };
        let blocks = ["a", "b", "c", "d"].map(block);
        let page = |page_size, page_token: &str| {
            let namespace = "plays".to_owned();
            let request = v1::ListBlocksRequest { namespace, page_size, page_token: page_token.to_owned() };
            let page = block_page(&request, &blocks).map_err(|error| error.reason().as_str())?;
            let ids: String = page.blocks.into_iter().map(|block| block.time_series_id).collect();
            Ok((ids, page.next_page_token))
        };
        let found = |ids: &str, next: &str| Ok((ids.to_owned(), next.to_owned()));
        assert_eq!(page(0, ""), found("abcd", ""));
        assert_eq!(page(3, ""), found("abc", "c"));
        assert_eq!(page(3, "c"), found("d", ""));
        assert_eq!(page(2, "b"), found("cd", ""));
        assert_eq!(page(2, "bb"), found("cd", ""));
        assert_eq!((page(-1, ""), page(1_001, "")), (Err("RANGE_TOO_WIDE"), Err("RANGE_TOO_WIDE")));
        assert_eq!(page(1, &"x".repeat(513)), Err("PAGE_TOKEN_INVALID"));
    }
}
