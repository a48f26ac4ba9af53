//! A completed split whose slice is dropped while it is compared: that says nothing against the split, and nothing is left of it.

use engine::{NamespaceSpec, Options, SplitLayout, SplitLimits};
use sim::World;
use split::State;
use store::Store;

use crate::scene::{LAYOUTS, SECOND, name, server, wide};

/// Slow enough for something to happen while origin and targets are read.
const SLOWLY: SplitLimits = SplitLimits {
    at_once: 1,
    bytes_per_second: 8 << 10,
    page_bytes: 8 << 10,
    disk_stop: 0.75,
    disk_abort: 0.85,
};

async fn scenario(world: World, layout: SplitLayout) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let options = Options { splits: SLOWLY, ..Options::default() };
    let (engine, _) = server(&world, &cluster, "here", options).await;
    let (table, partition, _) = wide(&world, &engine, layout).await;
    let made = engine
        .create_split(&name(), &table, &partition, engine::SplitAsk::default())
        .await
        .expect("asked for");
    assert!(engine.work_on_splits().await.expect("it works"), "there is something to do");
    let present = engine.get_namespace(&name()).expect("there").spec;
    let hour = 3_600 * SECOND;
    let spec = NamespaceSpec { close_after: hour, delete_after: hour, ..present };
    engine.update_namespace(&name(), spec, None).await.expect("changed");
    world.clock().sleep(3 * hour).await;
    let drops = async {
        world.clock().sleep(SECOND).await;
        engine.drop_expired().await.expect("dropped")
    };
    let (compared, dropped) = futures::join!(engine.work_on_splits(), drops);
    assert!(compared.is_ok() && dropped > 0, "{compared:?}, {dropped} slices");
    assert_eq!(cluster.list_tables().await.expect("listed"), []);
    let left = engine.get_split(&name(), &made.id).await.map(|split| split.record.state);
    assert!(!matches!(left, Ok(state) if state != State::Completed), "{left:?}");
}

#[test]
fn a_comparison_that_is_cut_short_fails_nothing() {
    for layout in LAYOUTS {
        World::run(1, |world| Box::pin(scenario(world, layout))).expect("no task panics");
    }
}
