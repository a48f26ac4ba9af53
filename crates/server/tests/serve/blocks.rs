//! Blocked ids through the wire.

use api::admin::v1 as admin;

use crate::fixture::{Fixture, NAMESPACE, event, reads, seconds, writes};
use crate::http::{get, post_json};

fn block(series: &str) -> admin::Block {
    let (time_series_id, reason) = (series.to_owned(), "too hot".to_owned());
    admin::Block { time_series_id, reason, author: "ann".to_owned(), ..admin::Block::default() }
}

impl Fixture {
    async fn block(&self, blocks: Vec<admin::Block>) -> Vec<admin::Block> {
        let request =
            admin::AddBlockRequest { namespace: NAMESPACE.to_owned(), blocks, ..Default::default() };
        self.client.add_blocks(request).await.unwrap().blocks
    }

    /// Blocks reads and writes of a series.
    pub(crate) async fn block_id(&self, series: &str) {
        self.block(vec![block(series)]).await;
    }

    async fn unblock(&self, ids: &[&str], validate_only: bool) -> usize {
        let time_series_ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let namespace = NAMESPACE.to_owned();
        let request =
            admin::RemoveBlockRequest { namespace, time_series_ids, validate_only, reason: String::new() };
        self.client.remove_blocks(request).await.unwrap().blocks.len()
    }

    async fn blocked(&self) -> Vec<admin::Block> {
        let request = admin::ListBlocksRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
        self.client.list_blocks(request).await.unwrap().blocks
    }
}

#[tokio::test]
async fn a_blocked_id_is_refused_until_it_is_unblocked_and_others_never() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("hot", 1, b"v"), event("cold", 1, b"v")]).await;
    let made = fixture.block(vec![block("hot")]).await;
    assert!(made[0].reads && made[0].writes && made[0].create_time.is_some(), "{made:?}");
    for _ in 0..2 {
        let refused = fixture.client.read(reads("hot", 0, 9)).await.unwrap_err();
        assert_eq!((refused.code, refused.reason.as_deref()), ("PERMISSION_DENIED", Some("ID_BLOCKED")));
        assert_eq!((refused.exit_code(), refused.retry_after), (4, None));
        assert_eq!(
            refused.message,
            "time_series_id `hot` is blocked for reads in namespace `plays` (too hot); use another id, or remove \
             the block with `braid block rm`"
        );
        // The answer to the call, not its first page.
        let streamed = fixture.client.stream(reads("hot", 0, 9)).await.unwrap_err();
        assert_eq!(streamed, refused);
        let events = vec![event("cold", 2, b"v"), event("hot", 2, b"v")];
        for answer in [
            fixture.client.write_synced(writes(events.clone())).await.unwrap(),
            fixture.client.write_queued(writes(events)).await.unwrap(),
        ] {
            assert_eq!((answer.accepted, answer.results.len()), (1, 1));
            assert_eq!((answer.results[0].index, answer.results[0].reason.as_str()), (1, "ID_BLOCKED"));
        }
        assert_eq!(seconds(&fixture.client.read(reads("cold", 0, 9)).await.unwrap()), [2, 1]);
        assert_eq!(fixture.blocked().await, made);
        let metrics = get(&fixture.address(), "/metrics").await.text();
        for line in [
            "braid_blocked_requests_total{namespace=\"plays\",access=\"read\"} 2\n",
            "braid_blocked_requests_total{namespace=\"plays\",access=\"write\"} 2\n",
        ] {
            assert!(metrics.contains(line), "{line} is not in\n{metrics}");
        }
        fixture.restart().await;
    }
    assert_eq!((fixture.unblock(&["hot", "nobody"], true).await, fixture.blocked().await.len()), (1, 1));
    assert_eq!((fixture.unblock(&["hot", "nobody"], false).await, fixture.blocked().await.len()), (1, 0));
    assert_eq!(seconds(&fixture.client.read(reads("hot", 0, 9)).await.unwrap()), [1]);
    assert_eq!(fixture.write(vec![event("hot", 2, b"v")]).await.accepted, 1);
}

#[tokio::test]
async fn a_block_can_be_replaced_on_condition_that_it_is_still_the_same() {
    let fixture = Fixture::with_namespace().await;
    let add = |block: admin::Block, validate_only| {
        let (client, namespace) = (fixture.client.clone(), NAMESPACE.to_owned());
        let request =
            admin::AddBlockRequest { namespace, blocks: vec![block], validate_only, reason: String::new() };
        async move { client.add_blocks(request).await.map(|mut answer| answer.blocks.remove(0)) }
    };
    let first = add(block("hot"), false).await.unwrap();
    assert!(!first.etag.is_empty());
    assert_eq!(fixture.blocked().await, std::slice::from_ref(&first));
    let replacing = admin::Block { etag: first.etag.clone(), reason: "cooler".to_owned(), ..block("hot") };
    add(replacing.clone(), true).await.unwrap();
    let second = add(replacing.clone(), false).await.unwrap();
    assert_ne!(second.etag, first.etag);
    for validate_only in [true, false] {
        let refused = add(replacing.clone(), validate_only).await.unwrap_err();
        assert_eq!((refused.code, refused.reason.as_deref()), ("ABORTED", Some("ETAG_MISMATCH")));
        assert_eq!((refused.exit_code(), refused.retry_after), (5, None));
        let missing = admin::Block { etag: second.etag.clone(), ..block("cold") };
        let refused = add(missing, validate_only).await.unwrap_err();
        assert!(refused.message.contains("`cold` is not there any more"), "{refused}");
    }
    assert_eq!(fixture.blocked().await, [second]);
}

#[tokio::test]
async fn json_says_forbidden_and_a_check_changes_nothing() {
    let fixture = Fixture::with_namespace().await;
    let request = admin::AddBlockRequest {
        namespace: NAMESPACE.to_owned(),
        blocks: vec![admin::Block { reads: true, ..block("hot") }],
        validate_only: true,
        reason: String::new(),
    };
    let would = fixture.client.add_blocks(request.clone()).await.unwrap().blocks;
    assert_eq!((would.len(), fixture.blocked().await.len()), (1, 0));
    fixture.client.read(reads("hot", 0, 9)).await.unwrap();
    fixture.client.add_blocks(admin::AddBlockRequest { validate_only: false, ..request }).await.unwrap();
    let body = r#"{"namespace":"plays","time_series_id":"hot","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#;
    let answer = post_json(&fixture.address(), "/braid.v1.TimeSeriesService/ReadEventRecords", body).await;
    assert_eq!((answer.status, &answer.json()["code"]), (403, &"permission_denied".into()));
    // Only reads.
    assert_eq!(fixture.write(vec![event("hot", 2, b"v")]).await.accepted, 1);
}

#[tokio::test]
async fn the_list_comes_in_pages_that_any_client_takes() {
    let fixture = Fixture::with_namespace().await;
    // The longest there can be: together over the 4 MiB that clients take by default.
    for at in 0..4 {
        let blocks = (0..1_000).map(|one| admin::Block {
            reason: "r".repeat(512),
            ..block(&format!("{at}{one:03}{}", "s".repeat(508)))
        });
        fixture.block(blocks.collect()).await;
    }
    let mut request = admin::ListBlocksRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
    let mut found = Vec::new();
    loop {
        let page = fixture.client.list_blocks(request.clone()).await.unwrap();
        assert!(page.blocks.len() <= 1_000);
        found.extend(page.blocks.into_iter().map(|block| block.time_series_id));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!(found.len(), 4_000);
    assert!(found.is_sorted());
}
