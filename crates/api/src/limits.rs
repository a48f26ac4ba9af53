//! How many parts a message may have, judged on its bytes before anything is decoded: an empty event takes two bytes on
//! the wire and a hundred in memory.
//!
//! Knows the few messages with lists that a client can make long. Bytes that are not protobuf pass: decoding says what is
//! wrong with them. Limits that concern one event are kept by the engine, which refuses that event and not its neighbours;
//! here only the sums are judged that no request within those limits can reach.

use engine::{
    BLOCKS_PER_CHANGE_MAX, EVENTS_MAX, EXPORT_PARTITIONS_MAX, EXPORT_SERIES_MAX, Error, ITEMS_MAX,
    QUERY_TERMS_MAX, Reason, Result, SERIES_MAX,
};

/// Bytes that a request may have.
pub const REQUEST_BYTES_MAX: usize = 4 << 20;
/// Items that the events of one request may have together.
const ITEMS_TOTAL_MAX: usize = EVENTS_MAX * ITEMS_MAX;
/// Pairs of metadata that the items of one request may have together.
const PAIRS_TOTAL_MAX: usize = EVENTS_MAX * ITEMS_MAX;

/// Queries in a search, trees and terms.
const QUERY_NODES_MAX: usize = 4 * QUERY_TERMS_MAX;
/// Objects, lists and values that a JSON text may have: more than any request within the limits, and few enough to hold.
const JSON_PARTS_MAX: usize = 500_000;

/// Judges a JSON text before it is parsed: two bytes of it can become a hundred in memory.
pub fn check_json(json: &[u8]) -> Result<()> {
    let (mut parts, mut inside, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'{' | b'[' | b',' if !inside => parts += 1,
            _ => {}
        }
    }
    at_most("request body", parts, JSON_PARTS_MAX, "objects, lists and values")
}

/// Judges the bytes of a message by its short name, such as `WriteEventRecordsRequest`.
pub fn check(message: &str, bytes: &[u8]) -> Result<()> {
    match message {
        "WriteEventRecordsRequest" => check_write(bytes),
        "ReadEventRecordsRequest" => {
            at_most("event_filters", lists(bytes, 4).count(), QUERY_TERMS_MAX, "filters")
        }
        // Both name series and query in the same fields.
        "SearchEventRecordsRequest" | "AggregateEventRecordsRequest" => check_search(bytes),
        "AddBlockRequest" => at_most("blocks", lists(bytes, 2).count(), BLOCKS_PER_CHANGE_MAX, "blocks"),
        "RemoveBlockRequest" => {
            at_most("time_series_ids", lists(bytes, 2).count(), BLOCKS_PER_CHANGE_MAX, "ids")
        }
        "ListSplitsRequest" => {
            at_most("states", lists(bytes, 2).count(), crate::convert::STATES_MAX, "states")
        }
        "ListProposalsRequest" => {
            at_most("states", lists(bytes, 2).count(), crate::convert::PROPOSAL_STATES_MAX, "states")
        }
        "PrepareExportRequest" => {
            let slices = lists(bytes, 4).count();
            at_most("time_slices", slices, crate::convert::EXPORT_SLICES_MAX, "slices")
        }
        "ExportRowsRequest" => {
            at_most("partitions", lists(bytes, 6).count(), EXPORT_PARTITIONS_MAX, "partitions")?;
            at_most("time_series_ids", lists(bytes, 7).count(), EXPORT_SERIES_MAX, "series")
        }
        "ExportSplitsRequest" => {
            at_most("ids", lists(bytes, 2).count(), crate::convert::EXPORT_SPLITS_MAX, "splits")
        }
        "UpdateNamespaceRequest" => {
            let paths = lists(bytes, 2).flat_map(|mask| lists(mask, 1)).count();
            at_most("update_mask", paths, crate::convert::MASK_PATHS_MAX, "paths")
        }
        _ => Ok(()),
    }
}

