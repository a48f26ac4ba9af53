//! A partition that was split, read in every mode through the wire, and one whose targets somebody has damaged.

use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use store::{Consistency, Enumerate, Store};
use store_embedded::EmbeddedStore;

use crate::fixture::{Fixture, NAMESPACE, reads, start_in};
use crate::home::Home;

const HOUR: i64 = 3_600;
const EVENTS: i64 = 300;
/// Servers look every five seconds; so often is it asked whether they have moved on.
const LOOKS: u32 = 600;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A wide partition whose time is closed, and the id of its split.
struct Wide {
    start: i64,
    id: String,
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

/// One event a few seconds, of a kilobyte.
fn event(start: i64, at: i64) -> v1::Event {
    v1::Event {
        event_id: format!("{at:08}"),
        ..crate::fixture::event("whale", start + 10 * at, &[b'x'; 1_000])
    }
}

impl Fixture {
    /// A namespace in which one comparison is enough, with a partition that was split by hand.
    async fn with_split(home: Home) -> (Self, Wide) {
        let fixture = Self::start_at(home, &[]).await;
        let now = Env::system().clock.wall() / 1_000_000_000;
        let start = now - now % HOUR - 5 * HOUR;
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(admin::Shape { buckets_per_id: 1, ..admin::Shape::default() }),
            accept_limit: seconds(0),
            split: Some(admin::SplitSettings {
                policy: "manual".to_owned(),
                threshold_bytes: 64 << 10,
                target_bytes: 64 << 10,
                ..admin::SplitSettings::default()
            }),
            read_mode_policy: "manual".to_owned(),
            read_gates: Some(admin::ReadGates { min_compared: Some(1), ..admin::ReadGates::default() }),
            canary_share: Some(1.0),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        fixture.client.create_namespace(request).await.unwrap();
        fixture.write((0..EVENTS).map(|at| event(start, at)).collect()).await;
        let closed = admin::Namespace {
            name: NAMESPACE.to_owned(),
            accept_limit: seconds(60),
            ..admin::Namespace::default()
        };
        let request = admin::UpdateNamespaceRequest { namespace: Some(closed), ..Default::default() };
        fixture.client.update_namespace(request).await.unwrap();
        let table = fixture.client.list_slices(NAMESPACE).await.unwrap().slices.remove(0).table;
        let time_bucket = u32::try_from(start.rem_euclid(24 * HOUR) / HOUR).unwrap();
        let request = admin::CreateSplitRequest {
            namespace: NAMESPACE.to_owned(),
            time_slice: table,
            time_series_id: "whale".to_owned(),
            time_bucket,
            ..Default::default()
        };
        let id = fixture.client.create_split(request).await.unwrap().id;
        let wide = Wide { start, id };
        fixture.until("COMPLETED", &wide).await;
        (fixture, wide)
    }

    async fn until(&self, state: &str, wide: &Wide) -> admin::Split {
        loop {
            let split = self.client.get_split(NAMESPACE, &wide.id).await.unwrap();
            if split.state == state {
                return split;
            }
            assert!(!matches!(split.state.as_str(), "FAILED" | "REJECTED"), "{:?}", split.reason);
            tokio::task::yield_now().await;
        }
    }

    /// Reads all of it, checks that it is all, and says from how many targets it came.
    async fn targets_read(&self, wide: &Wide) -> i64 {
        let request =
            v1::ReadEventRecordsRequest { page_size: 1_000, ..reads("whale", wide.start, wide.start + HOUR) };
        let page = self.client.read(request.clone()).await.unwrap();
        let expect: Vec<v1::Event> = (0..EVENTS).rev().map(|at| event(wide.start, at)).collect();
        assert!(page.records == expect, "{} events", page.records.len());
        let context = &page.response_context[0];
        let routes = context.routes.unwrap();
        assert_eq!((context.partitions, context.fallbacks), (routes.origin + routes.target, 0));
        let explained = self.client.explain(request).await.unwrap();
        let partition = &explained.slices[0].time_buckets[0].event_buckets[0];
        assert_eq!(partition.targets.len(), usize::try_from(routes.target).unwrap(), "{partition:?}");
        assert_eq!(partition.route, if routes.target > 0 { "TARGET" } else { "ORIGIN" });
        routes.target
    }

    async fn step(&self) -> admin::ReadMode {
        let request = admin::AdvanceReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
        self.client.advance_read_mode(request).await.unwrap()
    }

    async fn compare_all(&self) -> admin::CompareReadModeResponse {
        let request = admin::CompareReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
        self.client.compare_read_mode(request).await.unwrap()
    }

    async fn probed(&self, wide: &Wide) -> admin::ProbedPartition {
        let interval = reads("whale", wide.start, wide.start + HOUR).time_interval;
        let request = admin::ProbeFilterRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: "whale".to_owned(),
            time_interval: interval,
        };
        self.client.probe_filter(request).await.unwrap().partitions.remove(0)
    }
}

