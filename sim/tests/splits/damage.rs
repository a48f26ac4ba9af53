//! A stored row of a target that is damaged after the split was completed: the next comparison takes the split out of use.

use engine::{Options, SplitLayout};
use model::{PartitionKey, TableName, TableRef};
use sim::World;
use sim::cluster::Corruption;
use split::{Reason, State};

use crate::scene::{LAYOUTS, name, server, wide};

/// Splits, damages one row, compares; what became of the split, and why.
async fn damaged(
    world: World,
    how: fn(PartitionKey) -> Corruption,
    layout: SplitLayout,
) -> (State, Option<Reason>) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let (engine, _) = server(&world, &cluster, "here", Options::default()).await;
    let (table, partition, _) = wide(&world, &engine, layout).await;
    let made = engine
        .create_split(&name(), &table, &partition, engine::SplitAsk::default())
        .await
        .expect("asked for");
    assert!(engine.work_on_splits().await.expect("it works"), "there is something to do");
    let same = engine.verify_split(&name(), &made.id).await.expect("compared").record;
    assert_eq!((same.state, same.rechecked), (State::Completed, 1), "{:?}", same.reason);
    let targets = same.post_split_data.expect("planned");
    let bucket = |at: usize| targets.partitions.get(at).expect("at least two").event_bucket;
    let [first, second] = [0, 1].map(|at| PartitionKey { event_bucket: bucket(at), ..partition.clone() });
    let wide = TableRef {
        namespace: name(),
        incarnation: 1,
        name: TableName::new(&targets.time_slice).expect("legal"),
    };
    assert!(cluster.corrupt(&wide, &first, 3, &how(second)), "there is a row");
    let record = engine.verify_split(&name(), &made.id).await.expect("compared").record;
    (record.state, record.reason.map(|why| why.code))
}

#[test]
fn every_damage_is_found_by_a_comparison() {
    let kinds: [fn(PartitionKey) -> Corruption; 4] =
        [|_| Corruption::Flip, |_| Corruption::Drop, Corruption::Double, Corruption::Misplace];
    for layout in LAYOUTS {
        for how in kinds {
            let found = World::run(1, |world| Box::pin(damaged(world, how, layout))).expect("no task panics");
            assert_eq!(found, (State::Retired, Some(Reason::Mismatch)), "{layout:?}");
        }
    }
}
