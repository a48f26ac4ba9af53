//! Reading ahead: one page per partition, only where it will be needed, ended with the read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, Options, ReadLimits, ReadRequest, Reason, SearchQuery,
    Shape, WriteRequest,
};
use env::{BoxFuture, Env, ManualClock};
use model::{Interval, NamespaceName, SeriesId};
use store::layer::{Call, LaneLayer, Lanes, Layer, Layered, Op, Outcome};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;

/// What a test knows of the scans.
#[derive(Clone, Default)]
struct Scans {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    begun: AtomicUsize,
    /// The scan that never ends; zero for none.
    hang_at: AtomicUsize,
    /// Whether scans take a moment.
    slow: AtomicBool,
    hanging: AtomicUsize,
    /// The scan that fails; zero for none.
    fail_at: AtomicUsize,
    /// Of each scan, whether the read may look away from it.
    ahead: Mutex<Vec<bool>>,
}

/// Counts as long as it is there.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Layer for Scans {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op != Op::Scan {
            return next.await;
        }
        self.shared.ahead.lock().unwrap().push(call.ahead);
        let number = self.shared.begun.fetch_add(1, Ordering::SeqCst) + 1;
        if number == self.shared.hang_at.load(Ordering::SeqCst) {
            let _hanging = Counted::new(&self.shared.hanging);
            std::future::pending::<()>().await;
        }
        if number == self.shared.fail_at.load(Ordering::SeqCst) {
            return Err(store::Error::new(store::ErrorKind::Unavailable, "no; try again"));
        }
        // No answer is there at once.
        if self.shared.slow.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        next.await
    }
}

struct World {
    engine: Engine,
    clock: ManualClock,
    scans: Scans,
    name: NamespaceName,
}

/// One series with 10,000 events of 20 bytes and more in one time bucket.
async fn world(buckets_per_id: u16) -> World {
    world_of(buckets_per_id, 0).await
}

/// The same with values of so many bytes.
async fn world_of(buckets_per_id: u16, value_bytes: usize) -> World {
    world_on(buckets_per_id, value_bytes, false).await
}

/// The same, on a store that runs one scan at a time.
async fn world_on(buckets_per_id: u16, value_bytes: usize, one_lane: bool) -> World {
    let scans = Scans::default();
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let store = Layered::new(Arc::new(MemoryStore::new()), scans.clone());
    // As narrow as can be: whatever keeps a lane without need stops everything.
    let lanes = LaneLayer::new(Arc::clone(&env.spawn), Lanes { small: 1, wide: 1 });
    let store: Arc<dyn Store> =
        if one_lane { Arc::new(Layered::new(Arc::new(store), lanes)) } else { Arc::new(store) };
    let limits = ReadLimits { running: 2, waiting: 1 };
    let engine =
        Engine::open_with(store, env, Options { reads: limits, ..Options::default() }).await.unwrap();
    let name = NamespaceName::new("ahead").unwrap();
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 3_600, buckets_per_id };
    let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
    engine.create_namespace(&name, spec).await.unwrap();
    for thousand in 0..10 {
        let events = (0..1_000).map(|number| EventInput {
            series: "s".to_owned(),
            time: Some((START, 0)),
            event_id: format!("e{thousand}_{number}"),
            items: vec![ItemInput {
                key: "k".to_owned(),
                value: Bytes::from(vec![7; value_bytes]),
                ..ItemInput::default()
            }],
        });
        let request = WriteRequest { namespace: name.clone(), events: events.collect() };
        assert_eq!(engine.write_synced(request).await.unwrap().accepted, 1_000);
    }
    World { engine, clock, scans, name }
}

impl World {
    fn request(&self, page_records: usize) -> ReadRequest {
        ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records,
            order: model::Order::NewestFirst,
            resume: None,
            total_limit: None,
        }
    }

    /// Whether the scans since the last call were ahead, in the order in which they began.
    fn ahead(&self) -> Vec<bool> {
        std::mem::take(&mut self.scans.shared.ahead.lock().unwrap())
    }

    /// Gives the namespace groups of ten minutes and two more days, in which the series has one event.
    async fn become_sparse(&self) -> ReadRequest {
        let shape = Shape { seconds_per_slice: 86_400, seconds_per_bucket: 600, buckets_per_id: 4 };
        let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
        self.engine.update_namespace(&self.name, spec, None).await.unwrap();
        let event = EventInput {
            series: "s".to_owned(),
            time: Some((START + 2 * 86_400, 0)),
            event_id: "late".to_owned(),
            items: vec![ItemInput { key: "k".to_owned(), value: Bytes::new(), ..ItemInput::default() }],
        };
        self.clock.advance(Duration::from_secs(2 * 86_400));
        let request = WriteRequest { namespace: self.name.clone(), events: vec![event] };
        assert_eq!(self.engine.write_synced(request).await.unwrap().accepted, 1);
        let sparse =
            Interval::new((START + 86_400) * 1_000_000_000, (START + 3 * 86_400) * 1_000_000_000).unwrap();
        ReadRequest { interval: sparse, ..self.request(100) }
    }

    /// Scans begun so far, and those that hang.
    fn counts(&self) -> (usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.scans.shared.begun), count(&self.scans.shared.hanging))
    }
}

