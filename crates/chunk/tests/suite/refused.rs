//! What the page says is refused, by its own words, whatever the checksums say: the list that the decoder of the offline verifier
//! is held to as well (`verify/tests/test_chunk.py`).

use chunk::{Error, Header, Limits};
use model::{EventId, ItemKey, Row, RowKey};

use crate::crafted::{
    CODECS, Crafted, ID_LENGTHS, IDS, ITEM_COUNTS, ITEM_KEY_OF, ITEM_KEYS, METADATA, METADATA_OF, TIMES,
    VALUE_LENGTHS, VALUES, WRITE_TIMES, stored_as, varint, varints,
};
use crate::golden;
use crate::hostile::sealed;
use crate::made::{read, row};

const TOTAL: Error = Error::Malformed("a column does not add up");
const FEWER: Error = Error::Malformed("a column has fewer bytes than entries");
const SHORT: Error = Error::Malformed("a column ends too early");
const BEHIND: Error = Error::Malformed("a column goes on behind its end");
const LONG: Error = Error::Malformed("a number is not written in the shortest way");
const WIDE: Error = Error::Malformed("a length does not fit in 32 bits");
const TEXT: Error = Error::Malformed("an id or key is empty, no text, or not written in the shortest way");
const FIRST_USE: Error = Error::Malformed("a dictionary is not in the order of first use");
const ROWS: Error = Error::Malformed("its rows are not in order");
const ENDS: Error = Error::Malformed("its first and last row are not those of the header");
const BYTES: Error = Error::Malformed("its rows have other bytes than the header says");

const UUID: &[u8] = b"0191a2b3-c4d5-76e7-8899-aabbccddeeff";

/// Three events and four rows.
fn vector() -> Crafted {
    Crafted::of(&golden::rows())
}

/// Four events of one row each, with UUIDs, one key and no metadata: each column is written in its plainest way.
fn plain() -> Crafted {
    let id = |event: i64| format!("0191a2b3-c4d5-76e7-8899-aabbccddee0{event}");
    let rows: Vec<Row> =
        (0..4).rev().map(|event| row(1_000 + event, &id(event), "a", 7, (b"value", b""))).collect();
    Crafted::of(&rows)
}

