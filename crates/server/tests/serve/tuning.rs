//! Tuning through the wire: three slices with far too narrow buckets, the proposal, and the next slice that obeys it.

use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, event, reads, writes};
use crate::http::get;

const DAY: i64 = 86_400;
const SERIES: usize = 5;
const EVENTS: i64 = 20;
/// On a cluster a limit that was narrowed counts once all servers know it; so often is that asked.
const LOOKS: u32 = 600;
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn now() -> i64 {
    Env::system().clock.wall() / 1_000_000_000
}

/// Where the third slice before today's starts.
fn third_last() -> i64 {
    now() - now() % DAY - 3 * DAY
}

impl Fixture {
    /// Buckets of a minute over days of which each id uses twenty minutes.
    async fn over_partitioned() -> Self {
        let fixture = Self::start(&[]).await;
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(admin::Shape {
                seconds_per_bucket: 60,
                buckets_per_id: 1,
                ..admin::Shape::default()
            }),
            accept_limit: seconds(0),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        fixture.client.create_namespace(request).await.unwrap();
        for day in 0..3 {
            let start = third_last() + day * DAY;
            let of = |series: usize| {
                (0..EVENTS).map(move |at| event(&format!("s{series}"), start + at * 4_000, &[7; 1_000]))
            };
            fixture.write((0..SERIES).flat_map(of).collect()).await;
        }
        let closed = admin::Namespace {
            name: NAMESPACE.to_owned(),
            accept_limit: seconds(60),
            ..admin::Namespace::default()
        };
        let request = admin::UpdateNamespaceRequest { namespace: Some(closed), ..Default::default() };
        fixture.client.update_namespace(request).await.unwrap();
        fixture
    }

    /// Looks until all three slices were closed and seen.
    async fn observed(&self) -> admin::ObserveResponse {
        let request =
            admin::ObserveRequest { namespace: NAMESPACE.to_owned(), measure: true, ..Default::default() };
        for _ in 0..LOOKS {
            let answer = self.client.observe(request.clone()).await.unwrap();
            if answer.status.as_ref().unwrap().observations.len() == 3 {
                return answer;
            }
            Env::system().clock.sleep(LOOK_EVERY).await;
        }
        panic!("the slices were never closed");
    }

    async fn accept(&self, id: u64, etag: &str) -> Result<admin::Proposal, CallError> {
        let request = admin::AcceptProposalRequest {
            namespace: NAMESPACE.to_owned(),
            id,
            etag: etag.to_owned(),
            reason: "reads touch too many partitions".to_owned(),
            ..Default::default()
        };
        self.client.accept_proposal(request).await
    }

    /// Partitions that a read of a day touches.
    async fn touched(&self, start: i64) -> i64 {
        let request = v1::ReadEventRecordsRequest { page_size: 1_000, ..reads("s0", start, start + DAY) };
        self.client.read(request).await.unwrap().response_context[0].partitions
    }
}