#[tokio::test]
async fn a_read_that_its_first_pages_answer_reads_nothing_ahead() {
    let one = world(1).await;
    assert_eq!(one.engine.read(one.request(100)).await.unwrap().events.len(), 100);
    assert_eq!(one.counts(), (1, 0));
    let four = world(4).await;
    let page = four.engine.read(four.request(1_000)).await.unwrap();
    assert_eq!((page.events.len(), four.counts()), (1_000, (4, 0)));
    // Each gives its quarter, not the whole page; a row has less than 20 bytes.
    assert!(page.cost.bytes_read < 1_600 * 20, "{:?}", page.cost);
    let few = ReadRequest { total_limit: Some(3), ..four.request(1_000) };
    let page = four.engine.read(few).await.unwrap();
    assert_eq!((page.events.len(), page.next), (3, None));
    assert!(page.cost.bytes_read <= 4 * 4 * 20, "{:?}", page.cost);
}

#[tokio::test]
async fn a_long_read_is_read_ahead_page_by_page_and_no_further() {
    let world = world(1).await;
    let page = world.engine.read(world.request(9_000)).await.unwrap();
    // 8,192 rows a page: one more is needed behind the first, none behind that.
    assert_eq!((page.events.len(), world.counts()), (9_000, (2, 0)));
}

#[tokio::test]
async fn only_what_is_not_waited_for_at_once_is_ahead() {
    let world = world(1).await;
    world.engine.read(world.request(100)).await.unwrap();
    assert_eq!(world.ahead(), [false]);
    world.engine.read(world.request(9_000)).await.unwrap();
    assert_eq!(world.ahead(), [false, true]);
    // The guess was too small, and the page is needed now.
    let query = Some(SearchQuery::Exists { key: "none".to_owned() });
    world.engine.read(ReadRequest { query, ..world.request(5_000) }).await.unwrap();
    assert_eq!(world.ahead(), [false, false]);
}

#[tokio::test]
async fn of_all_series_the_first_partition_is_waited_for_at_once() {
    let world = world(4).await;
    let everything = ReadRequest { series: Vec::new(), ..world.request(10_000) };
    assert_eq!(world.engine.read(everything).await.unwrap().events.len(), 10_000);
    assert_eq!(world.ahead(), [false, true, true, true]);
}

#[tokio::test]
async fn nothing_that_is_read_ahead_keeps_a_lane_from_what_is_needed() {
    let world = world_on(4, 300, true).await;
    world.scans.shared.slow.store(true, Ordering::SeqCst);
    let done = async |request: ReadRequest| {
        let mut read = Box::pin(world.engine.read(request));
        for _ in 0..100_000 {
            if let std::task::Poll::Ready(page) = futures::poll!(&mut read) {
                return page.unwrap().events.len();
            }
            tokio::task::yield_now().await;
        }
        panic!("it waits for a lane for ever");
    };
    // Pages ahead of each partition.
    assert_eq!(done(world.request(9_000)).await, 9_000);
    let everything = ReadRequest { series: Vec::new(), ..world.request(9_000) };
    assert_eq!(done(everything).await, 9_000);
    // Groups ahead of the one whose rows are used, and that one goes on behind its first page.
    let sparse = world.become_sparse().await;
    for _ in 0..3 {
        assert_eq!(done(sparse.clone()).await, 1);
    }
    let all = ReadRequest { interval: Interval::ALL, ..world.request(9_000) };
    assert_eq!(done(all).await, 9_000);
}

/// Counts how often a task is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_read_that_waits_for_the_store_is_not_woken_before_that_answers() {
    for buckets in [1, 4] {
        let (world, woken) = (world(buckets).await, Arc::new(Woken::default()));
        world.scans.shared.hang_at.store(1, Ordering::SeqCst);
        let (waker, mut read) =
            (Waker::from(Arc::clone(&woken)), Box::pin(world.engine.read(world.request(10))));
        assert!(read.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(woken.0.load(Ordering::SeqCst), 0, "{buckets}");
    }
}

