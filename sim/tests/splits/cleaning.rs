//! Targets that nobody reads any more, and that cannot be deleted for a while: workers do not hang on to them, and nothing is
//! due once they are gone.

use engine::{Options, SplitLayout};
use sim::World;
use sim::cluster::{Chances, Faults};
use split::State;

use crate::scene::{LAYOUTS, SECOND, name, server, wide};

async fn scenario(world: World, layout: SplitLayout) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let (engine, _) = server(&world, &cluster, "here", Options::default()).await;
    let (table, partition, _) = wide(&world, &engine, layout).await;
    let made = engine
        .create_split(&name(), &table, &partition, engine::SplitAsk::default())
        .await
        .expect("asked for");
    assert!(engine.work_on_splits().await.expect("it works"), "there is something to do");
    engine.retire_split(&name(), &made.id, false).await.expect("retired");
    assert!(engine.work_on_splits().await.expect("it works"), "it has to go out of use");
    world.clock().sleep(601 * SECOND).await;
    let refused = Chances { refuse: 1_000, ..Chances::default() };
    cluster.set_faults(Faults { rows: refused, ..Faults::none() });
    assert!(engine.work_on_splits().await.expect("it is put off"), "the targets are to be deleted");
    assert!(!engine.work_on_splits().await.expect("it works"), "not again at once");
    cluster.set_faults(Faults::none());
    world.clock().sleep(61 * SECOND).await;
    assert!(engine.work_on_splits().await.expect("it works"), "the targets are to be deleted");
    world.clock().sleep(600 * SECOND).await;
    assert!(!engine.work_on_splits().await.expect("it works"), "nothing is left to do");
    let record = engine.get_split(&name(), &made.id).await.expect("there").record;
    assert_eq!((record.state, record.garbage.len(), record.due()), (State::Retired, 0, None));
}

#[test]
fn what_cannot_be_deleted_is_tried_again_and_then_forgotten() {
    for layout in LAYOUTS {
        World::run(1, |world| Box::pin(scenario(world, layout))).expect("no task panics");
    }
}
