//! A server that has not heard that a split goes out of use reads its targets as long as its lease lasts: until then they stay.

use engine::{Bug, Options, SplitLayout};
use sim::World;
use sim::cluster::Cut;
use split::State;

use crate::scene::{EVENTS, LAYOUTS, SECOND, name, read, server, wide};

/// Retires a split while another server cannot hear of it; how many events that one reads meanwhile, and from how many targets.
async fn read_meanwhile(world: World, bug: Option<Bug>, layout: SplitLayout) -> (usize, u64) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let options = || Options { bug, ..Options::default() };
    let (here, _) = server(&world, &cluster, "here", options()).await;
    let (there, way) = server(&world, &cluster, "there", options()).await;
    let (table, partition, _) = wide(&world, &here, layout).await;
    let made =
        here.create_split(&name(), &table, &partition, engine::SplitAsk::default()).await.expect("asked for");
    assert!(here.work_on_splits().await.expect("it works"), "there is something to do");
    there.refresh_filters().await.expect("read");
    assert!(read(&there, 1_000).await.cost.targets > 1, "it knows the split");
    way.cut(Cut::Metadata);
    here.retire_split(&name(), &made.id, false).await.expect("retired");
    let later = async {
        world.clock().sleep(5 * SECOND).await;
        read(&there, 1_000).await
    };
    let (worked, page) = futures::join!(here.work_on_splits(), later);
    assert!(worked.expect("it works"), "it has to go out of use");
    let record = here.get_split(&name(), &made.id).await.expect("there").record;
    assert_eq!(record.state, State::Retired);
    (page.events.len(), page.cost.targets)
}

/// In either layout.
fn played(bug: Option<Bug>) -> [(usize, u64); 2] {
    let run = |layout| World::run(1, move |world| Box::pin(read_meanwhile(world, bug, layout)));
    LAYOUTS.map(|layout| run(layout).expect("no task panics"))
}

#[test]
fn targets_stay_as_long_as_anybody_may_read_them() {
    for (events, targets) in played(None) {
        assert!(events as u64 == EVENTS && targets > 1, "{events} events of {targets} targets");
    }
}

#[test]
fn without_the_barrier_they_are_read_when_they_are_empty() {
    assert_eq!(played(Some(Bug::RetireWithoutBarrier)).map(|(events, _)| events), [0; 2]);
}