#[tokio::test]
async fn a_read_that_outgrows_its_guess_asks_for_more_and_more() {
    let world = world(1).await;
    let query = Some(SearchQuery::Exists { key: "none".to_owned() });
    let page = world.engine.read(ReadRequest { query, ..world.request(3_000) }).await.unwrap();
    assert_eq!((page.events.len(), page.next), (0, None));
    // 3,001 rows, then as many again and some more, then the rest.
    assert_eq!(world.counts(), (3, 0));
    let query = Some(SearchQuery::Exists { key: "none".to_owned() });
    world.engine.read(ReadRequest { query, ..world.request(1) }).await.unwrap();
    let (scans, _) = world.counts();
    assert!(scans - 3 < 12, "{scans}");
}

#[tokio::test]
async fn pages_read_ahead_come_in_order() {
    for buckets in [1, 4, 64] {
        let world = world(buckets).await;
        let page = world.engine.read(world.request(10_000)).await.unwrap();
        assert_eq!(page.events.len(), 10_000);
        assert!(page.events.is_sorted_by(|before, behind| before.event_id() > behind.event_id()));
    }
}

#[tokio::test]
async fn each_partition_is_one_page_ahead_and_that_ends_with_the_read() {
    // 5,000 rows in each partition, over a megabyte.
    let world = world_of(2, 300).await;
    world.scans.shared.hang_at.store(2, Ordering::SeqCst);
    let mut read = Box::pin(world.engine.read(world.request(9_500)));
    assert!(futures::poll!(&mut read).is_pending());
    // Two pages of each: the second one of the first partition hangs, and kept nobody from going on until it was needed.
    assert_eq!(world.counts(), (4, 1));
    assert!(futures::poll!(&mut read).is_pending());
    assert_eq!(world.counts(), (4, 1));
    drop(read);
    assert_eq!(world.counts(), (4, 0));
}

#[tokio::test]
async fn a_page_ahead_that_fails_fails_the_read() {
    let world = world(1).await;
    world.scans.shared.fail_at.store(2, Ordering::SeqCst);
    let failed = world.engine.read(world.request(9_000)).await.unwrap_err();
    assert_eq!(failed.reason(), Reason::BackendOverloaded);
    assert_eq!(world.engine.read(world.request(9_000)).await.unwrap().events.len(), 9_000);
}

#[tokio::test]
async fn how_far_groups_are_read_ahead_is_learned_from_the_namespace() {
    let world = world(4).await;
    let ahead = async |page_records| {
        let explained = world.engine.explain(world.request(page_records)).await.unwrap();
        explained.read_ahead
    };
    // Dense: a page is always found in the first group.
    world.engine.read(world.request(100)).await.unwrap();
    assert_eq!(ahead(100).await, 0);
    // Sparse: one event in a day of 144 groups, after the dense one.
    let request = world.become_sparse().await;
    let before = world.engine.explain(request.clone()).await.unwrap();
    for _ in 0..40 {
        assert_eq!(world.engine.read(request.clone()).await.unwrap().events.len(), 1);
    }
    let after = world.engine.explain(request.clone()).await.unwrap();
    assert_eq!((before.page.events.len(), after.page.events.len()), (1, 1));
    assert_eq!(after.read_ahead, 32, "as far as it may, from the first group on");
    assert!(after.groups.len() == before.groups.len() && after.groups.len() > 100);
    // The first group is waited for at once; from all others the read looks away while it uses the rows of one.
    world.ahead();
    world.engine.explain(request).await.unwrap();
    let scans = world.ahead();
    assert_eq!(scans.iter().position(|ahead| *ahead), Some(4), "one for each partition of the first group");
    assert!(scans.iter().skip(4).all(|ahead| *ahead), "{scans:?}");
}

#[tokio::test]
async fn too_many_reads_of_a_namespace_wait_and_more_are_refused_at_once() {
    let world = world(1).await;
    world.scans.shared.hang_at.store(1, Ordering::SeqCst);
    let mut hanging = Box::pin(world.engine.read(world.request(10)));
    assert!(futures::poll!(&mut hanging).is_pending());
    world.scans.shared.hang_at.store(2, Ordering::SeqCst);
    let mut second = Box::pin(world.engine.read(world.request(10)));
    assert!(futures::poll!(&mut second).is_pending());
    let mut waiting = Box::pin(world.engine.read(world.request(10)));
    assert!(futures::poll!(&mut waiting).is_pending());
    let refused = world.engine.read(world.request(10)).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::RateLimited);
    // Another namespace has places of its own.
    let other = NamespaceName::new("other").unwrap();
    world.engine.create_namespace(&other, NamespaceSpec::default()).await.unwrap();
    let elsewhere = ReadRequest { namespace: other, ..world.request(10) };
    assert!(world.engine.read(elsewhere).await.is_ok());
    drop(hanging);
    assert_eq!(waiting.await.unwrap().events.len(), 10);
    drop(second);
    assert_eq!(world.counts().1, 0, "what was dropped has ended");
}
