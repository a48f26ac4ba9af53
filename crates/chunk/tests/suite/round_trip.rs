//! What goes in comes out: rows, their order, write times; in both directions and from any position.

use std::collections::BTreeMap;

use chunk::{Codec, Error, Header, Limits, Packer};
use model::{Interval, Row};
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use crate::made::{pack, read, row, series};

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let id = prop_oneof![
        "[a-zü]{1,4}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[0-9a-fA]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ];
    let bytes = |most| proptest::collection::vec(any::<u8>(), 0..most);
    let time = prop_oneof![0_i64..5, Just(9_183_110_400_000_000_000), 0_i64..9_000_000_000_000_000_000];
    let one = (time, id, "[abü]{1,2}", any::<i64>(), bytes(90), bytes(4));
    proptest::collection::vec(one, 1..40).prop_map(|made| {
        let rows: BTreeMap<_, Row> = made
            .into_iter()
            .map(|(time, id, item, write, value, metadata)| row(time, &id, &item, write, (&value, &metadata)))
            .map(|row| (row.key.clone(), row))
            .collect();
        rows.into_values().rev().collect()
    })
}

fn codecs() -> impl Strategy<Value = Codec> {
    prop_oneof![Just(Codec::None), Just(Codec::Lz4), Just(Codec::Zstd)]
}

proptest! {
    #[test]
    fn rows_come_out_as_they_went_in(rows in rows(), codec in codecs(), chunk_bytes in 0_u64..2_000) {
        let mut found = Vec::new();
        for packed in pack(&rows, codec, chunk_bytes) {
            let stored = packed.to_row();
            prop_assert!(Header::is_chunk(&stored.key));
            let (chunk, of_chunk) = read(&stored, Limits::default()).unwrap();
            let header = chunk.header();
            prop_assert_eq!(header, &packed.header);
            prop_assert_eq!(header.rows as usize, of_chunk.len());
            prop_assert_eq!(header.logical_bytes, of_chunk.iter().map(Row::logical_bytes).sum::<u64>());
            prop_assert_eq!(Some(&header.newest), of_chunk.first().map(|row| &row.key));
            prop_assert_eq!(Some(&header.oldest), of_chunk.last().map(|row| &row.key));
            prop_assert!(stored.key < header.oldest);
            prop_assert_eq!(Some(stored.write_time), of_chunk.iter().map(|row| row.write_time).max());
            // More than a chunk's bytes only for one event.
            prop_assert!(header.events == 1 || header.logical_bytes <= chunk_bytes);
            let backwards: Vec<Row> = chunk.rows().unwrap().iter(0..usize::MAX).rev().map(|row| row.to_row()).collect();
            prop_assert!(backwards.iter().rev().eq(&of_chunk));
            // No event is in two chunks.
            let event = |row: &Row| (row.key.event_time, row.key.event_id.clone());
            prop_assert!(found.last().map(event) != of_chunk.first().map(event));
            found.extend(of_chunk);
        }
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn positions_and_intervals_are_found(rows in rows(), other in rows(), bounds in any::<[u8; 2]>()) {
        let packed = pack(&rows, Codec::Lz4, u64::MAX);
        let (chunk, _) = read(&packed[0].to_row(), Limits::default()).unwrap();
        let found = chunk.rows().unwrap();
        for key in rows.iter().chain(&other).map(|row| &row.key) {
            prop_assert_eq!(found.at_or_older(key), rows.iter().filter(|row| row.key > *key).count());
            prop_assert_eq!(found.older(key), rows.iter().filter(|row| row.key >= *key).count());
        }
        let (start, end) = (bounds[0].min(bounds[1]) % 7, bounds[0].max(bounds[1]));
        let interval = Interval::new(i64::from(start), i64::from(end)).unwrap();
        let inside: Vec<Row> = found.iter(found.inside(interval)).map(|row| row.to_row()).collect();
        let expect: Vec<Row> = rows.iter().filter(|row| interval.contains(row.key.event_time)).cloned().collect();
        let header = chunk.header();
        prop_assert_eq!(header.is_inside(interval), expect.len() == rows.len());
        prop_assert!(header.may_meet(interval) || expect.is_empty());
        prop_assert_eq!(inside, expect);
    }
}

#[test]
fn a_column_is_read_without_the_others() {
    let packed = pack(&series(40), Codec::Zstd, u64::MAX);
    let (chunk, _) = read(&packed[0].to_row(), Limits::default()).unwrap();
    assert_eq!(chunk.events().unwrap().times().len(), 40);
    assert_eq!(chunk.item_keys().unwrap().entries().len(), 3);
    assert_eq!(chunk.metadata().unwrap().index().len(), chunk.header().rows as usize);
}

#[test]
fn what_does_not_compress_is_stored_as_it_is() {
    let mut noise = vec![0; 4_096];
    fastrand::Rng::with_seed(3).fill(&mut noise);
    for codec in [Codec::Lz4, Codec::Zstd] {
        let packed = pack(&[row(5, "e", "k", 1, (&noise, b""))], codec, 100);
        assert_eq!(packed[0].header.codec, Codec::None);
        assert_eq!(pack(&series(100), codec, u64::MAX)[0].header.codec, codec);
    }
}

#[test]
fn rows_out_of_order_or_twice_are_refused() {
    let [old, new] = [1, 2].map(|time| row(time, "e", "k", 1, (b"", b"")));
    for pair in [[&old, &new], [&old, &old]] {
        let mut packer = Packer::new(Codec::None, 100);
        packer.push(pair[0].view()).unwrap();
        assert_eq!(packer.push(pair[1].view()), Err(Error::OutOfOrder));
    }
}
