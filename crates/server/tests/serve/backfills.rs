//! Backfills through the wire: time that is closed takes events again, for a while.

use api::admin::v1 as admin;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, at, event, reads, seconds};

impl Fixture {
    /// With a namespace that takes only recent events and keeps them for ever.
    pub(crate) async fn recent_only() -> Self {
        let fixture = Self::start(&[]).await;
        let forever = Some(prost_types::Duration::default());
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            retention: Some(admin::Retention { close_after: None, delete_after: forever }),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        fixture.client.create_namespace(request).await.unwrap();
        fixture
    }

    pub(crate) async fn begin(
        &self,
        start: i64,
        end: i64,
        validate_only: bool,
    ) -> Result<admin::Backfill, CallError> {
        let request = admin::BeginBackfillRequest {
            namespace: NAMESPACE.to_owned(),
            start: Some(at(start)),
            end: Some(at(end)),
            validate_only,
            reason: String::new(),
        };
        self.client.begin_backfill(request).await
    }

    pub(crate) async fn end(&self, id: u64, validate_only: bool) -> Result<(), CallError> {
        let (namespace, reason) = (NAMESPACE.to_owned(), String::new());
        let request = admin::EndBackfillRequest { namespace, id, validate_only, reason };
        self.client.end_backfill(request).await.map(|_| ())
    }

    async fn backfills(&self) -> Vec<admin::Backfill> {
        self.client.list_backfills(NAMESPACE).await.unwrap().backfills
    }

    /// Which of the events at these seconds are taken.
    async fn taken(&self, times: [i64; 2]) -> [bool; 2] {
        let answer = self.write(times.iter().map(|time| event("s", *time, b"v")).collect()).await;
        assert!(answer.results.iter().all(|result| result.reason == "EVENT_TOO_OLD"), "{answer:?}");
        [0, 1].map(|at| answer.results.iter().all(|result| result.index != at))
    }
}

#[tokio::test]
async fn a_backfill_takes_old_events_of_its_time_until_it_ends() {
    let mut fixture = Fixture::recent_only().await;
    assert_eq!(fixture.taken([1_000, 3_000]).await, [false, false]);
    let would = fixture.begin(0, 2_000, true).await.unwrap();
    assert_eq!((would.id, would.open, fixture.backfills().await.len()), (0, false, 0));
    let begun = fixture.begin(0, 2_000, false).await.unwrap();
    assert!(begun.id > 0 && begun.open, "{begun:?}");
    assert_eq!(fixture.taken([1_000, 3_000]).await, [true, false]);
    assert_eq!(fixture.backfills().await, [begun]);
    fixture.restart().await;
    assert_eq!(fixture.backfills().await, [begun]);
    assert_eq!(fixture.taken([1_001, 2_000]).await, [true, false]);
    fixture.end(begun.id, true).await.unwrap();
    assert_eq!(fixture.backfills().await.len(), 1);
    fixture.end(begun.id, false).await.unwrap();
    assert_eq!(fixture.backfills().await, []);
    assert_eq!(fixture.taken([1_002, 3_000]).await, [false, false]);
    assert_eq!(seconds(&fixture.client.read(reads("s", 0, 9_000)).await.unwrap()), [1_001, 1_000]);
}

#[tokio::test]
async fn what_cannot_be_begun_or_ended_is_refused() {
    let fixture = Fixture::recent_only().await;
    for validate_only in [true, false] {
        let refused = fixture.begin(5, 5, validate_only).await.unwrap_err();
        assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some("FIELD_INVALID"), 2));
        let refused = fixture.end(7, validate_only).await.unwrap_err();
        assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some("ETAG_MISMATCH"), 5));
        assert_eq!(refused.message, "namespace `plays` has no backfill 7; it was ended before");
    }
    for at in 0..16 {
        fixture.begin(at, at + 1, false).await.unwrap();
    }
    let refused = fixture.begin(0, 1, false).await.unwrap_err();
    assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some("RATE_LIMITED"), 6));
    let refused = fixture.client.list_backfills("nowhere").await.unwrap_err();
    assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some("NAMESPACE_NOT_FOUND"), 3));
}
