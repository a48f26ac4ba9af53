//! Deleted partitions: what is hidden, how a deletion reaches every replica, and what it leaves alone.

use std::time::Duration;

use model::{PartitionKey, Row};
use sim::Cluster;
use sim::cluster::{Chances, Faults, Options};
use store::{
    Consistency, Durability, Effort, Enumerate, ErrorKind, PartitionBatch, Storage, Store, TableOutcome,
};

use crate::fixture::{batch, make_table, partition, row, run, scan, table, times};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const NONE: [i64; 0] = [];

async fn delete(cluster: &Cluster) -> Result<(), ErrorKind> {
    let deleted = cluster.delete_partition(&table(), &partition(), Consistency::LocalQuorum).await;
    deleted.map_err(|error| error.kind())
}

async fn read(cluster: &Cluster) -> Vec<i64> {
    times(&cluster.scan(scan(&table())).await.expect("scan"))
}

async fn listed(cluster: &Cluster) -> Vec<PartitionKey> {
    let (table, consistency) = (table(), Consistency::LocalQuorum);
    let request = Enumerate { table, after: None, partitions_max: 10, consistency };
    cluster.enumerate(request).await.expect("enumerate").partitions
}

fn on(cluster: &Cluster, replica: usize) -> Vec<i64> {
    times(&cluster.replica_rows(replica, &table(), &partition()).expect("there is one"))
}

#[test]
fn what_comes_after_its_deletion_stays_hidden() {
    for seed in 0..20 {
        run(seed, |world| async move {
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            let late = Chances { late: 1_000, ..Chances::default() };
            cluster.set_faults(Faults { rows: late, ..Faults::none() });
            for time in 0..10 {
                cluster.upsert(batch(&table, &[time]), Durability::Synced).await.unwrap_err();
            }
            cluster.set_faults(Faults::none());
            delete(&cluster).await.unwrap();
            assert!(cluster.in_flight() > 0, "seed {seed}: writes are on their way");
            assert_eq!(read(&cluster).await, NONE, "seed {seed}");
            world.clock().sleep(6 * MINUTE).await;
            assert_eq!((read(&cluster).await, cluster.in_flight()), (vec![], 0), "seed {seed}");
            assert_eq!((0..3).flat_map(|replica| on(&cluster, replica)).collect::<Vec<_>>(), NONE);
        });
    }
}

#[test]
fn a_deletion_is_seen_with_any_one_replica_down() {
    for (seed, missed) in (0..30).zip([0, 1, 2].into_iter().cycle()) {
        run(seed, |world| async move {
            let faults = Faults { lose_hint: 1_000, ..Faults::none() };
            let cluster = world.cluster(Options { faults, ..Options::default() });
            let table = make_table(&cluster).await;
            cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
            world.clock().sleep(SECOND).await;
            cluster.set_up(missed, false);
            delete(&cluster).await.unwrap();
            world.clock().sleep(SECOND).await;
            cluster.set_up(missed, true);
            assert_eq!(on(&cluster, missed), [5], "seed {seed}: it never hears of it");

            cluster.set_up((missed + 1) % 3, false);
            match seed % 4 {
                0 => assert_eq!(read(&cluster).await, NONE, "seed {seed}"),
                1 => assert_eq!(listed(&cluster).await, [], "seed {seed}"),
                2 => {
                    let measured = cluster.histogram(&table, Effort::Measure).await.unwrap();
                    assert_eq!(measured.sizes.count(), 0, "seed {seed}");
                }
                _ => return,
            }
            assert_eq!(on(&cluster, missed), NONE, "seed {seed}: the others have told it");
        });
    }
}

#[test]
fn a_deletion_waits_for_a_replica_to_come_back() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        world.clock().sleep(SECOND).await;
        cluster.set_up(2, false);
        delete(&cluster).await.unwrap();
        world.clock().sleep(SECOND).await;
        assert_eq!([on(&cluster, 0), on(&cluster, 1), on(&cluster, 2)], [vec![], vec![], vec![5]]);
        cluster.set_up(2, true);
        world.clock().sleep(6 * MINUTE).await;
        assert_eq!((on(&cluster, 2), cluster.in_flight()), (vec![], 0));
    });
}

#[test]
fn a_deletion_without_an_answer_may_still_come() {
    let (mut before, mut later) = (0, 0);
    for seed in 0..20 {
        let (at_once, in_the_end) = run(seed, |world| async move {
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
            let late = Chances { late: 1_000, ..Chances::default() };
            cluster.set_faults(Faults { rows: late, ..Faults::none() });
            assert_eq!(delete(&cluster).await, Err(ErrorKind::Unknown));
            let at_once = read(&cluster).await.len();
            world.clock().sleep(6 * MINUTE).await;
            let in_the_end = read(&cluster).await.len();
            assert!(in_the_end <= at_once, "seed {seed}: what a quorum found deleted stays so");
            cluster.set_faults(Faults::none());
            assert_eq!((delete(&cluster).await, read(&cluster).await), (Ok(()), vec![]), "seed {seed}");
            (at_once, in_the_end)
        });
        before += at_once;
        later += usize::from(at_once > in_the_end);
    }
    assert!(before > 3 && later > 3, "{before} were not deleted at once, {later} of these later");
}

#[test]
fn without_a_quorum_nothing_is_deleted() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        cluster.set_up(0, false);
        cluster.set_up(1, false);
        assert_eq!(delete(&cluster).await, Err(ErrorKind::Unavailable));
        cluster.calm();
        world.clock().sleep(10 * MINUTE).await;
        assert_eq!(read(&cluster).await, [5], "what was refused never comes");
    });
}

#[test]
fn write_times_decide_what_is_hidden() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        let micros =
            |ahead: Duration| world.clock().wall() / 1_000 + i64::try_from(ahead.as_micros()).unwrap();
        // Written by machines whose clocks are ahead, the last one's by more than clocks may be.
        let ahead = [Duration::ZERO, 30 * SECOND, 10 * MINUTE];
        let rows =
            (0..).zip(ahead).map(|(time, ahead)| Row { write_time: micros(ahead), ..row(time, "a", "v") });
        let rows: Vec<Row> = rows.collect();
        cluster.upsert(PartitionBatch { rows, ..batch(&table, &[]) }, Durability::Synced).await.unwrap();
        delete(&cluster).await.unwrap();
        assert_eq!(read(&cluster).await, [2]);
    });
}

#[test]
fn a_table_made_again_knows_of_no_deletion() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        delete(&cluster).await.unwrap();
        assert_eq!(cluster.drop_table(&table).await.unwrap(), TableOutcome::Done);
        assert_eq!(cluster.create_table(&table, &Storage::default()).await.unwrap(), TableOutcome::Done);
        cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        assert_eq!((read(&cluster).await, listed(&cluster).await), (vec![5], vec![partition()]));
    });
}
