//! Metadata records: created, changed and removed by compare-and-set only.

use bytes::Bytes;

use super::{Fixture, parallel};
use crate::{CasOutcome, MetaChange, MetaKey, MetaRecord, MetaVersion};

/// Callers that increment at once.
const CALLERS: usize = 16;
/// Attempts of one increment: each conflict means that another of the 64 came first.
const ATTEMPTS_MAX: usize = CALLERS * 4;

fn put(value: &str) -> MetaChange {
    MetaChange::Put(Bytes::from(value.to_owned()))
}

/// A change that must be applied.
async fn applied(
    fixture: &Fixture,
    key: &MetaKey,
    expected: Option<MetaVersion>,
    change: MetaChange,
) -> MetaVersion {
    match fixture.store.meta_cas(key, expected, change).await.expect("cas") {
        CasOutcome::Applied(version) => version,
        CasOutcome::Conflict(current) => panic!("conflict with {current:?}"),
    }
}

/// A change that must meet a conflict; what the record holds.
async fn conflict(
    fixture: &Fixture,
    key: &MetaKey,
    expected: Option<MetaVersion>,
    change: MetaChange,
) -> Option<MetaRecord> {
    match fixture.store.meta_cas(key, expected, change).await.expect("cas") {
        CasOutcome::Applied(version) => panic!("applied as {version:?}"),
        CasOutcome::Conflict(current) => current,
    }
}

async fn get(fixture: &Fixture, key: &MetaKey) -> Option<MetaRecord> {
    fixture.store.meta_get(key).await.expect("get")
}

fn record(key: &MetaKey, version: MetaVersion, value: &str) -> Option<MetaRecord> {
    Some(MetaRecord { name: key.name.clone(), version, value: Bytes::from(value.to_owned()) })
}

/// A record that was created is read with its version and value.
pub async fn a_record_is_created_and_read(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    assert_eq!(get(&fixture, &key).await, None);
    let version = applied(&fixture, &key, None, put("value")).await;
    assert_eq!(get(&fixture, &key).await, record(&key, version, "value"));
}

/// A record that exists is not created again; the conflict shows it.
pub async fn a_second_creation_shows_the_record(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    let version = applied(&fixture, &key, None, put("first")).await;
    assert_eq!(conflict(&fixture, &key, None, put("second")).await, record(&key, version, "first"));
    assert_eq!(get(&fixture, &key).await, record(&key, version, "first"));
}

/// An update names the version it saw; any other is a conflict that shows the record and changes nothing.
pub async fn an_update_needs_the_version(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    let first = applied(&fixture, &key, None, put("first")).await;
    let second = applied(&fixture, &key, Some(first), put("second")).await;
    for wrong in [Some(first), Some(MetaVersion(second.0 + 1)), None] {
        for change in [put("third"), put("second"), MetaChange::Remove] {
            assert_eq!(conflict(&fixture, &key, wrong, change).await, record(&key, second, "second"));
        }
    }
    assert_eq!(get(&fixture, &key).await, record(&key, second, "second"));
}

/// What does not exist can be neither updated nor removed; the conflict shows nothing.
pub async fn an_update_of_nothing_is_a_conflict(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    for change in [put("value"), MetaChange::Remove] {
        assert_eq!(conflict(&fixture, &key, Some(MetaVersion(1)), change).await, None);
    }
    assert_eq!(get(&fixture, &key).await, None);
}

/// A removed record is gone, and its old version opens nothing.
pub async fn a_removed_record_is_gone(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    let version = applied(&fixture, &key, None, put("value")).await;
    applied(&fixture, &key, Some(version), MetaChange::Remove).await;
    assert_eq!(get(&fixture, &key).await, None);
    for change in [put("again"), MetaChange::Remove] {
        assert_eq!(conflict(&fixture, &key, Some(version), change).await, None);
    }
    let page = fixture.store.meta_range(&key.group, None, 10).await.expect("range");
    assert_eq!((page.records, page.more), (Vec::new(), false));
}

