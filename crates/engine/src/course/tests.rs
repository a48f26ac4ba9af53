//! A packed partition is read as the same rows are: from any place, in both orders, by any number of chunks at a time.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use chunk::{Chunk, Codec, Packer, Unpacker};
use model::{
    EventId, Interval, ItemKey, NamespaceName, Order, PartitionKey, Row, RowKey, Rows, SeriesId, TableName,
    TableRef, Timestamp,
};
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use split::CoverLayout;
use store::{Consistency, Scan, ScanPage};

use super::{Course, Wanted};
use crate::SearchQuery;
use crate::query::{Matcher, Seen};

pub(super) fn key(time: i64, event: &str, item: &str) -> RowKey {
    RowKey {
        event_time: Timestamp::from_nanos(time).unwrap(),
        event_id: EventId::from_stored(Bytes::copy_from_slice(event.as_bytes())),
        item_key: ItemKey::from_stored(Bytes::copy_from_slice(item.as_bytes())),
    }
}

fn row(time: i64, event: &str, item: &str) -> Row {
    let value = Bytes::from(format!("{time}{event}{item}"));
    Row { key: key(time, event, item), write_time: time, value, metadata: Bytes::new() }
}

/// The chunks of events at times 0 to 99, of about so many bytes.
pub(super) fn chunks_of(chunk_bytes: u64) -> Vec<Arc<Chunk>> {
    let rows: Vec<Row> = (0..100).rev().map(|time| row(time, "e", "i")).collect();
    let unpacked = |stored: &Row| {
        let header = chunk::Header::decode(&stored.metadata).unwrap();
        Arc::new(Unpacker::default().unpack(header, &stored.value).unwrap())
    };
    packed(&rows, chunk_bytes).iter().map(unpacked).collect()
}

/// Chunks of the rows, newest first as they are stored.
fn packed(rows: &[Row], chunk_bytes: u64) -> Vec<Row> {
    let mut packer = Packer::new(Codec::Lz4, chunk_bytes);
    let mut chunks: Vec<_> = rows.iter().filter_map(|row| packer.push(row.view()).unwrap()).collect();
    chunks.extend(packer.finish().unwrap());
    chunks.iter().map(chunk::Packed::to_row).collect()
}

/// What the contract of the store says.
fn answer(stored: &[Row], scan: &Scan) -> ScanPage {
    let is_behind = |row: &&Row| match &scan.from {
        Bound::Unbounded => true,
        Bound::Included(from) => scan.order.compare(&row.key, from).is_ge(),
        Bound::Excluded(from) => scan.order.compare(&row.key, from).is_gt(),
    };
    let mut found: Vec<&Row> =
        stored.iter().filter(|row| scan.interval.contains(row.key.event_time)).filter(is_behind).collect();
    found.sort_by(|a, b| scan.order.compare(&a.key, &b.key));
    let more = found.len() > scan.rows_max;
    found.truncate(scan.rows_max);
    let rows: Rows = found.into_iter().collect();
    ScanPage { bytes: rows.iter().map(|row| row.logical_bytes()).sum(), rows, more }
}

pub(super) fn scan(order: Order, interval: Interval, from: Bound<RowKey>) -> Scan {
    Scan {
        table: TableRef {
            namespace: NamespaceName::new("n").unwrap(),
            incarnation: 1,
            name: TableName::new("t").unwrap(),
        },
        partition: PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 },
        order,
        interval,
        from,
        rows_max: usize::MAX,
        bytes_max: u64::MAX,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: false,
    }
}

/// All rows that a read gets, and how often it asked.
fn read(stored: &[Row], scan: Scan, rows_at_once: usize) -> store::Result<(Vec<Row>, usize)> {
    read_some(stored, scan, rows_at_once, None)
}

