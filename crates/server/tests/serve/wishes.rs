//! What a namespace asks of its store, through the wire: shown, changed, frozen into slices, and served.

use api::admin::v1 as admin;

use crate::fixture::{Fixture, NAMESPACE, event, reads, seconds};
use crate::home::backend;
use crate::http::get;

fn storage(compaction: &str, compression: &str) -> Option<admin::Storage> {
    Some(admin::Storage { compaction: compaction.to_owned(), compression: compression.to_owned() })
}

fn asking(consistency: &str, storage: Option<admin::Storage>) -> admin::Namespace {
    let zero = Some(prost_types::Duration::default());
    admin::Namespace {
        name: NAMESPACE.to_owned(),
        accept_limit: zero,
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        consistency: consistency.to_owned(),
        storage,
        ..admin::Namespace::default()
    }
}

async fn create(fixture: &Fixture, namespace: admin::Namespace) -> Result<admin::Namespace, String> {
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    fixture.client.create_namespace(request).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_namespace_is_served_as_it_asks_and_its_slices_are_kept_as_they_were_made() {
    let mut fixture = Fixture::start(&[]).await;
    let made = create(&fixture, asking("EACH_QUORUM", storage("leveled", "zstd"))).await.unwrap();
    assert_eq!((made.consistency.as_str(), made.storage), ("EACH_QUORUM", storage("leveled", "zstd")));
    fixture.write(vec![event("s", 5, b"v")]).await;

    let change = admin::UpdateNamespaceRequest {
        namespace: Some(asking("LOCAL_ONE", storage("", "none"))),
        update_mask: Some(prost_types::FieldMask {
            paths: vec!["consistency".to_owned(), "storage".to_owned()],
        }),
        ..Default::default()
    };
    let changed = fixture.client.update_namespace(change).await.unwrap();
    assert_eq!((changed.consistency.as_str(), changed.storage.clone()), ("LOCAL_ONE", storage("", "none")));
    fixture.write(vec![event("s", 86_400, b"v")]).await;

    for _ in 0..2 {
        assert_eq!(fixture.client.get_namespace(NAMESPACE).await.unwrap(), changed);
        let slices = fixture.client.list_slices(NAMESPACE).await.unwrap().slices;
        let kept: Vec<_> = slices.into_iter().map(|slice| slice.storage).collect();
        assert_eq!(kept, [storage("leveled", "zstd"), storage("", "none")]);
        let page = fixture.client.read(reads("s", 0, 100_000)).await.unwrap();
        assert_eq!(seconds(&page), [86_400, 5]);
        fixture.restart().await;
    }
}

#[tokio::test]
async fn without_a_wish_there_are_defaults_and_what_is_unknown_is_refused() {
    let fixture = Fixture::start(&[]).await;
    let refused = create(&fixture, asking("QUORUM", None)).await.unwrap_err();
    assert!(refused.contains("consistency: is `QUORUM`; choose LOCAL_ONE, LOCAL_QUORUM or"), "{refused}");
    let refused = create(&fixture, asking("", storage("", "gzip"))).await.unwrap_err();
    assert!(refused.contains("storage.compression: is `gzip`; choose lz4, zstd, none or"), "{refused}");
    let made = create(&fixture, asking("", None)).await.unwrap();
    assert_eq!((made.consistency.as_str(), made.storage), ("LOCAL_QUORUM", storage("", "")));
}

#[tokio::test]
async fn hedges_are_counted_where_there_is_another_machine_to_ask() {
    let fixture = Fixture::with_namespace().await;
    let text = get(&fixture.address(), "/metrics").await.text();
    for outcome in ["sent", "won", "refused"] {
        let line = format!("braid_store_hedges_total{{outcome=\"{outcome}\"}} 0\n");
        assert_eq!(text.contains(&line), backend() == "cassandra", "{text}");
    }
}