/// Versions rise with every change, also where the value stays the same.
pub async fn versions_rise_with_every_change(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    let mut version = applied(&fixture, &key, None, put("same")).await;
    for _ in 0..20 {
        let next = applied(&fixture, &key, Some(version), put("same")).await;
        assert!(next > version, "{next:?} after {version:?}");
        assert_eq!(get(&fixture, &key).await, record(&key, next, "same"));
        version = next;
    }
}

/// A value may be empty or any bytes; an empty record is not a missing one.
pub async fn a_value_is_any_bytes(fixture: Fixture) {
    let values: [&[u8]; 4] = [b"", b"\0", b"\xFF\xFE\0", b"text"];
    for (n, value) in values.into_iter().enumerate() {
        let key = fixture.meta_key("g", &format!("name {n}"));
        applied(&fixture, &key, None, MetaChange::Put(Bytes::copy_from_slice(value))).await;
        assert_eq!(get(&fixture, &key).await.expect("the record is there").value, value);
    }
}

/// The same name in two groups is two records.
pub async fn groups_are_separate(fixture: Fixture) {
    let (one, other) = (fixture.meta_key("g", "name"), fixture.meta_key("g\0", "name"));
    let version = applied(&fixture, &one, None, put("one")).await;
    assert_eq!(get(&fixture, &other).await, None);
    applied(&fixture, &other, None, put("other")).await;
    applied(&fixture, &one, Some(version), MetaChange::Remove).await;
    assert_eq!(get(&fixture, &one).await, None);
    assert_eq!(get(&fixture, &other).await.expect("the record is there").value, "other");
}

/// Adds one to the number in a record, however often others come first.
async fn increment(fixture: &Fixture, key: &MetaKey) {
    let mut current = get(fixture, key).await;
    for _ in 0..ATTEMPTS_MAX {
        let text =
            current.as_ref().map_or_else(|| "0".into(), |record| String::from_utf8_lossy(&record.value));
        let number: u64 = text.parse().expect("the record holds a number");
        let change = put(&(number + 1).to_string());
        let expected = current.as_ref().map(|record| record.version);
        // Others come between the read and the change.
        tokio::task::yield_now().await;
        match fixture.store.meta_cas(key, expected, change).await.expect("cas") {
            CasOutcome::Applied(_) => return,
            CasOutcome::Conflict(now) => current = now,
        }
    }
    panic!("more conflicts than changes");
}

/// Callers that increment one record at once add up exactly.
pub async fn concurrent_increments_add_up(fixture: Fixture) {
    let key = fixture.meta_key("g", "counter");
    let callers = (0..CALLERS).map(|_| {
        let (fixture, key) = (fixture.clone(), key.clone());
        async move {
            for _ in 0..4 {
                increment(&fixture, &key).await;
            }
        }
    });
    parallel::all(callers).await;
    assert_eq!(get(&fixture, &key).await.expect("the record is there").value, (CALLERS * 4).to_string());
}

/// Of many that create the same record at once, one has created it and the others see that one.
pub async fn one_of_many_creators_wins(fixture: Fixture) {
    let key = fixture.meta_key("g", "name");
    let creators = (0..CALLERS).map(|n| {
        let (fixture, key) = (fixture.clone(), key.clone());
        async move { fixture.store.meta_cas(&key, None, put(&n.to_string())).await.expect("cas") }
    });
    let outcomes = parallel::all(creators).await;
    let kept = get(&fixture, &key).await.expect("the record is there");
    let winners = outcomes.iter().filter(|outcome| matches!(outcome, CasOutcome::Applied(_))).count();
    assert_eq!(winners, 1);
    for (n, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            CasOutcome::Applied(version) => assert_eq!((version, n.to_string()), (kept.version, text(&kept))),
            CasOutcome::Conflict(current) => assert_eq!(current.as_ref(), Some(&kept)),
        }
    }
}

fn text(record: &MetaRecord) -> String {
    String::from_utf8_lossy(&record.value).into_owned()
}