#[tokio::test]
async fn an_over_partitioned_namespace_is_tuned_and_the_next_slice_obeys() {
    let fixture = Fixture::over_partitioned().await;
    let answer = fixture.observed().await;
    let seen = &answer.status.as_ref().unwrap().observations[0];
    assert_eq!((seen.quality.as_str(), seen.source.as_str(), seen.series), ("EXACT", "scan", 5));
    assert_eq!(seen.sizes.unwrap().partitions, 100);
    let open = answer.proposal.unwrap();
    assert_eq!(
        (open.state.as_str(), open.direction.as_str(), open.basis.as_str()),
        ("OPEN", "fewer", "series")
    );
    assert_eq!(open.to.unwrap().seconds_per_bucket, 86_400);
    let published = "DynamicTimeSliceConfigWorker:\nnamespace: plays\nObserved: TimeSlices have p99 partitions below \
                     configured target of 10MiB.\nProposed: time_bucket interval: 60s -> 86400s\n";
    assert!(open.rendered.starts_with(published), "{}", open.rendered);
    assert_eq!(fixture.client.get_proposal(NAMESPACE, open.id).await.unwrap(), open);
    let day = open.reads.iter().find(|read| i64::from(read.seconds) == DAY).unwrap();
    assert_eq!((day.before, day.after), (1_440, 1));
    assert_eq!(fixture.touched(third_last()).await, 1_440);

    let other = fixture.accept(open.id, "another").await.unwrap_err();
    assert_eq!((other.code, other.reason.as_deref()), ("ABORTED", Some("ETAG_MISMATCH")));
    let accepted = fixture.accept(open.id, &open.etag).await.unwrap();
    assert_eq!(
        (accepted.state.as_str(), accepted.settled.unwrap().reason.as_str()),
        ("ACCEPTED", "reads touch too many partitions")
    );
    let again = fixture.accept(open.id, "").await.unwrap_err();
    assert_eq!((again.code, again.reason.as_deref()), ("FAILED_PRECONDITION", Some("PROPOSAL_STALE")));

    let today = now();
    fixture.client.write_synced(writes(vec![event("s0", today, b"v")])).await.unwrap();
    let slices = fixture.client.list_slices(NAMESPACE).await.unwrap().slices;
    let widths: Vec<u32> = slices.iter().map(|slice| slice.shape.unwrap().seconds_per_bucket).collect();
    assert_eq!(widths, [60, 60, 60, 86_400], "slices that exist keep their shape");
    let start = slices[3].start.unwrap().seconds;
    assert_eq!(fixture.touched(start).await, 1);
    assert_eq!(fixture.touched(third_last()).await, 1_440);

    let metrics = get(&fixture.address(), "/metrics").await.text();
    for line in [
        "braid_tuning_proposals_total{action=\"proposed\"} 1",
        "braid_tuning_proposals_total{action=\"accepted\"} 1",
        "braid_slice_partition_bytes{namespace=\"plays\",stat=\"p99\"} ",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[tokio::test]
async fn what_if_and_rejection() {
    let mut fixture = Fixture::over_partitioned().await;
    let simulate = |seconds_per_bucket| admin::SimulateProposalRequest {
        namespace: NAMESPACE.to_owned(),
        shape: Some(admin::Shape { seconds_per_bucket, ..admin::Shape::default() }),
        id: 0,
    };
    assert!(fixture.client.simulate_proposal(simulate(3_600)).await.unwrap().slices.is_empty());
    let open = fixture.observed().await.proposal.unwrap();
    let would = fixture.client.simulate_proposal(simulate(43_200)).await.unwrap();
    assert_eq!((would.slices.len(), would.inside_density), (3, false));
    // Twenty events over a day, ten in each half.
    assert_eq!(would.slices[0].predicted.unwrap().partitions, 10);
    assert_eq!(would.predicted.unwrap().max / 1_000, 11);
    let bad = fixture.client.simulate_proposal(simulate(7_000)).await.unwrap_err();
    assert_eq!((bad.code, bad.reason.as_deref()), ("INVALID_ARGUMENT", Some("FIELD_INVALID")));
    let nothing = fixture.accept(9, "").await.unwrap_err();
    assert_eq!((nothing.code, nothing.reason.as_deref()), ("NOT_FOUND", Some("PROPOSAL_NOT_FOUND")));
    let request = admin::RejectProposalRequest {
        namespace: NAMESPACE.to_owned(),
        id: open.id,
        etag: open.etag,
        reason: "not now".to_owned(),
        ..Default::default()
    };
    assert_eq!(fixture.client.reject_proposal(request).await.unwrap().state, "REJECTED");
    // It outlives the server, and what was rejected does not come again.
    fixture.restart().await;
    let request =
        admin::ListProposalsRequest { namespace: NAMESPACE.to_owned(), states: vec!["REJECTED".to_owned()] };
    let kept = fixture.client.list_proposals(request).await.unwrap();
    assert_eq!((kept.proposals.len(), kept.proposals[0].id), (1, open.id));
    let answer = fixture.observed().await;
    assert!(answer.proposal.is_none());
    assert_eq!(answer.status.unwrap().finding.unwrap().code, "REJECTED");
}
