//! Namespaces through the wire.

use api::admin::v1 as admin;

use crate::fixture::{Fixture, NAMESPACE, event, reads};

fn change(namespace: admin::Namespace, paths: &[&str]) -> admin::UpdateNamespaceRequest {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    admin::UpdateNamespaceRequest {
        namespace: Some(namespace),
        update_mask: Some(prost_types::FieldMask { paths }),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_namespace_is_made_shown_changed_and_deleted() {
    let fixture = Fixture::with_namespace().await;
    let made = fixture.client.get_namespace(NAMESPACE).await.unwrap();
    assert_eq!(made.shape.unwrap().seconds_per_slice, 86_400);
    assert_eq!(fixture.create(NAMESPACE).await.unwrap_err().reason.as_deref(), Some("NAMESPACE_EXISTS"));
    let shape = admin::Shape { seconds_per_bucket: 600, ..admin::Shape::default() };
    let asked = admin::Namespace { shape: Some(shape), ..made.clone() };
    let changed =
        fixture.client.update_namespace(change(asked, &["shape.seconds_per_bucket"])).await.unwrap();
    assert_eq!(changed.shape.unwrap().seconds_per_bucket, 600);
    let late = fixture.client.update_namespace(change(made, &["slo"])).await.unwrap_err();
    assert_eq!((late.code, late.reason.as_deref()), ("ABORTED", Some("ETAG_MISMATCH")));
    let names: Vec<String> = fixture
        .client
        .list_namespaces()
        .await
        .unwrap()
        .namespaces
        .into_iter()
        .map(|found| found.name)
        .collect();
    assert_eq!(names, [NAMESPACE]);
    let gone = admin::DeleteNamespaceRequest { name: NAMESPACE.to_owned(), ..Default::default() };
    fixture.client.delete_namespace(gone).await.unwrap();
    assert_eq!(fixture.client.get_namespace(NAMESPACE).await.unwrap_err().code, "NOT_FOUND");
}

#[tokio::test]
async fn a_namespace_made_again_never_shows_old_data() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 7, b"old")]).await;
    let gone = admin::DeleteNamespaceRequest { name: NAMESPACE.to_owned(), ..Default::default() };
    fixture.client.delete_namespace(gone).await.unwrap();
    assert_eq!(fixture.create(NAMESPACE).await.unwrap().incarnation, 2);
    fixture.write(vec![event("s", 8, b"new")]).await;
    for _ in 0..2 {
        let page = fixture.client.read(reads("s", 0, 100)).await.unwrap();
        let values: Vec<_> =
            page.records.iter().map(|event| &event.event_items[0].event_item_value[..]).collect();
        assert_eq!(values, [b"new"]);
        fixture.restart().await;
    }
}

#[tokio::test]
async fn slices_keep_the_shape_they_were_made_with() {
    let fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 0, b"v")]).await;
    let present = fixture.client.get_namespace(NAMESPACE).await.unwrap();
    let shape = admin::Shape { seconds_per_slice: 7_200, ..admin::Shape::default() };
    let asked = admin::Namespace { shape: Some(shape), ..present };
    fixture.client.update_namespace(change(asked, &["shape.seconds_per_slice"])).await.unwrap();
    fixture.write(vec![event("s", 86_400 + 7_200, b"v")]).await;
    let slices = fixture.client.list_slices(NAMESPACE).await.unwrap().slices;
    let shown: Vec<_> =
        slices.iter().map(|slice| (slice.table.as_str(), slice.shape.unwrap().seconds_per_slice)).collect();
    assert_eq!(shown, [("data_19700101", 86_400), ("data_19700102_0200", 7_200)]);
    assert!(slices.iter().all(|slice| slice.state == "OPEN"));
}
