//! Counting by headers that do not come, or that are not enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::{
    AggregateRequest, Aggregation, Engine, Member, NamespaceSpec, Options, ReadMode, ReadRequest, SplitSpec,
};
use env::{BoxFuture, Env};
use store::Store;
use store::layer::{Call, Layer, Layered, Op, Outcome};

use crate::routes::in_mode;
use crate::world::{NANOS, World, request, spec};

/// Counts scans, and never answers the next one if that is wanted.
#[derive(Clone, Default)]
struct Scans {
    begun: Arc<AtomicUsize>,
    hangs: Arc<AtomicBool>,
}

impl Layer for Scans {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op == Op::Scan {
            self.begun.fetch_add(1, Ordering::SeqCst);
            if self.hangs.swap(false, Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
        }
        next.await
    }
}

/// A server over the store of a world.
async fn server(world: &World) -> (Engine, Scans) {
    let scans = Scans::default();
    let seen: Arc<dyn Store> = Arc::clone(&world.store) as Arc<dyn Store>;
    let layered = Arc::new(Layered::new(seen, scans.clone()));
    let env = Env { clock: Arc::new(world.clock.clone()), ..Env::system() };
    let options = Options { member: Member { alone: true, ..Member::default() }, ..Options::default() };
    (Engine::open_with(layered, env, options).await.unwrap(), scans)
}

/// A page whose time was over with the count half done would not be any further, and neither would the next.
#[tokio::test]
async fn headers_that_do_not_come_leave_time_to_count_rows() {
    let world = World::wide(in_mode(spec(), ReadMode::On)).await;
    world.work().await;
    let (engine, scans) = server(&world).await;
    scans.hangs.store(true, Ordering::SeqCst);
    let asked = AggregateRequest { read: request("hot"), aggregation: Aggregation::Count };
    let page = Box::pin(world.during(engine.aggregate(asked))).await.unwrap();
    assert!(!scans.hangs.load(Ordering::SeqCst), "headers were asked for");
    assert_eq!((page.count, page.next, page.partial), (400, None, None));
    assert!(page.cost.targets > 0 && page.cost.origins == 0);
}

/// Stretches that are shorter than a chunk want every chunk: many of them at once.
#[tokio::test]
async fn chunks_that_all_have_to_be_taken_apart_are_not_fetched_one_by_one() {
    let split = SplitSpec { threshold_bytes: 4 << 20, target_bytes: 4 << 20, ..spec().split };
    let world = World::new(in_mode(NamespaceSpec { split, ..spec() }, ReadMode::On)).await;
    world.fill("hot", 2_400).await;
    world.read("hot").await;
    world.pass(4 * crate::world::HOUR).await;
    world.work().await;
    let stored = world.split("hot").await.record.post_split_data.unwrap().partitions;
    let chunks: u64 = stored.iter().map(|target| target.stored_rows).sum();
    assert!(stored.len() == 2 && chunks > 70, "{chunks} chunks in {} targets", stored.len());
    let (engine, scans) = server(&world).await;
    for (width, most) in [(NANOS, 35), (3_600 * NANOS, 8)] {
        scans.begun.store(0, Ordering::SeqCst);
        let read = ReadRequest { page_records: 3_000, ..request("hot") };
        let asked = AggregateRequest { read, aggregation: Aggregation::TimeHistogram { width } };
        let page = engine.aggregate(asked).await.unwrap();
        let counted: u64 = page.buckets.iter().map(|bucket| bucket.count).sum();
        assert_eq!((page.count, counted, page.next), (2_400, 2_400, None));
        let begun = scans.begun.load(Ordering::SeqCst);
        assert!(begun <= most, "{begun} scans for {chunks} chunks, width {width}");
    }
}
