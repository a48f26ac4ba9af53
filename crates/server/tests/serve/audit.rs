//! Who changed what, as it is asked for through the wire.

use api::admin::v1 as admin;
use bytes::Bytes;
use http_body_util::Full;
use rpc::client::Client;
use serde_json::Value;

use crate::fixture::{Fixture, NAMESPACE, at};
use crate::http::{Answer, post_json, send};

/// Everything that can be changed, once, with the step as the reason.
async fn change_everything(client: &Client) {
    let reason = |step: &str| step.to_owned();
    let namespace = || NAMESPACE.to_owned();
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let named = |read_max| admin::Namespace {
        name: namespace(),
        slo: Some(admin::Slo { read_target: None, read_max: seconds(read_max) }),
        ..admin::Namespace::default()
    };
    let create = admin::CreateNamespaceRequest {
        namespace: Some(named(7)),
        validate_only: false,
        reason: reason("make"),
    };
    client.create_namespace(create).await.unwrap();
    let update = admin::UpdateNamespaceRequest {
        namespace: Some(named(8)),
        reason: reason("change"),
        ..admin::UpdateNamespaceRequest::default()
    };
    client.update_namespace(update.clone()).await.unwrap();
    // A check is no change.
    let check = admin::UpdateNamespaceRequest { validate_only: true, reason: reason("check"), ..update };
    client.update_namespace(check).await.unwrap();
    let block = admin::Block { time_series_id: "hot".to_owned(), ..admin::Block::default() };
    let add = admin::AddBlockRequest {
        namespace: namespace(),
        blocks: vec![block],
        validate_only: false,
        reason: reason("block"),
    };
    client.add_blocks(add).await.unwrap();
    let remove = admin::RemoveBlockRequest {
        namespace: namespace(),
        time_series_ids: vec!["hot".to_owned()],
        validate_only: false,
        reason: reason("unblock"),
    };
    client.remove_blocks(remove).await.unwrap();
    let begin = admin::BeginBackfillRequest {
        namespace: namespace(),
        start: Some(at(1)),
        end: Some(at(2)),
        validate_only: false,
        reason: reason("begin"),
    };
    let id = client.begin_backfill(begin).await.unwrap().id;
    let end =
        admin::EndBackfillRequest { namespace: namespace(), id, validate_only: false, reason: reason("end") };
    client.end_backfill(end).await.unwrap();
    let delete = admin::DeleteNamespaceRequest {
        name: namespace(),
        reason: reason("delete"),
        ..admin::DeleteNamespaceRequest::default()
    };
    client.delete_namespace(delete).await.unwrap();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn every_change_has_its_author_reason_before_and_after() {
    let mut fixture = Fixture::start(&[]).await;
    let server_id = fixture.client.server_info().await.unwrap().server_id;
    change_everything(&fixture.client.clone().with_author("Zoë\n@desk")).await;
    fixture.restart().await;
    let mut found = fixture.client.list_audit(admin::ListAuditRequest::default()).await.unwrap().entries;
    assert!(found.is_sorted_by(|a, b| a.epoch > b.epoch), "newest first: {found:?}");
    found.reverse();
    let said: Vec<String> =
        found.iter().map(|entry| format!("{} {} {}", entry.reason, entry.kind, entry.action)).collect();
    let expect = [
        "make namespace CREATED",
        "change namespace CHANGED",
        "block blocks CREATED",
        "unblock blocks DELETED",
        "begin namespace BACKFILL_BEGUN",
        "end namespace BACKFILL_ENDED",
        "delete namespace DELETED",
    ];
    assert_eq!(said, expect);
    for entry in &found {
        assert_eq!((entry.author.as_str(), entry.name.as_str()), ("Zoë@desk", NAMESPACE));
        assert!(entry.server_id == server_id && entry.time.is_some(), "{entry:?}");
    }
    assert_eq!(found[0].before, "");
    let read_max = |text: &str| json(text)["spec"]["read_max"]["secs"].as_u64();
    assert_eq!((read_max(&found[1].before), read_max(&found[1].after)), (Some(7), Some(8)));
    let blocked = |text: &str| json(text)["blocks"][0]["series"].as_str().map(str::to_owned);
    assert_eq!((blocked(&found[2].before), blocked(&found[2].after)), (None, Some("hot".to_owned())));
    assert_eq!((blocked(&found[3].before), blocked(&found[3].after)), (Some("hot".to_owned()), None));
    assert_eq!(json(&found[6].after)["deleted"], true);
}

#[tokio::test]
async fn the_audit_comes_in_pages() {
    let fixture = Fixture::start(&[]).await;
    change_everything(&fixture.client).await;
    let whole = fixture.client.list_audit(admin::ListAuditRequest::default()).await.unwrap();
    assert_eq!((whole.entries.len(), whole.next_page_token.as_str()), (7, ""));
    let mut request = admin::ListAuditRequest { page_size: 3, page_token: String::new() };
    let mut found = Vec::new();
    loop {
        let page = fixture.client.list_audit(request.clone()).await.unwrap();
        assert!(page.entries.len() <= 3);
        found.extend(page.entries);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!(found, whole.entries);
    for (page_size, page_token, reason) in
        [(-1, "", "RANGE_TOO_WIDE"), (201, "", "RANGE_TOO_WIDE"), (1, "x", "PAGE_TOKEN_INVALID")]
    {
        let request = admin::ListAuditRequest { page_size, page_token: page_token.to_owned() };
        let refused = fixture.client.list_audit(request).await.unwrap_err();
        assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some(reason), 2));
    }
}

/// A JSON call with this author.
async fn post_as(fixture: &Fixture, author: &[u8], method: &str, body: &str) -> Answer {
    let request = ::http::Request::post(format!("/braid.admin.v1.{method}"))
        .header("content-type", "application/json")
        .header("braid-author", author)
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    send(&fixture.address(), request).await
}

#[tokio::test]
async fn the_author_is_a_header_of_json_calls_too_and_a_bad_one_changes_nothing() {
    let fixture = Fixture::start(&[]).await;
    let create = r#"{"namespace":{"name":"plays"},"reason":"json"}"#;
    for bad in [&[b'a'; 129][..], b"a\tb", b"\xff"] {
        let refused = post_as(&fixture, bad, "NamespaceService/CreateNamespace", create).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains("braid-author: "), "{}", refused.text());
    }
    let long = format!(r#"{{"namespace":{{"name":"plays"}},"reason":"{}"}}"#, "r".repeat(513));
    let refused =
        post_json(&fixture.address(), "/braid.admin.v1.NamespaceService/CreateNamespace", &long).await;
    assert!(refused.status == 400 && refused.text().contains("reason: is longer"), "{}", refused.text());
    assert_eq!(post_as(&fixture, b"bob", "NamespaceService/CreateNamespace", create).await.status, 200);
    // Without the header a block's own author asked for it.
    let add = r#"{"namespace":"plays","blocks":[{"time_series_id":"hot","author":"eve"}]}"#;
    assert_eq!(post_json(&fixture.address(), "/braid.admin.v1.BlockService/AddBlock", add).await.status, 200);
    let found = fixture.client.list_audit(admin::ListAuditRequest::default()).await.unwrap().entries;
    let said: Vec<_> = found.iter().map(|entry| (entry.author.as_str(), entry.reason.as_str())).collect();
    assert_eq!(said, [("eve", ""), ("bob", "json")]);
}
