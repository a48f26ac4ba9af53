//! Keys: every legal id and time is told apart from every other, and ordered by its bytes.

use model::id::{EVENT_ID_BYTES_MAX, ITEM_KEY_BYTES_MAX, SERIES_ID_BYTES_MAX};
use model::{Order, PartitionKey, Row, Timestamp};

use super::Fixture;
use super::fixture::{bucket, partition, row, scan};

/// Largest bucket that every backend can hold: Cassandra's integers are 32 bits with a sign.
const BUCKET_MAX: u32 = i32::MAX.unsigned_abs();

/// Ids that naive encodings confuse or order wrongly, in the order of their bytes.
const TRICKY: [&str; 14] = [
    "\0",
    "\0\0",
    "\0\u{1}",
    "\u{1}",
    "a",
    "a\0",
    "a\0\0",
    "a\0b",
    "a\u{1}",
    "aa",
    "ab",
    "b",
    "\u{FF}",
    "\u{10FFFF}",
];

/// Writes rows in reverse and asserts that both directions read them in order.
async fn assert_ordered(fixture: &Fixture, ordered: &[Row]) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let reversed: Vec<Row> = ordered.iter().rev().cloned().collect();
    fixture.write(&table, &at, &reversed).await;
    assert_eq!(fixture.read(&table, &at).await, ordered);
    let mut newest_first = scan(&table, &at);
    newest_first.order = Order::NewestFirst;
    // A page of one row forces the backend to go on behind every tricky key.
    newest_first.rows_max = 1;
    assert_eq!(fixture.walk(newest_first).await, reversed);
}

/// Writes one row into each partition and asserts that each holds its own and is listed once.
async fn assert_apart(fixture: &Fixture, partitions: &[PartitionKey]) {
    let table = fixture.made(1).await;
    let rows: Vec<Row> = (0..partitions.len()).map(|n| row(5, "e", "i", &n.to_string())).collect();
    for (at, row) in partitions.iter().zip(&rows) {
        fixture.write(&table, at, std::slice::from_ref(row)).await;
    }
    for (at, row) in partitions.iter().zip(&rows) {
        assert_eq!(fixture.read(&table, at).await, std::slice::from_ref(row), "{at:?}");
    }
    let mut listed = fixture.partitions(&table, 3).await;
    listed.sort();
    let mut expected = partitions.to_vec();
    expected.sort();
    assert_eq!(listed, expected);
}

/// Event ids with zero bytes, with the highest characters and prefixes of one another are ordered by their bytes.
pub async fn event_ids_are_ordered_by_their_bytes(fixture: Fixture) {
    assert_ordered(&fixture, &TRICKY.map(|id| row(5, id, "i", id))).await;
}

/// The same of item keys.
pub async fn item_keys_are_ordered_by_their_bytes(fixture: Fixture) {
    assert_ordered(&fixture, &TRICKY.map(|key| row(5, "e", key, key))).await;
}

/// An event id is compared whole before any item key, whatever bytes lie at its end.
pub async fn event_ids_go_before_item_keys(fixture: Fixture) {
    let mut ordered = Vec::new();
    for event in TRICKY {
        ordered.extend(TRICKY.map(|item| row(5, event, item, "")));
    }
    assert_ordered(&fixture, &ordered).await;
}

/// Ids of the largest length are kept whole: they differ only in their last byte.
pub async fn the_longest_ids_are_kept_whole(fixture: Fixture) {
    let long = |max: usize, last: &str| "x".repeat(max - 1) + last;
    let mut ordered = Vec::new();
    for event in ["a", "b"] {
        for item in ["a", "b"] {
            ordered.push(row(5, &long(EVENT_ID_BYTES_MAX, event), &long(ITEM_KEY_BYTES_MAX, item), item));
        }
    }
    assert_ordered(&fixture, &ordered).await;
}

/// The first and the last time that can be placed are kept, and times are ordered as numbers.
pub async fn the_first_and_last_times_are_kept(fixture: Fixture) {
    let max = Timestamp::MAX.nanos();
    let times = [0, 1, 255, 256, 65_535, 1 << 31, 1 << 32, (1 << 53) + 1, max - 1, max];
    assert_ordered(&fixture, &times.map(|time| row(time, "e", "i", ""))).await;
}

/// Series whose ids have zero bytes, the highest characters or a common beginning do not see each other's rows.
pub async fn series_ids_are_told_apart(fixture: Fixture) {
    assert_apart(&fixture, &TRICKY.map(partition)).await;
}

/// Series ids of the largest length are kept whole.
pub async fn the_longest_series_ids_are_told_apart(fixture: Fixture) {
    let long = "x".repeat(SERIES_ID_BYTES_MAX - 1);
    let partitions = [partition(&long), partition(&(long.clone() + "a")), partition(&(long + "b"))];
    assert_apart(&fixture, &partitions).await;
}

/// Time buckets and event buckets are told apart, also where one series id begins like another with its buckets.
pub async fn buckets_are_told_apart(fixture: Fixture) {
    let numbers = [0, 1, 2, 255, 256, 65_536, BUCKET_MAX - 1, BUCKET_MAX];
    let mut partitions = Vec::new();
    for series in ["s", "s\0", "s\0\0\0\0"] {
        partitions.extend(numbers.map(|number| bucket(series, number, 3)));
        partitions.extend(numbers.map(|number| bucket(series, 7, number)));
    }
    assert_apart(&fixture, &partitions).await;
}

/// A row of one partition is not in the way of another that lies right beside it.
pub async fn neighbouring_partitions_end_where_they_end(fixture: Fixture) {
    let table = fixture.made(1).await;
    let neighbours =
        [bucket("a", 0, 0), bucket("a", 0, 1), bucket("a", 1, 0), bucket("aa", 0, 0), bucket("b", 0, 0)];
    let edges =
        [row(0, "\0", "\0", "first"), row(Timestamp::MAX.nanos(), "\u{10FFFF}", "\u{10FFFF}", "last")];
    for at in &neighbours {
        fixture.write(&table, at, &edges).await;
    }
    for at in &neighbours {
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let mut one_by_one = scan(&table, at);
            one_by_one.order = order;
            one_by_one.rows_max = 1;
            let mut found = fixture.walk(one_by_one).await;
            found.sort_by(|a, b| a.key.cmp(&b.key));
            assert_eq!(found, edges, "{at:?} {order:?}");
        }
    }
}