/// The same where not all events are wanted.
fn read_some(
    stored: &[Row],
    scan: Scan,
    rows_at_once: usize,
    filter: Option<&Matcher>,
) -> store::Result<(Vec<Row>, usize)> {
    let mut course = Course::new(scan, CoverLayout::Packed { rows_per_chunk: 2 });
    let (mut rows, mut asked) = (Vec::new(), 0);
    while course.goes_on() {
        let ask = course.ask(Wanted { rows: rows_at_once, rows_max: rows_at_once }, false);
        asked += 1;
        let mut arrived = course.take(answer(stored, &ask))?;
        while let Some(page) = arrived.next(filter)? {
            rows.extend((0..page.len()).filter_map(|at| page.get(at)));
        }
    }
    Ok((rows, asked))
}

/// Keys such as clients can write, and such as positions have.
fn any_key() -> impl Strategy<Value = RowKey> {
    let item =
        prop_oneof![Just(Bytes::new()), Just(Bytes::from_static(&[0xff])), Just(Bytes::from_static(b"a"))];
    (0_i64..12, "[ab]{0,1}", item).prop_map(|(time, event, item)| RowKey {
        item_key: ItemKey::from_stored(item),
        ..key(time, &event, "")
    })
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    proptest::collection::btree_set((0_i64..12, "[ab]", "[ab]"), 0..40)
        .prop_map(|rows| rows.into_iter().rev().map(|(time, event, item)| row(time, &event, &item)).collect())
}

proptest! {
    #[test]
    fn a_packed_partition_is_read_as_its_rows_are(
        rows in any_rows(),
        (chunk_bytes, at_once) in (1_u64..120, 1_usize..60),
        (start, width) in (0_i64..12, 0_i64..14),
        newest in any::<bool>(),
        from in prop_oneof![
            Just(Bound::Unbounded),
            any_key().prop_map(Bound::Included),
            any_key().prop_map(Bound::Excluded),
        ],
    ) {
        let order = if newest { Order::NewestFirst } else { Order::OldestFirst };
        let scan = scan(order, Interval::new(start, start + width).unwrap(), from);
        let expected = answer(&rows, &scan).rows.to_vec();
        let (found, asked) = read(&packed(&rows, chunk_bytes), scan, at_once).unwrap();
        prop_assert_eq!(&found, &expected);
        prop_assert!(asked <= rows.len() + 3, "asked {asked} times");
    }
}

proptest! {
    /// A page that begins in a chunk that is there already gives the same as one that fetches it.
    #[test]
    fn a_read_that_begins_in_a_kept_chunk_gives_the_same(
        rows in any_rows(),
        (chunk_bytes, at_once) in (1_u64..120, 1_usize..60),
        (start, width) in (0_i64..12, 0_i64..14),
        newest in any::<bool>(),
        place in any::<proptest::sample::Index>(),
    ) {
        if rows.is_empty() {
            return Ok(());
        }
        let from = rows[place.index(rows.len())].key.clone();
        let order = if newest { Order::NewestFirst } else { Order::OldestFirst };
        let scan = scan(order, Interval::new(start, start + width).unwrap(), Bound::Excluded(from.clone()));
        let expected = answer(&rows, &scan).rows.to_vec();
        let stored = packed(&rows, chunk_bytes);
        let kept = stored.iter().map(|stored| {
            let header = chunk::Header::decode(&stored.metadata).unwrap();
            Arc::new(Unpacker::default().unpack(header, &stored.value).unwrap())
        }).find(|chunk| chunk.header().oldest <= from && from <= chunk.header().newest).unwrap();
        let mut course = Course::new(scan, CoverLayout::Packed { rows_per_chunk: 2 });
        let here = course.begin_in(&kept);
        let mut found: Vec<Row> =
            here.iter().flat_map(|page| (0..page.len()).filter_map(|at| page.get(at))).collect();
        while course.goes_on() {
            let ask = course.ask(Wanted { rows: at_once, rows_max: at_once }, false);
            let mut arrived = course.take(answer(&stored, &ask)).unwrap();
            while let Some(page) = arrived.next(None).unwrap() {
                found.extend((0..page.len()).filter_map(|at| page.get(at)));
            }
        }
        prop_assert_eq!(found, expected);
    }
}

