//! What the audit says of a change of blocked ids: those that it touched, before and after. Pure.
//!
//! The stored head only names chunks, which are gone by the time somebody looks.

use serde::Serialize;

use super::list::{Block, BlockList};
use super::record::BlockRecord;

/// Bytes of ids, reasons and authors that one side of an audited change shows; further blocks are counted.
const BYTES_MAX: usize = 8 << 10;

/// The blocks of some ids.
#[derive(Debug, Serialize)]
pub(super) struct Audited {
    blocks: Vec<BlockRecord>,
    /// How many there are besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
}

impl Audited {
    /// What `list` says of the ids of `touched`.
    pub(super) fn of(list: &BlockList, touched: &[Block]) -> Self {
        let found: Vec<&Block> = touched.iter().filter_map(|block| list.get(&block.series)).collect();
        let mut bytes = 0;
        let fits = |block: &&&Block| {
            bytes += block.series.as_str().len() + block.reason.len() + block.author.len();
            bytes <= BYTES_MAX
        };
        let blocks: Vec<BlockRecord> =
            found.iter().take_while(fits).map(|block| BlockRecord::from(*block)).collect();
        let more = found.len() - blocks.len();
        Self { blocks, more: (more > 0).then_some(more) }
    }
}

#[cfg(test)]
mod tests {
    use model::SeriesId;

    use super::super::list::{BlockChange, NewBlock};
    use super::*;

    fn new(series: &str, reason: &str) -> NewBlock {
        NewBlock {
            series: SeriesId::new(series).unwrap(),
            reads: true,
            writes: false,
            reason: reason.to_owned(),
            author: "ann".to_owned(),
            expires: None,
            etag: None,
        }
    }

    /// Before and after adding these.
    fn shown(list: &BlockList, blocks: Vec<NewBlock>) -> [String; 2] {
        let (after, touched) = list.changed(&BlockChange::Add(blocks), 7).unwrap();
        [list, &after].map(|list| serde_json::to_string(&Audited::of(list, &touched)).unwrap())
    }

    #[test]
    fn only_what_was_touched_is_shown() {
        let add = BlockChange::Add(vec![new("a", "hot"), new("b", "")]);
        let (list, _) = BlockList::default().changed(&add, 7).unwrap();
        let block = |reason: &str| {
            format!(
                r#"{{"series":"a","reads":true,"writes":false,"reason":"{reason}","author":"ann","created":7,"expires":null}}"#
            )
        };
        let expect = ["hot", "hotter"].map(|reason| format!(r#"{{"blocks":[{}]}}"#, block(reason)));
        assert_eq!(shown(&list, vec![new("a", "hotter")]), expect);
        assert_eq!(shown(&BlockList::default(), vec![new("c", "")])[0], r#"{"blocks":[]}"#);
    }

    #[test]
    fn a_large_change_is_counted() {
        let many = (0..1_000).map(|at| new(&format!("{at:03}{}", "s".repeat(500)), "")).collect();
        let [before, after] = shown(&BlockList::default(), many);
        assert_eq!(before, r#"{"blocks":[]}"#);
        assert!(after.len() < 3 * BYTES_MAX && after.ends_with(r#"],"more":984}"#), "{after}");
    }
}