fn check_write(bytes: &[u8]) -> Result<()> {
    let events = lists(bytes, 2).count();
    if events > EVENTS_MAX {
        let message =
            format!("events: {events} are too many for one request; send at most {EVENTS_MAX} at a time");
        return Err(Error::new(Reason::RangeTooWide, message));
    }
    let (mut items, mut pairs) = (0, 0);
    for event in lists(bytes, 2) {
        for item in lists(event, 4) {
            items += 1;
            pairs += lists(item, 3).count();
        }
    }
    at_most("events.event_items", items, ITEMS_TOTAL_MAX, "items in one request")?;
    at_most("events.event_items.value_metadata", pairs, PAIRS_TOTAL_MAX, "pairs in one request")
}

fn check_search(bytes: &[u8]) -> Result<()> {
    at_most("time_series_ids", lists(bytes, 3).count(), SERIES_MAX, "series")?;
    let nodes = lists(bytes, 5).map(|query| nodes(query, QUERY_NODES_MAX)).sum();
    at_most("search_query", nodes, QUERY_NODES_MAX, "queries inside each other")
}

/// The queries in a query and itself, counted up to a little over `max`: it goes no deeper than it counts.
fn nodes(query: &[u8], max: usize) -> usize {
    let mut found = 1;
    for part in lists(query, 1).flat_map(|tree| lists(tree, 2)) {
        if found > max {
            break;
        }
        found += nodes(part, max - found.min(max));
    }
    found
}

fn at_most(field: &str, found: usize, max: usize, what: &str) -> Result<()> {
    if found <= max {
        return Ok(());
    }
    Err(Error::new(Reason::RangeTooWide, format!("{field}: {found} {what}; send at most {max}")))
}

