//! A record whose removal stopped half way: it is gone, and its name can be used again.

use std::sync::Arc;

use bytes::Bytes;
use store::conformance::Fixture;
use store::{CasOutcome, MetaChange, MetaVersion};

use crate::{node, shared};

fn put(value: &'static str) -> MetaChange {
    MetaChange::Put(Bytes::from_static(value.as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_only_says_removed_is_no_record() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let (store, key, beside) =
        (&fixture.store, fixture.meta_key("g", "name"), fixture.meta_key("g", "other"));
    store.meta_cas(&beside, None, put("beside")).await.unwrap();
    let text = "INSERT INTO suite_meta.records (record_group, name, version, stamp, removed, value) \
                VALUES (?, ?, 7, 1, true, 0x) IF NOT EXISTS";
    let session = node::session().await;
    session.query_unpaged(text, (key.group.as_ref(), key.name.as_ref())).await.unwrap();

    assert_eq!(store.meta_get(&key).await.unwrap(), None);
    let page = store.meta_range(&key.group, None, 10).await.unwrap();
    assert_eq!((page.records.len(), page.more), (1, false));
    for version in [6, 7, 8] {
        let outcome = store.meta_cas(&key, Some(MetaVersion(version)), put("no")).await.unwrap();
        assert_eq!(outcome, CasOutcome::Conflict(None));
    }
    let outcome = store.meta_cas(&key, None, put("again")).await.unwrap();
    assert_eq!(outcome, CasOutcome::Applied(MetaVersion(8)));
    assert_eq!(store.meta_get(&key).await.unwrap().unwrap().value, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_record_leaves_no_row() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let key = fixture.meta_key("g", "name");
    let CasOutcome::Applied(version) = fixture.store.meta_cas(&key, None, put("value")).await.unwrap() else {
        panic!("nobody else knows the key");
    };
    fixture.store.meta_cas(&key, Some(version), MetaChange::Remove).await.unwrap();
    let text = "SELECT name FROM suite_meta.records WHERE record_group = ?";
    let answer = node::session().await.query_unpaged(text, (key.group.as_ref(),)).await.unwrap();
    assert_eq!(answer.into_rows_result().unwrap().rows_num(), 0);
}
