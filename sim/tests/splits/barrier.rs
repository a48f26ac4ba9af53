//! A server that has not heard of the end of a backfill still acknowledges events of it. A split that begins then has to wait for
//! the barrier. Chance meets this too seldom, so here it is played on purpose.

use engine::{Bug, Options, SplitLayout};
use model::Interval;
use sim::World;
use sim::cluster::Cut;
use split::State;

use crate::scene::{EVENTS, LAYOUTS, NANOS, SECOND, name, server, wide, write};

/// Splits what a backfill was open for, while another server does not know that it has ended; whether that one acknowledged an
/// event, and how many events the split has.
async fn split_behind_a_backfill(world: World, bug: Option<Bug>, layout: SplitLayout) -> (bool, u64) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let options = || Options { bug, ..Options::default() };
    let (here, _) = server(&world, &cluster, "here", options()).await;
    let (there, way) = server(&world, &cluster, "there", options()).await;
    let (table, partition, second) = wide(&world, &here, layout).await;
    let clock = world.clock();
    let interval = Interval::new(second * NANOS, (second + 60) * NANOS).expect("legal");
    let backfill = here.begin_backfill(&name(), interval).await.expect("open");
    clock.sleep(3 * SECOND).await;
    way.cut(Cut::Metadata);
    here.end_backfill(&name(), backfill.id).await.expect("ended");
    let made =
        here.create_split(&name(), &table, &partition, engine::SplitAsk::default()).await.expect("asked for");
    let late = async {
        clock.sleep(5 * SECOND).await;
        write(&there, second, "late".to_owned(), 1).await
    };
    let (worked, acknowledged) = futures::join!(here.work_on_splits(), late);
    assert!(worked.expect("it works"), "there is something to do");
    let record = here.get_split(&name(), &made.id).await.expect("there").record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    (acknowledged, record.pre_split_data.digest.expect("planned").rows)
}

/// In either layout.
fn played(bug: Option<Bug>) -> [(bool, u64); 2] {
    let run = |layout| World::run(1, move |world| Box::pin(split_behind_a_backfill(world, bug, layout)));
    LAYOUTS.map(|layout| run(layout).expect("no task panics"))
}

#[test]
fn a_split_has_what_was_acknowledged_by_whoever_knew_less() {
    assert_eq!(played(None), [(true, EVENTS + 1); 2]);
}

#[test]
fn without_the_barrier_it_lacks_that() {
    assert_eq!(played(Some(Bug::ScanBeforeBarrier)), [(true, EVENTS); 2]);
}
