//! Limits: what is over them is refused as invalid, and nothing of it is done.

use bytes::Bytes;
use model::Row;
use model::row::{METADATA_BYTES_MAX, VALUE_BYTES_MAX};

use super::Fixture;
use super::fixture::{batch, partition, row, rows, scan};
use crate::{
    Consistency, Durability, Effort, Enumerate, ErrorKind, MetaChange, MetaKey, Result, Scan, limits,
};

fn assert_invalid<T>(what: &str, result: Result<T>) {
    let kind = result.map(drop).map_err(|error| error.kind());
    assert_eq!(kind, Err(ErrorKind::Invalid), "{what}");
}

async fn assert_batch_refused(fixture: &Fixture, table: u32, rows: Vec<Row>) {
    let (table, at) = (fixture.made(table).await, partition("s"));
    let result = fixture.store.upsert(batch(&table, &at, rows), Durability::Buffered).await;
    assert_invalid("batch", result);
    assert_eq!(fixture.read(&table, &at).await, []);
    assert_eq!(fixture.partitions(&table, 10).await, []);
    let sizes = fixture.store.histogram(&table, Effort::Measure).await.expect("histogram").sizes;
    assert_eq!(sizes.count(), 0);
}

/// A batch with too many rows is refused, and none of them is written.
pub async fn a_batch_with_too_many_rows_is_refused_whole(fixture: Fixture) {
    let many = u32::try_from(limits::BATCH_ROWS_MAX).expect("the limit fits") + 1;
    assert_batch_refused(&fixture, 1, rows(many)).await;
}

/// A batch with too many bytes is refused, and none of it is written.
pub async fn a_batch_with_too_many_bytes_is_refused_whole(fixture: Fixture) {
    let value = Bytes::from(vec![7; 1 << 20]);
    let rows = (0..17).map(|time| Row { value: value.clone(), ..row(time, "e", "i", "") }).collect();
    assert_batch_refused(&fixture, 1, rows).await;
}

/// A value or metadata over its limit is refused, and its neighbours with it.
pub async fn a_row_with_too_large_a_column_is_refused(fixture: Fixture) {
    let (small, large) = (row(1, "e", "i", "v"), row(2, "e", "i", "v"));
    let value = Bytes::from(vec![7; VALUE_BYTES_MAX + 1]);
    assert_batch_refused(&fixture, 1, vec![small.clone(), Row { value, ..large.clone() }]).await;
    let metadata = Bytes::from(vec![7; METADATA_BYTES_MAX + 1]);
    assert_batch_refused(&fixture, 2, vec![small, Row { metadata, ..large }]).await;
}

/// A scan that asks for nothing or for too much is refused.
pub async fn a_scan_over_the_limits_is_refused(fixture: Fixture) {
    let table = fixture.made(1).await;
    let good = scan(&table, &partition("s"));
    let bad = [
        Scan { rows_max: 0, ..good.clone() },
        Scan { rows_max: limits::SCAN_ROWS_MAX + 1, ..good.clone() },
        Scan { bytes_max: 0, ..good.clone() },
        Scan { bytes_max: limits::SCAN_BYTES_MAX + 1, ..good.clone() },
    ];
    for scan in bad {
        assert_invalid("scan", fixture.store.scan(scan).await);
    }
    fixture.store.scan(good).await.expect("a scan at the limits");
}

/// An enumeration that asks for nothing or for too much is refused.
pub async fn an_enumeration_over_the_limits_is_refused(fixture: Fixture) {
    let table = fixture.made(1).await;
    let ask = |partitions_max| Enumerate {
        table: table.clone(),
        after: None,
        partitions_max,
        consistency: Consistency::default(),
    };
    for bad in [0, limits::ENUMERATE_MAX + 1, usize::MAX] {
        assert_invalid("enumeration", fixture.store.enumerate(ask(bad)).await);
    }
    fixture.store.enumerate(ask(limits::ENUMERATE_MAX)).await.expect("an enumeration at the limit");
}

/// A metadata value at the limit is kept; one byte more is refused and nothing changes.
pub async fn a_metadata_value_over_the_limit_is_refused(fixture: Fixture) {
    let (store, key) = (&fixture.store, fixture.meta_key("values", "name"));
    let put = |bytes| MetaChange::Put(Bytes::from(vec![7; bytes]));
    assert_invalid("value", store.meta_cas(&key, None, put(limits::META_VALUE_BYTES_MAX + 1)).await);
    assert_eq!(store.meta_get(&key).await.expect("get"), None);
    store.meta_cas(&key, None, put(limits::META_VALUE_BYTES_MAX)).await.expect("a value at the limit");
    let kept = store.meta_get(&key).await.expect("get").expect("the record is there");
    assert_eq!(kept.value.len(), limits::META_VALUE_BYTES_MAX);
}

/// A metadata group or name over the limit, or empty, is refused by every call.
pub async fn a_metadata_key_over_the_limits_is_refused(fixture: Fixture) {
    let (store, long) = (&fixture.store, vec![b'x'; limits::META_KEY_BYTES_MAX + 1]);
    let good = fixture.meta_key("keys", "name");
    for part in [long, Vec::new()] {
        let bad =
            [MetaKey::new(part.clone(), good.name.clone()), MetaKey::new(good.group.clone(), part.clone())];
        for key in &bad {
            assert_invalid("get", store.meta_get(key).await);
            assert_invalid("put", store.meta_cas(key, None, MetaChange::Put(Bytes::new())).await);
            assert_invalid("remove", store.meta_cas(key, None, MetaChange::Remove).await);
        }
        assert_invalid("range", store.meta_range(&part, None, 10).await);
    }
}

/// A metadata name of the largest length is kept whole.
pub async fn the_longest_metadata_names_are_told_apart(fixture: Fixture) {
    let store = &fixture.store;
    let long = |last: &str| fixture.meta_key("long", &("x".repeat(limits::META_KEY_BYTES_MAX - 1) + last));
    for last in ["a", "b"] {
        let put = MetaChange::Put(Bytes::from(last.to_owned()));
        store.meta_cas(&long(last), None, put).await.expect("a name at the limit");
    }
    for last in ["a", "b"] {
        assert_eq!(store.meta_get(&long(last)).await.expect("get").expect("the record is there").value, last);
    }
}

/// A metadata range that asks for nothing or for too much is refused.
pub async fn a_metadata_range_over_the_limits_is_refused(fixture: Fixture) {
    let (store, group) = (&fixture.store, fixture.meta_key("range", "name").group);
    for bad in [0, limits::META_RANGE_MAX + 1, usize::MAX] {
        assert_invalid("range", store.meta_range(&group, None, bad).await);
    }
    let page = store.meta_range(&group, None, limits::META_RANGE_MAX).await.expect("a range at the limit");
    assert_eq!((page.records.len(), page.more), (0, false));
}
