//! Two partitions with one token: an enumeration may end between them and must go on there.

use model::{PartitionKey, SeriesId};
use store::conformance::{Fixture, row};

use crate::{node, shared};

/// Murmur3 as Cassandra's ring uses it: constants, one block forth, and the block that leads to a given state.
mod murmur3 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    const D1: u64 = 0x52dc_e729;
    const D2: u64 = 0x3849_5ab5;

    pub(super) type State = (u64, u64);

    pub(super) fn forth((h1, h2): State, block: [u8; 16]) -> State {
        let (k1, k2) = halves(block);
        let k1 = k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
        let k2 = k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
        let h1 = (h1 ^ k1).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(D1);
        let h2 = (h2 ^ k2).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(D2);
        (h1, h2)
    }

    /// The only block that leads from one state to another.
    pub(super) fn between((h1, h2): State, to: State) -> [u8; 16] {
        let back = |sum: u64, less: u64| sum.wrapping_sub(less).wrapping_mul(inverse(5));
        let k1 = h1 ^ back(to.0, D1).wrapping_sub(h2).rotate_right(27);
        let k2 = h2 ^ back(to.1, D2).wrapping_sub(to.0).rotate_right(31);
        let k1 = k1.wrapping_mul(inverse(C2)).rotate_right(31).wrapping_mul(inverse(C1));
        let k2 = k2.wrapping_mul(inverse(C1)).rotate_right(33).wrapping_mul(inverse(C2));
        let mut block = [0; 16];
        block[..8].copy_from_slice(&k1.to_le_bytes());
        block[8..].copy_from_slice(&k2.to_le_bytes());
        block
    }

    fn halves(block: [u8; 16]) -> (u64, u64) {
        let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        (half(&block[..8]), half(&block[8..]))
    }

    /// The inverse of an odd number modulo 2^64: every step doubles the bits that are right.
    fn inverse(odd: u64) -> u64 {
        let step = |inverse: u64| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        (0..6).fold(odd, |inverse, _| step(inverse))
    }
}

/// Two series of 46 bytes whose partitions have the same token, whatever their buckets.
///
/// A key begins with two bytes of length, so its blocks of 16 end behind 14, 30 and 46 bytes of the series. The second
/// block differs; the third brings both to the same state. One in 65,536 such third blocks is text.
fn colliding() -> [String; 2] {
    let head = "series of one ";
    let mut first = [0; 16];
    first[1] = 46;
    first[2..].copy_from_slice(head.as_bytes());
    let start = murmur3::forth((0, 0), first);
    let (one, end) = (*b"the first middle", *b"the first ending");
    let goal = murmur3::forth(murmur3::forth(start, one), end);
    let text = |middle: [u8; 16], end: [u8; 16]| {
        let bytes = [head.as_bytes(), &middle, &end].concat();
        String::from_utf8(bytes).unwrap()
    };
    for number in 0_u32.. {
        let mut other = *b"other   ________";
        other[8..].copy_from_slice(format!("{number:08x}").as_bytes());
        let end = murmur3::between(murmur3::forth(start, other), goal);
        if end.is_ascii() {
            return [text(one, *b"the first ending"), text(other, end)];
        }
    }
    panic!("there is always one");
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_with_one_token_are_listed_each_once() {
    let fixture = Fixture::new(std::sync::Arc::new(shared::store().await));
    let table = fixture.made(1).await;
    let series = colliding();
    let partition = |series: &str| PartitionKey {
        series: SeriesId::new(series).unwrap(),
        time_bucket: 0,
        event_bucket: 0,
    };
    for series in series.iter().map(String::as_str).chain(["a", "b", "c", "d", "e", "f"]) {
        fixture.write(&table, &partition(series), &[row(5, "e", "i", "v")]).await;
    }

    let tokens = format!(
        "SELECT token(time_series_id, time_bucket, event_bucket) FROM \"{}\".{} \
         WHERE time_series_id = ? AND time_bucket = 0 AND event_bucket = 0",
        node::keyspace(&table),
        table.name.as_str()
    );
    let session = node::session().await;
    let mut found = Vec::new();
    for series in &series {
        let answer = session.query_unpaged(tokens.clone(), (series,)).await.unwrap();
        found.push(answer.into_rows_result().unwrap().first_row::<(i64,)>().unwrap());
    }
    assert_eq!(found[0], found[1], "the two series do not collide");

    let order = fixture.partitions(&table, 1_000).await;
    assert_eq!(order.len(), 8);
    for partitions_max in 1..=8 {
        assert_eq!(fixture.partitions(&table, partitions_max).await, order, "{partitions_max} a page");
    }
    for (at, place) in order.iter().enumerate() {
        assert_eq!(fixture.partitions_after(&table, Some(place.clone()), 1).await, order[at + 1..]);
    }
}
