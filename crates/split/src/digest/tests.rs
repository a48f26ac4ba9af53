//! Digests: what changes them, and what does not.

use bytes::Bytes;
use model::{EventId, ItemKey, Row, Timestamp};
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

use super::*;

const KEY: DigestKey = DigestKey::new([7; 32]);

fn row(time: i64, event: &str, item: &str, value: &[u8], metadata: &[u8]) -> Row {
    Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new(event).unwrap(),
            item_key: ItemKey::new(item).unwrap(),
        },
        write_time: 1,
        value: Bytes::copy_from_slice(value),
        metadata: Bytes::copy_from_slice(metadata),
    }
}

fn digest(rows: &[Row]) -> Digest {
    digest_with(KEY, rows)
}

fn digest_with(key: DigestKey, rows: &[Row]) -> Digest {
    let mut digester = Digester::new(key, Digest::default());
    assert!(rows.iter().all(|row| digester.add(&row.view())), "rows come in order");
    digester.digest()
}

#[test]
fn the_checksum_never_changes() {
    let rows = [row(2, "b", "k", b"", b"meta"), row(1, "a", "k", b"value", b"")];
    let digest = digest(&rows);
    assert_eq!((digest.rows, digest.bytes), (2, 8 + 1 + 1 + 5 + 8 + 1 + 1 + 4));
    assert_eq!(digest.checksum_hex(), GOLDEN);
    let stored = serde_json::to_string(&digest).unwrap();
    assert_eq!(serde_json::from_str::<Digest>(&stored).unwrap(), digest);
}

/// Made with the Python package `blake3`.
const GOLDEN: &str = "c3aeb66522083264ad34c3bf1f206ea8";

/// Made with the Python packages `xxhash` and `blake3`; `docs/formats/splits.md` shows it.
const VECTOR: &str = include_str!("../../golden/vector.txt");

#[test]
fn the_published_vector_holds() {
    let bytes = |text: &str| -> Vec<u8> {
        let text = text.trim_start_matches('-');
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
    };
    let key = DigestKey::new(std::array::from_fn(|at| u8::try_from(at).unwrap()));
    let by_hash = crate::Strategy::EventBucket { target_event_buckets: 3 };
    let by_time =
        crate::Strategy::TimeRange { boundaries: vec![1_774_681_200_000_000_001, 1_774_681_200_000_000_003] };
    let mut rows = Vec::new();
    let lines: Vec<Vec<&str>> =
        VECTOR.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect()).collect();
    for line in lines.iter().filter(|line| line[0] != "=") {
        let row = row(line[0].parse().unwrap(), line[1], line[2], &bytes(line[3]), &bytes(line[4]));
        let (time, id) = (row.key.event_time.nanos(), row.key.event_id.as_bytes());
        let hash = model::hash::event_hash(id);
        assert_eq!((format!("{hash:016x}").as_str(), (hash % 4).to_string().as_str()), (line[5], line[6]));
        let targets = [&by_hash, &by_time].map(|strategy| (32 + strategy.target_of(time, id, 4)).to_string());
        assert_eq!(targets, [line[7], line[8]]);
        assert_eq!(digest_with(key, std::slice::from_ref(&row)).checksum_hex(), line[9]);
        rows.push(row);
    }
    let whole = digest_with(key, &rows);
    let shown = [whole.rows.to_string(), whole.bytes.to_string(), whole.checksum_hex()];
    assert_eq!(shown.as_slice(), &lines.last().unwrap()[1..]);
}

#[test]
fn parts_that_move_from_one_field_to_the_next_are_seen() {
    let base = digest(&[row(1, "ab", "c", b"d", b"")]);
    for other in [row(1, "a", "bc", b"d", b""), row(1, "ab", "cd", b"", b""), row(1, "ab", "c", b"", b"d")] {
        assert_ne!(digest(&[other]).checksum, base.checksum);
    }
}

#[test]
fn rows_out_of_order_or_twice_are_no_scan() {
    let (b, a) = (row(1, "a", "k", b"", b""), row(1, "b", "k", b"", b""));
    let mut digester = Digester::new(KEY, Digest::default());
    assert!(digester.add(&b.view()));
    assert!(!digester.add(&a.view()));
    assert!(!digester.add(&b.view()));
    // Also right behind a stop.
    let mut resumed = Digester::new(KEY, digester.digest());
    assert!(!resumed.add(&b.view()));
}

#[test]
fn a_key_reads_back_and_is_never_shown() {
    let key = DigestKey::new(std::array::from_fn(|at| u8::try_from(at).unwrap()));
    assert_eq!(DigestKey::from_hex(&key.to_hex()), Some(key));
    assert_eq!(DigestKey::from_hex("00"), None);
    assert_eq!(DigestKey::from_hex(&"zz".repeat(32)), None);
    assert_eq!(format!("{key:?}"), "DigestKey(..)");
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..4);
    let one = (0_i64..6, "[ab]{1,2}", "[xy]{1,2}", bytes(), bytes());
    proptest::collection::vec(one, 1..24).prop_map(|rows| {
        let mut rows: Vec<Row> = rows
            .iter()
            .map(|(time, event, item, value, metadata)| row(*time, event, item, value, metadata))
            .collect();
        rows.sort_by(|a, b| b.key.cmp(&a.key));
        rows.dedup_by(|a, b| a.key == b.key);
        rows
    })
}

proptest! {
    #[test]
    fn any_change_of_one_row_is_seen(rows in rows(), at in any::<prop::sample::Index>(), kind in 0..3_u8) {
        let before = digest(&rows);
        let mut changed = rows.clone();
        let at = at.index(rows.len());
        match kind {
            0 => { changed.remove(at); }
            1 => {
                let value = [&changed[at].value[..], b"!"].concat();
                changed[at].value = Bytes::from(value);
            }
            _ => changed[at].metadata = Bytes::from([&changed[at].metadata[..], b"!"].concat()),
        }
        prop_assert!(digest(&changed).checksum != before.checksum);
    }

    #[test]
    fn parts_add_up_and_a_stop_changes_nothing(rows in rows(), cut in any::<prop::sample::Index>(), mask in any::<u32>()) {
        let whole = digest(&rows);
        let cut = cut.index(rows.len() + 1);
        let first = digest(&rows[..cut]);
        let mut resumed = Digester::new(KEY, first);
        prop_assert!(rows[cut..].iter().all(|row| resumed.add(&row.view())));
        prop_assert_eq!(&resumed.digest(), &whole);
        let (front, back) = (digest(&rows[..cut]), digest(&rows[cut..]));
        let oldest = front.first.clone();
        prop_assert_eq!(whole.without(&back, oldest), front);
        let (left, right): (Vec<_>, Vec<_>) =
            rows.iter().cloned().enumerate().partition(|(at, _)| mask >> (at % 32) & 1 == 1);
        let part = |rows: Vec<(usize, Row)>| digest(&rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
        prop_assert_eq!(part(left).and(&part(right)), whole);
    }

    #[test]
    fn another_key_gives_another_sum_and_a_doubled_row_does_not_cancel(rows in rows()) {
        let whole = digest(&rows);
        prop_assert!(digest_with(DigestKey::new([8; 32]), &rows).checksum != whole.checksum);
        let one = digest(&rows[..1]);
        prop_assert!(whole.and(&one).and(&one).checksum != whole.checksum);
    }
}

mod prop {
    pub(super) use proptest::sample;
}