/// The length-delimited fields with this number, in order, as far as the bytes are protobuf.
fn lists(bytes: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let tag = varint(&mut rest)?;
            let payload = match tag & 7 {
                0 => {
                    varint(&mut rest)?;
                    &[][..]
                }
                1 => take(&mut rest, 8)?,
                2 => {
                    let length = usize::try_from(varint(&mut rest)?).ok()?;
                    take(&mut rest, length)?
                }
                5 => take(&mut rest, 4)?,
                _ => return None,
            };
            if tag == (number << 3 | 2) {
                return Some(payload);
            }
        }
    })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use prost::{Message, Name};

    use super::*;
    use crate::v1;

    fn judge<M: Message + Name>(message: &M) -> String {
        let judged = check(M::NAME, &message.encode_to_vec());
        judged.map_or_else(|error| format!("{} {error}", error.reason().as_str()), |()| "ok".to_owned())
    }

    fn write(events: usize, items: usize, pairs: usize) -> String {
        let metadata = (0..pairs).map(|at| (at.to_string(), String::new())).collect();
        let item = v1::EventItem { value_metadata: metadata, ..v1::EventItem::default() };
        let event = v1::Event { event_items: vec![item; items], ..v1::Event::default() };
        judge(&v1::WriteEventRecordsRequest { namespace: "n".to_owned(), events: vec![event; events] })
    }

    #[test]
    fn lists_are_counted_before_they_are_decoded() {
        assert_eq!(write(1_000, 1, 1), "ok");
        assert_eq!(
            write(1_001, 0, 0),
            "RANGE_TOO_WIDE events: 1001 are too many for one request; send at most 1000 at a time"
        );
        // One event over its own limit is for the engine to refuse.
        assert_eq!(write(1, 65, 0), "ok");
        assert_eq!(
            write(1, 64_001, 0),
            "RANGE_TOO_WIDE events.event_items: 64001 items in one request; send at most 64000"
        );
        assert_eq!(
            write(641, 1, 100),
            "RANGE_TOO_WIDE events.event_items.value_metadata: 64100 pairs in one request; send at most 64000"
        );
        let read = |filters| v1::ReadEventRecordsRequest {
            event_filters: vec![v1::EventFilter::default(); filters],
            max_latency: Some(prost_types::Duration { seconds: 1, nanos: 2 }),
            ..v1::ReadEventRecordsRequest::default()
        };
        assert_eq!(judge(&read(64)), "ok");
        assert_eq!(judge(&read(65)), "RANGE_TOO_WIDE event_filters: 65 filters; send at most 64");
        let search = |series, terms| {
            let part = v1::SearchQuery::default();
            let tree = v1::BooleanQuery { operator: 1, search_query: vec![part; terms] };
            let query = v1::search_query::Query::BooleanQuery(tree);
            v1::SearchEventRecordsRequest {
                time_series_ids: vec!["s".to_owned(); series],
                search_query: Some(v1::SearchQuery { query: Some(query) }),
                ..v1::SearchEventRecordsRequest::default()
            }
        };
        assert_eq!(judge(&search(100, 255)), "ok");
        assert_eq!(judge(&search(101, 1)), "RANGE_TOO_WIDE time_series_ids: 101 series; send at most 100");
        let refused = judge(&search(1, 256));
        assert!(refused.starts_with("RANGE_TOO_WIDE search_query: 257 queries"), "{refused}");
        let aggregate = |series, terms| {
            let v1::SearchEventRecordsRequest { time_series_ids, search_query, .. } = search(series, terms);
            judge(&v1::AggregateEventRecordsRequest { time_series_ids, search_query, ..Default::default() })
        };
        assert_eq!(aggregate(100, 255), "ok");
        assert_eq!(aggregate(101, 1), judge(&search(101, 1)));
        assert_eq!(aggregate(1, 256), refused);
        let add = |blocks| crate::admin::v1::AddBlockRequest {
            blocks: vec![crate::admin::v1::Block::default(); blocks],
            ..Default::default()
        };
        assert_eq!(judge(&add(1_000)), "ok");
        assert_eq!(judge(&add(1_001)), "RANGE_TOO_WIDE blocks: 1001 blocks; send at most 1000");
        let remove = |ids| crate::admin::v1::RemoveBlockRequest {
            time_series_ids: vec![String::new(); ids],
            ..Default::default()
        };
        assert_eq!(judge(&remove(1_000)), "ok");
        assert_eq!(judge(&remove(1_001)), "RANGE_TOO_WIDE time_series_ids: 1001 ids; send at most 1000");
        let splits = |states| crate::admin::v1::ListSplitsRequest {
            states: vec!["FAILED".to_owned(); states],
            ..Default::default()
        };
        assert_eq!(judge(&splits(11)), "ok");
        assert_eq!(judge(&splits(12)), "RANGE_TOO_WIDE states: 12 states; send at most 11");
        let update = |paths| crate::admin::v1::UpdateNamespaceRequest {
            update_mask: Some(prost_types::FieldMask { paths: vec!["slo".to_owned(); paths] }),
            ..Default::default()
        };
        assert_eq!(judge(&update(64)), "ok");
        assert_eq!(judge(&update(65)), "RANGE_TOO_WIDE update_mask: 65 paths; send at most 64");
    }

    #[test]
    fn json_is_counted_outside_of_its_strings() {
        let judge = |json: &str| check_json(json.as_bytes()).map_err(|error| error.to_string());
        assert!(judge(&format!("[{}]", "{},".repeat(200_000))).is_ok());
        assert_eq!(
            judge(&format!("[{}]", "{},".repeat(250_000))),
            Err("request body: 500001 objects, lists and values; send at most 500000".to_owned())
        );
        assert!(judge(&format!("\"{}\"", "{[,".repeat(500_000))).is_ok());
        assert!(judge(&format!("\"\\\"{}\"", "{[,".repeat(500_000))).is_ok());
        assert!(judge(&format!("\"\\\\\"{}", "{[,".repeat(500_000))).is_err());
    }

    #[test]
    fn what_is_no_protobuf_passes() {
        for bytes in [&[][..], &[0xFF; 20], &[0x12], &[0x12, 0x05, 1], &[0x0B], &[0x09, 1, 2]] {
            assert!(check("WriteEventRecordsRequest", bytes).is_ok(), "{bytes:?}");
        }
    }
}