/// The events of rows, each with its rows.
fn events(rows: &[Row]) -> Vec<Vec<Row>> {
    let same = |a: &Row, b: &Row| (a.key.event_time, &a.key.event_id) == (b.key.event_time, &b.key.event_id);
    rows.chunk_by(same).map(<[Row]>::to_vec).collect()
}

proptest! {
    /// What the filter leaves out does not match; what matches comes whole and in order, and so does the last event of all.
    #[test]
    fn a_filter_leaves_out_only_what_does_not_match(
        rows in any_rows(),
        (chunk_bytes, at_once) in (1_u64..120, 1_usize..60),
        (start, width) in (0_i64..12, 0_i64..14),
        newest in any::<bool>(),
        wanted in prop_oneof![
            Just(SearchQuery::Exists { key: "b".to_owned() }),
            Just(SearchQuery::Exists { key: "c".to_owned() }),
            Just(SearchQuery::Not(vec![SearchQuery::Exists { key: "a".to_owned() }])),
            Just(SearchQuery::Prefix { key: "a".to_owned(), value: Bytes::from_static(b"7") }),
        ],
    ) {
        let matcher = Matcher::new(&wanted).unwrap();
        let order = if newest { Order::NewestFirst } else { Order::OldestFirst };
        let scan = scan(order, Interval::new(start, start + width).unwrap(), Bound::Unbounded);
        let all = events(&answer(&rows, &scan).rows.to_vec());
        let matches = |event: &Vec<Row>| {
            let mut seen = Seen::default();
            event.iter().for_each(|row| matcher.look(row.key.item_key.as_bytes(), &row.value, &mut seen));
            matcher.matches(seen)
        };
        let (found, _) = read_some(&packed(&rows, chunk_bytes), scan, at_once, Some(&matcher)).unwrap();
        let found = events(&found);
        let mut rest = all.iter();
        prop_assert!(found.iter().all(|event| rest.any(|other| other == event)), "in order, and whole");
        let expected: Vec<&Vec<Row>> = all.iter().filter(|event| matches(event)).collect();
        prop_assert_eq!(found.iter().filter(|event| matches(event)).collect::<Vec<_>>(), expected);
        prop_assert_eq!(found.last(), all.last());
    }
}

#[test]
fn a_narrow_read_asks_once_newest_first_and_looks_once_oldest_first() {
    let rows: Vec<Row> = (0..200).rev().map(|time| row(time, "e", "i")).collect();
    let stored = packed(&rows, 100);
    let within = Interval::new(100, 104).unwrap();
    for (order, expected) in [(Order::NewestFirst, 1), (Order::OldestFirst, 2)] {
        let (found, asked) = read(&stored, scan(order, within, Bound::Unbounded), 20).unwrap();
        assert_eq!((found.len(), asked), (4, expected), "{order:?}");
    }
}

#[test]
fn chunks_that_overlap_or_lie_elsewhere_are_damage() {
    let rows: Vec<Row> = (0..40).rev().map(|time| row(time, "e", "i")).collect();
    let stored = packed(&rows, 100);
    let all = || scan(Order::NewestFirst, Interval::ALL, Bound::Unbounded);
    assert_eq!(read(&stored, all(), 100).unwrap().0, rows);
    let problem = |stored: &[Row]| read(stored, all(), 100).unwrap_err().to_string();
    let overlapping = packed(&rows[3..9], 10_000);
    assert!(problem(&[&stored[..], &overlapping[..]].concat()).contains("overlaps"));
    let mut moved = stored.clone();
    moved[1].key = key(500, "e", "");
    assert!(problem(&moved).contains("not its oldest"));
    let mut flipped = stored.clone();
    let mut body = flipped[2].value.to_vec();
    body[5] ^= 1;
    flipped[2].value = body.into();
    assert!(problem(&flipped).contains("checksum"));
    let mut row_between = stored;
    row_between.push(row(7, "x", "i"));
    assert!(problem(&row_between).contains("damaged"));
}