#[tokio::test]
async fn reads_move_from_the_origin_to_targets_and_back() {
    let (mut fixture, wide) = Fixture::with_split(Home::new()).await;
    assert_eq!(fixture.targets_read(&wide).await, 0, "shadow serves the origin");
    let filter = fixture.client.list_filters(NAMESPACE).await.unwrap().filters.remove(0);
    assert_eq!((filter.namespace.as_str(), filter.elements), (NAMESPACE, 1));
    assert!(wide.id.starts_with(&format!("{}/", filter.time_slice)) && filter.size_bytes > 0, "{filter:?}");
    let probed = fixture.probed(&wide).await;
    let words = [&probed.filter, &probed.state, &probed.route, &probed.fallback];
    assert_eq!(words, ["YES", "COMPLETED", "ORIGIN", ""]);

    for mode in ["canary", "on"] {
        let compared = fixture.compare_all().await;
        assert_eq!((compared.splits, compared.records, compared.differ), (1, EVENTS, 0));
        assert_eq!(fixture.step().await.mode, mode);
        assert!(fixture.targets_read(&wide).await > 0, "{mode}");
        assert_eq!(fixture.probed(&wide).await.route, "TARGET");
        fixture.restart().await;
        assert!(fixture.targets_read(&wide).await > 0, "{mode}, after a restart");
    }
    let on = fixture.client.get_read_mode(NAMESPACE).await.unwrap();
    assert_eq!((on.mode.as_str(), on.next_mode.as_str()), ("on", ""));
    let back = admin::RollbackReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
    assert_eq!(fixture.client.rollback_read_mode(back).await.unwrap().mode, "shadow");
    assert_eq!(fixture.targets_read(&wide).await, 0);
}

#[tokio::test]
async fn servers_move_reads_on_by_themselves_when_all_gates_are_open() {
    let (fixture, wide) = Fixture::with_split(Home::new()).await;
    let gates =
        admin::ReadGates { min_compared: Some(1), min_time: seconds(0), ..admin::ReadGates::default() };
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        read_mode_policy: "auto".to_owned(),
        read_gates: Some(gates),
        ..admin::Namespace::default()
    };
    let request = admin::UpdateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    fixture.client.update_namespace(request).await.unwrap();
    assert_eq!(fixture.compare_all().await.differ, 0);
    let env = Env::system();
    let (mut mode, mut looks) = (String::new(), 0);
    while mode != "canary" {
        assert!(looks < LOOKS, "reads are still {mode}");
        looks += 1;
        env.clock.sleep(LOOK_EVERY).await;
        mode = fixture.client.get_read_mode(NAMESPACE).await.unwrap().mode;
    }
    assert!(fixture.targets_read(&wide).await > 0);
    let audit = fixture.client.list_audit(admin::ListAuditRequest::default()).await.unwrap();
    assert_eq!(audit.entries[0].author, "braid");
    assert!(audit.entries[0].reason.contains("min_compared 1"), "{:?}", audit.entries[0]);
}

/// Takes one target away behind the back of a server that is stopped.
async fn damage(home: &Home) {
    let config = home.config(&[]);
    let store =
        EmbeddedStore::open(&config.store.data, config.embedded_options(), Env::system()).await.unwrap();
    let tables = store.list_tables().await.unwrap();
    let wide = tables.into_iter().find(|table| table.name.as_str().starts_with("wide_")).unwrap();
    let (table, consistency) = (wide.clone(), Consistency::LocalQuorum);
    let request = Enumerate { table, after: None, partitions_max: 1, consistency };
    let target = store.enumerate(request).await.unwrap().partitions.remove(0);
    store.delete_partition(&wide, &target, consistency).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_difference_is_found_shown_and_takes_reads_back() {
    let (mut fixture, wide) = Fixture::with_split(Home::embedded()).await;
    fixture.compare_all().await;
    assert_eq!(fixture.step().await.mode, "canary");
    fixture.server.take().unwrap().stop().await;
    damage(&fixture.home).await;
    let server = start_in(&fixture.home, &[]).await;
    fixture.client = rpc::client::Client::new(&server.address().to_string()).unwrap();
    fixture.server = Some(server);

    let compared = fixture.compare_all().await;
    assert_eq!((compared.splits, compared.differ), (1, 1), "{compared:?}");
    assert!(compared.differ_bytes > 0, "{compared:?}");
    let found = fixture.client.list_mismatches(NAMESPACE).await.unwrap().mismatches;
    // The read that found it, and the comparison of all of the split that confirmed it.
    assert!(!found.is_empty() && found.iter().all(|one| one.split_id == wide.id), "{found:?}");
    let mismatch = &found[0];
    assert!(mismatch.read.starts_with("whale from ") && mismatch.time.is_some(), "{mismatch:?}");
    let (origin, target) = (mismatch.origin.as_ref().unwrap(), mismatch.target.as_ref().unwrap());
    assert_eq!(origin.records, EVENTS);
    assert!(target.records < origin.records && !origin.first.is_empty(), "{mismatch:?}");
    let mode = fixture.client.get_read_mode(NAMESPACE).await.unwrap();
    assert_eq!(mode.mode, "shadow");
    assert!(mode.evidence.unwrap().differ > 0, "{mode:?}");
    assert_eq!(fixture.targets_read(&wide).await, 0, "and the origin has everything");
    let request = admin::AdvanceReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
    let refused = fixture.client.advance_read_mode(request).await.unwrap_err();
    assert_eq!(refused.reason.as_deref(), Some("READ_MODE_GATE_FAILED"));
    assert!(refused.message.contains("max_differ_bytes is "), "{refused}");
    let split = fixture.client.get_split(NAMESPACE, &wide.id).await.unwrap();
    assert_eq!(split.reason.unwrap().code, "MISMATCH");
}
