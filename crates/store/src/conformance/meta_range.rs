//! Ranges over metadata: records of one group in the order of their names.

use bytes::Bytes;

use super::Fixture;
use crate::{CasOutcome, MetaChange, MetaKey, MetaRecord, limits};

/// Names that begin alike, have zero bytes or high ones, in the order of their bytes.
const NAMES: [&[u8]; 12] =
    [b"\0", b"\0\0", b"\0\x01", b"a", b"a\0", b"a\0b", b"a\x01", b"aa", b"ab", b"b", b"\xFE", b"\xFF\xFF"];

/// What [`filled`] writes: it tells records of different groups apart.
fn value_of(group: &[u8], name: &[u8]) -> Bytes {
    Bytes::from([group, name].concat())
}

/// Creates a record under each name, last name first; returns the group.
async fn filled(fixture: &Fixture, group: &str) -> Bytes {
    let group = fixture.meta_key(group, "").group;
    for name in NAMES.into_iter().rev() {
        let (key, value) = (MetaKey::new(group.clone(), name), value_of(&group, name));
        let outcome = fixture.store.meta_cas(&key, None, MetaChange::Put(value)).await.expect("cas");
        assert!(matches!(outcome, CasOutcome::Applied(_)), "{outcome:?}");
    }
    group
}

fn names(records: &[MetaRecord]) -> Vec<&[u8]> {
    records.iter().map(|record| record.name.as_ref()).collect()
}

/// A range has every record of its group, in the order of their names, as `get` reads them.
pub async fn a_range_has_every_record_in_order(fixture: Fixture) {
    let group = filled(&fixture, "g").await;
    let page = fixture.store.meta_range(&group, None, 100).await.expect("range");
    assert_eq!((names(&page.records), page.more), (NAMES.to_vec(), false));
    for record in page.records {
        assert_eq!(record.value, value_of(&group, &record.name));
        let key = MetaKey::new(group.clone(), record.name.clone());
        assert_eq!(fixture.store.meta_get(&key).await.expect("get"), Some(record));
    }
}

/// Pages of every size, each behind the last name of the one before, give every record once.
pub async fn ranges_are_read_page_by_page(fixture: Fixture) {
    let group = filled(&fixture, "g").await;
    for records_max in 1..=NAMES.len() + 1 {
        let mut found: Vec<MetaRecord> = Vec::new();
        loop {
            let after = found.last().map(|record| record.name.clone());
            let page = fixture.store.meta_range(&group, after.as_deref(), records_max).await.expect("range");
            assert!(page.records.len() == records_max || !page.more, "a page before more records is full");
            found.extend(page.records);
            assert_eq!(page.more, found.len() < NAMES.len(), "whether more follow");
            if !page.more {
                break;
            }
        }
        assert_eq!(names(&found), NAMES, "{records_max} a page");
    }
}

/// A range goes on behind any name, whether a record has it or not.
pub async fn a_range_goes_on_behind_any_name(fixture: Fixture) {
    let group = filled(&fixture, "g").await;
    let others: [&[u8]; 6] = [b"", b"\0\0\0", b"a\0a", b"abc", b"c", b"\xFF\xFF\xFF"];
    for after in NAMES.into_iter().chain(others) {
        let page = fixture.store.meta_range(&group, Some(after), 100).await.expect("range");
        let expected: Vec<&[u8]> = NAMES.into_iter().filter(|name| *name > after).collect();
        assert_eq!((names(&page.records), page.more), (expected, false), "after {after:?}");
    }
}

/// A range stays in its group, also between groups whose names begin alike.
pub async fn a_range_stays_in_its_group(fixture: Fixture) {
    let groups = ["g", "g\0", "ga", "h"];
    for group in groups {
        filled(&fixture, group).await;
    }
    for group in groups {
        let group = fixture.meta_key(group, "").group;
        let page = fixture.store.meta_range(&group, None, 100).await.expect("range");
        assert_eq!((names(&page.records), page.more), (NAMES.to_vec(), false));
        assert!(page.records.iter().all(|record| record.value == value_of(&group, &record.name)));
        let page = fixture.store.meta_range(&group, Some(b"\xFF\xFF"), 100).await.expect("range");
        assert_eq!((names(&page.records), page.more), (Vec::new(), false));
    }
}

/// A group without records is empty.
pub async fn a_range_over_nothing_is_empty(fixture: Fixture) {
    let group = fixture.meta_key("nothing", "").group;
    for after in [None, Some(&b"x"[..])] {
        let page = fixture.store.meta_range(&group, after, 10).await.expect("range");
        assert_eq!((page.records, page.more), (Vec::new(), false));
    }
}

/// A range shows changes and leaves out what was removed.
pub async fn a_range_shows_what_is_there_now(fixture: Fixture) {
    let group = filled(&fixture, "g").await;
    let records = fixture.store.meta_range(&group, None, 100).await.expect("range").records;
    for (n, record) in records.iter().enumerate() {
        let change =
            if n % 2 == 0 { MetaChange::Remove } else { MetaChange::Put(Bytes::from_static(b"new")) };
        let key = MetaKey::new(group.clone(), record.name.clone());
        fixture.store.meta_cas(&key, Some(record.version), change).await.expect("cas");
    }
    let page = fixture.store.meta_range(&group, None, NAMES.len() / 2).await.expect("range");
    let expected: Vec<&[u8]> = NAMES.into_iter().skip(1).step_by(2).collect();
    assert_eq!((names(&page.records), page.more), (expected, false));
    assert!(page.records.iter().all(|record| record.value == "new"));
}

/// A range of large records comes in pages, whatever number was asked for.
pub async fn a_range_of_large_records_is_cut_by_bytes(fixture: Fixture) {
    let group = fixture.meta_key("large", "").group;
    let value = Bytes::from(vec![7; limits::META_VALUE_BYTES_MAX]);
    for name in 0..6_u8 {
        let key = MetaKey::new(group.clone(), vec![name]);
        fixture.store.meta_cas(&key, None, MetaChange::Put(value.clone())).await.expect("cas");
    }
    let first = fixture.store.meta_range(&group, None, 100).await.expect("range");
    assert_eq!((first.records.len(), first.more), (4, true));
    let last = fixture.store.meta_range(&group, Some(&[3]), 100).await.expect("range");
    assert_eq!((last.records.len(), last.more), (2, false));
}
