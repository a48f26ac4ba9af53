//! Splits through the wire: settings, lists, what is not there, pauses.

use api::admin::v1 as admin;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, event};

fn settings() -> admin::SplitSettings {
    admin::SplitSettings {
        policy: "manual".to_owned(),
        threshold_bytes: 1 << 20,
        target_bytes: 1 << 18,
        max_split_buckets: 8,
        strategy: "time_range".to_owned(),
        layout: "rows".to_owned(),
    }
}

impl Fixture {
    async fn wish(
        &self,
        split: admin::SplitSettings,
        paths: &[&str],
    ) -> Result<admin::SplitSettings, CallError> {
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            split: Some(split),
            ..admin::Namespace::default()
        };
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let request = admin::UpdateNamespaceRequest {
            namespace: Some(namespace),
            update_mask: Some(prost_types::FieldMask { paths }),
            ..Default::default()
        };
        Ok(self.client.update_namespace(request).await?.split.unwrap())
    }

    async fn splits(&self) -> admin::ListSplitsResponse {
        let request = admin::ListSplitsRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
        self.client.list_splits(request).await.unwrap()
    }
}

#[tokio::test]
async fn a_namespace_says_when_and_how_it_is_split() {
    let mut fixture = Fixture::with_namespace().await;
    let default = fixture.client.get_namespace(NAMESPACE).await.unwrap().split.unwrap();
    assert_eq!(
        (default.policy.as_str(), default.threshold_bytes, default.target_bytes),
        ("auto", 16 << 20, 4 << 20)
    );
    assert_eq!(
        (default.max_split_buckets, default.strategy.as_str(), default.layout.as_str()),
        (16, "auto", "auto")
    );
    assert_eq!(fixture.wish(settings(), &["split"]).await.unwrap(), settings());
    fixture.restart().await;
    assert_eq!(fixture.client.get_namespace(NAMESPACE).await.unwrap().split, Some(settings()));
    let back =
        fixture.wish(admin::SplitSettings::default(), &["split.policy", "split.strategy"]).await.unwrap();
    let expect = admin::SplitSettings {
        policy: default.policy.clone(),
        strategy: default.strategy.clone(),
        ..settings()
    };
    assert_eq!(back, expect);
    assert_eq!(fixture.wish(admin::SplitSettings::default(), &["split"]).await.unwrap(), default);

    let refused = async |split: admin::SplitSettings| {
        let error = fixture.wish(split, &["split"]).await.unwrap_err();
        assert_eq!((error.reason.as_deref(), error.exit_code()), (Some("FIELD_INVALID"), 2));
        error.message
    };
    let unknown = refused(admin::SplitSettings { policy: "never".to_owned(), ..settings() }).await;
    assert_eq!(unknown, "split.policy: is `never`; choose auto, manual or off");
    let small = refused(admin::SplitSettings { threshold_bytes: 1, ..settings() }).await;
    assert!(small.starts_with("split.threshold_bytes: is 1; choose "), "{small}");
    let many = refused(admin::SplitSettings { max_split_buckets: 17, ..settings() }).await;
    assert!(many.starts_with("split.max_split_buckets: is 17; choose 2 to 16"), "{many}");
}

#[tokio::test]
async fn what_was_never_split_is_not_found() {
    let fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 5, b"v")]).await;
    let (namespace, id) = (NAMESPACE.to_owned(), "data_19700101/0/0/s".to_owned());
    let client = &fixture.client;
    let (reason, validate_only) = (String::new(), false);
    let retry = admin::RetrySplitRequest {
        namespace: namespace.clone(),
        id: id.clone(),
        validate_only,
        reason: reason.clone(),
        ..Default::default()
    };
    let verify = admin::VerifySplitRequest {
        namespace: namespace.clone(),
        id: id.clone(),
        validate_only,
        reason: reason.clone(),
    };
    let retire = admin::RetireSplitRequest { namespace, id: id.clone(), validate_only, reason };
    for error in [
        client.get_split(NAMESPACE, &id).await.unwrap_err(),
        client.retry_split(retry).await.unwrap_err(),
        client.verify_split(verify).await.unwrap_err(),
        client.retire_split(retire).await.unwrap_err(),
    ] {
        assert_eq!((error.code, error.reason.as_deref()), ("NOT_FOUND", Some("SPLIT_NOT_FOUND")), "{error}");
        assert_eq!((error.exit_code(), error.retry_after), (3, None));
    }
    let nobody = fixture.client.get_split("nobody", &id).await.unwrap_err();
    assert_eq!(nobody.reason.as_deref(), Some("NAMESPACE_NOT_FOUND"));
}

#[tokio::test]
async fn a_namespace_without_splits_has_an_empty_list_and_can_be_paused() {
    let fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 5, b"v")]).await;
    let empty = fixture.splits().await;
    assert_eq!((empty.splits.len(), empty.next_page_token.as_str()), (0, ""));
    assert_eq!(empty.summary, Some(admin::SplitSummary::default()));
    let wide = admin::ListWidePartitionsRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
    assert_eq!(fixture.client.list_wide_partitions(wide).await.unwrap().partitions, []);

    let paused = async || fixture.splits().await.summary.unwrap().paused;
    let pause = |validate_only| admin::PauseSplitsRequest {
        namespace: NAMESPACE.to_owned(),
        validate_only,
        reason: "busy".to_owned(),
    };
    let would = fixture.client.pause_splits(pause(true)).await.unwrap();
    assert_eq!((would.namespaces, paused().await), (vec![NAMESPACE.to_owned()], false));
    let done = fixture.client.pause_splits(pause(false)).await.unwrap();
    assert_eq!((done.namespaces, paused().await), (vec![NAMESPACE.to_owned()], true));
    let resumed = fixture.client.resume_splits(admin::ResumeSplitsRequest::default()).await.unwrap();
    assert_eq!((resumed.namespaces, paused().await), (vec![NAMESPACE.to_owned()], false));
}