type Case = (&'static str, Crafted, Error);

#[track_caller]
fn check(cases: Vec<Case>) {
    for (name, crafted, error) in cases {
        for codec in CODECS {
            let found = read(&crafted.stored(codec), Limits::default()).map(drop);
            assert_eq!(found, Err(error.clone()), "{name}, {codec:?}");
        }
    }
}

#[test]
fn what_is_put_together_as_it_was_is_read() {
    for crafted in [vector(), plain()] {
        for codec in CODECS {
            let (_, rows) = read(&crafted.stored(codec), Limits::default()).unwrap();
            assert_eq!(Crafted::of(&rows).raw(), crafted.raw());
        }
    }
}

#[test]
fn item_counts() {
    check(vec![
        ("no counts", vector().put(ITEM_COUNTS, []), FEWER),
        ("a count too few", vector().put(ITEM_COUNTS, [2, 2]), FEWER),
        ("a count too many", vector().put(ITEM_COUNTS, [2, 1, 1, 1]), BEHIND),
        ("a one too many", plain().put(ITEM_COUNTS, [1; 5]), BEHIND),
        ("an event without rows", vector().put(ITEM_COUNTS, [2, 0, 2]), TOTAL),
        ("one of as many as rows", plain().put(ITEM_COUNTS, [2, 0, 1, 1]), TOTAL),
        ("ones, and more rows than events", vector().put(ITEM_COUNTS, [1, 1, 1]), TOTAL),
        ("more rows than there are", vector().put(ITEM_COUNTS, [2, 1, 2]), TOTAL),
        ("counts that wrap", vector().put(ITEM_COUNTS, varints(&[u64::from(u32::MAX), 4, 1])), TOTAL),
        ("a count of 33 bits", vector().put(ITEM_COUNTS, varints(&[1 << 32, 1, 1])), WIDE),
        ("a count that does not end", vector().put(ITEM_COUNTS, [2, 1, 0x81]), SHORT),
        ("a count in two bytes", vector().put(ITEM_COUNTS, [0x82, 0, 1, 1]), LONG),
    ]);
}

#[test]
fn times() {
    let most = i64::MAX.unsigned_abs();
    // Four events between the same ends: what wraps twice comes out right in the end.
    let wraps = plain().put(TIMES, varints(&[0, most, most, 2 + 3]));
    check(vec![
        ("a first time that is not 0", vector().put(TIMES, varints(&[1, 297, 2])), TOTAL),
        ("a last time that is not the oldest", vector().put(TIMES, varints(&[0, 298, 1])), TOTAL),
        ("a difference below 0", vector().put(TIMES, varints(&[0, u64::MAX, 301])), TOTAL),
        ("times that wrap", wraps, TOTAL),
        ("a time too few", vector().put(TIMES, [0, 7]), FEWER),
        ("a time too many", vector().behind(TIMES, &[0]), BEHIND),
        ("a time that does not end", vector().put(TIMES, [0, 0x81, 0x81]), SHORT),
        ("times of 70 bits", vector().put(TIMES, [&[0][..], &[0xff; 9], &[3, 0]].concat()), LONG),
    ]);
}

#[test]
fn ids() {
    let texts = |head: &[u8]| [head, &b"event-7\xc3\xbc"[..]].concat();
    let as_text = vector().put(ID_LENGTHS, [36, 7, 2]).put(IDS, texts(UUID));
    let no_text = [&[0; 16][..], b"event-\xff", "\u{fc}".as_bytes()].concat();
    let shared = vector().put(ID_LENGTHS, [0, 8, 1]);
    let packed = plain().columns[IDS].clone();
    check(vec![
        ("a UUID as text", as_text, TEXT),
        ("no text", vector().put(IDS, no_text), TEXT),
        ("half a character each", shared, TEXT),
        ("a length too few", vector().put(ID_LENGTHS, [0, 7]), FEWER),
        ("a length too many", vector().behind(ID_LENGTHS, &[0]), BEHIND),
        ("one among UUIDs", plain().behind(ID_LENGTHS, &[0]), BEHIND),
        ("a length of 33 bits", vector().put(ID_LENGTHS, varints(&[0, 7, 1 << 32])), WIDE),
        ("bytes too few", vector().put(IDS, &texts(&[0; 16])[..24]), SHORT),
        ("bytes left over", vector().behind(IDS, b"x"), BEHIND),
        ("a UUID cut short", vector().put(ID_LENGTHS, [7, 2, 0]).put(IDS, texts(&[])), SHORT),
        ("a byte behind UUIDs", plain().behind(IDS, b"x"), TOTAL),
        ("a UUID too many", plain().behind(IDS, &[0; 16]), TOTAL),
        ("a UUID too few", plain().put(IDS, &packed[16..]), TOTAL),
    ]);
}

#[test]
fn item_keys() {
    check(vec![
        ("an empty key", vector().put(ITEM_KEYS, b"\x00\x01a"), TEXT),
        ("no text", vector().put(ITEM_KEYS, b"\x01\xff\x01a"), TEXT),
        ("half a character each", vector().put(ITEM_KEYS, b"\x01\xc3\x01\xbc"), TEXT),
        ("an entry that nobody uses", vector().behind(ITEM_KEYS, b"\x01c"), TOTAL),
        ("one beside the only one", plain().behind(ITEM_KEYS, b"\x01c"), TOTAL),
        ("an entry that is missing", vector().put(ITEM_KEYS, b"\x01b"), TOTAL),
        ("a row of another entry than the only one", plain().put(ITEM_KEY_OF, [0, 1, 0, 0]), TOTAL),
        ("no entry", plain().put(ITEM_KEYS, []), TOTAL),
        ("entries in another order", vector().put(ITEM_KEY_OF, [1, 0, 0, 0]), FIRST_USE),
        ("an entry far away", vector().put(ITEM_KEY_OF, varints(&[0, 1, 1, 1 << 20])), FIRST_USE),
        ("an entry of 33 bits", vector().put(ITEM_KEY_OF, varints(&[0, 1, 1, 1 << 32])), WIDE),
        ("a row too few", vector().put(ITEM_KEY_OF, [0, 1, 1]), FEWER),
        ("a row too many", vector().behind(ITEM_KEY_OF, &[1]), BEHIND),
        ("one of the only entry", plain().behind(ITEM_KEY_OF, &[0]), BEHIND),
    ]);
}

#[test]
fn metadata() {
    check(vec![
        ("an entry that ends too early", vector().put(METADATA, [9, 1]), SHORT),
        ("an entry whose length does not end", vector().put(METADATA, [0x80]), SHORT),
        ("an entry of 33 bits", vector().put(METADATA, varint(1 << 32)), WIDE),
        ("an entry that nobody uses", vector().behind(METADATA, b"\x01c"), TOTAL),
        ("entries in another order", vector().put(METADATA_OF, [1, 0, 0, 0]), FIRST_USE),
        ("a row too few", vector().put(METADATA_OF, [0, 1, 1]), FEWER),
        ("a row too many", vector().behind(METADATA_OF, &[1]), BEHIND),
    ]);
}

#[test]
fn values_and_write_times() {
    let lengths = |numbers: &[u64]| vector().put(VALUE_LENGTHS, varints(numbers));
    let wide = u64::from(u32::MAX);
    check(vec![
        ("values left over", vector().behind(VALUES, b"x"), TOTAL),
        ("values too few", lengths(&[2, 0, 5, 321]), TOTAL),
        ("lengths that wrap", lengths(&[wide, 1, 0, 327]), TOTAL),
        ("a length of 33 bits", lengths(&[1 << 32, 0, 5, 320]), WIDE),
        ("a length too few", lengths(&[2, 0, 5]), FEWER),
        ("a length too many", lengths(&[2, 0, 5, 320, 0]), BEHIND),
        ("a length in two bytes", vector().put(VALUE_LENGTHS, [0x82, 0, 0, 5, 0xc0, 2]), LONG),
        ("a length that does not end", vector().put(VALUE_LENGTHS, [2, 0, 5, 0xc0]), SHORT),
        ("write times too few", vector().put(WRITE_TIMES, [0; 3]), FEWER),
        ("write times left over", vector().put(WRITE_TIMES, [0; 5]), BEHIND),
        ("one of 70 bits", vector().put(WRITE_TIMES, [&[0xff; 9][..], &[3, 0, 0, 0]].concat()), LONG),
        ("one of eleven bytes", vector().put(WRITE_TIMES, [&[0xff; 10][..], &[1, 0, 0, 0]].concat()), LONG),
    ]);
}

fn key(time: i64, event_id: &str, item_key: &str) -> RowKey {
    let key = row(time, "e", "k", 0, (b"", b"")).key;
    RowKey { event_id: EventId::new(event_id).unwrap(), item_key: ItemKey::new(item_key).unwrap(), ..key }
}

#[test]
fn rows_against_each_other_and_the_header() {
    let start = golden::T;
    let uuid = std::str::from_utf8(UUID).unwrap();
    let told = |change: fn(Header) -> Header| vector().told(change);
    // Of one time, and their ids rise.
    let same_time = plain().put(TIMES, [0; 4]).told(|header| Header {
        newest: RowKey { event_time: header.oldest.event_time, ..header.newest },
        ..header
    });
    let mut rising = same_time.clone();
    rising.columns[IDS][16..48].rotate_left(16);
    let newest = |item: &str| {
        let newest = key(start + 300, uuid, item);
        vector().told(|header| Header { newest, ..header })
    };
    let oldest = key(start, "u", "a");
    check(vec![
        ("items that rise", vector().put(ITEM_KEYS, b"\x01a\x01b"), ROWS),
        ("an item twice", vector().put(ITEM_KEY_OF, [0, 0, 1, 1]), ROWS),
        ("events that rise", rising, ROWS),
        ("another first row", newest("c"), ENDS),
        ("another last row", vector().told(|header| Header { oldest, ..header }), ENDS),
        ("other bytes", told(|header| Header { logical_bytes: 452, ..header }), BYTES),
    ]);
    assert!(read(&same_time.stored(CODECS[0]), Limits::default()).is_ok());
}

#[test]
fn headers() {
    let start = golden::T;
    let disorder = Error::Malformed("its first and last row are not in order");
    let of_events = Error::Malformed("it has no events, or more than rows");
    let one_event = Error::Malformed("its number of events does not fit its first and last");
    let much = |what, found, max| Error::TooLarge { what, found, max };
    let older = key(start, "a", "a");
    check(vec![
        ("no event", vector().told(|header| Header { events: 0, ..header }), of_events.clone()),
        ("more events than rows", vector().told(|header| Header { events: 5, ..header }), of_events),
        (
            "first and last in disorder",
            vector().told(|header| Header { newest: older, ..header }),
            disorder.clone(),
        ),
        ("one row and two keys", vector().told(|header| Header { rows: 1, events: 1, ..header }), disorder),
        ("one event and two keys", vector().told(|header| Header { events: 1, ..header }), one_event),
        (
            "many rows",
            vector().told(|header| Header { rows: 131_073, ..header }),
            much("rows", 131_073, 131_072),
        ),
    ]);
    let good = vector().stored(CODECS[2]);
    let spoiled = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut header = good.metadata.to_vec();
        change(&mut header);
        read(&Row { metadata: sealed(header, &good.value), ..good.clone() }, Limits::default()).unwrap_err()
    };
    // The newest time lies behind the lengths, the oldest behind the UUID and its item.
    let put =
        |at: usize, bytes: &[u8]| spoiled(&|header| header[at..at + bytes.len()].copy_from_slice(bytes));
    let out_of_range = Error::Malformed("a time is out of range");
    assert_eq!(put(28, &9_183_110_400_000_000_001_u64.to_be_bytes()), out_of_range);
    assert_eq!(put(77, &(-1_i64).to_be_bytes()), out_of_range);
    let empty = Error::Malformed("an id or key is empty");
    assert_eq!(spoiled(&|header| drop(header.splice(85..89, [0, 0]))), empty);
    assert_eq!(spoiled(&|header| drop(header.splice(89..92, [0, 0]))), empty);
    assert_eq!(spoiled(&|header| header.insert(92, b'x')), BEHIND);
    assert_eq!(put(20, &((80_u32 << 20) + 1).to_be_bytes()), much("bytes", (80 << 20) + 1, 80 << 20));
    let other = Error::Malformed("the body has another length than its header says");
    assert_eq!(put(24, &7_u32.to_be_bytes()), other);
}

#[test]
fn lengths_of_a_body() {
    let (header, raw) = (vector().header, vector().raw());
    let refused = |stored: &Row| read(stored, Limits::default()).unwrap_err();
    for codec in CODECS {
        let short = stored_as(&header, codec, &raw[..43]);
        assert_eq!(refused(&short), Error::Malformed("the body is too short for its columns"));
        let apart = Error::Malformed("the columns do not fill the body");
        assert_eq!(refused(&stored_as(&header, codec, &[&raw[..], b"x"].concat())), apart);
        assert_eq!(refused(&stored_as(&header, codec, &raw[..raw.len() - 1])), apart);
        for more in [1_u32, u32::MAX] {
            let mut stored = stored_as(&header, codec, &raw);
            let told = Header::decode(&stored.metadata).unwrap();
            let raw_bytes = told.raw_bytes.wrapping_add(more);
            stored.metadata = Header { raw_bytes, ..told }.encode();
            let expect = match codec {
                chunk::Codec::None => "it is not compressed and yet has two lengths",
                _ => "the body does not decompress to its length",
            };
            assert_eq!(refused(&stored), Error::Malformed(expect), "{more}");
        }
    }
}
