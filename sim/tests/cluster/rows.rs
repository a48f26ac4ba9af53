//! Rows: what is missed, what comes late, and what never gets lost.

use std::time::Duration;

use model::Row;
use sim::cluster::{Chances, Faults, Options};
use sim::world::Hardware;
use store::{Consistency, Durability, ErrorKind, PartitionBatch, Scan, Storage, Store, TableOutcome};

use crate::fixture::{batch, key, make_table, partition, row, run, scan, times};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Every change of rows meets this fault.
fn rows(chances: Chances) -> Faults {
    Faults { rows: chances, ..Faults::none() }
}

#[test]
fn a_scan_misses_a_late_write_and_sees_it_later() {
    let (mut missed, mut seen) = (0, 0);
    for seed in 0..20 {
        let (before, after): (Vec<i64>, Vec<i64>) = run(seed, |world| async move {
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            cluster.set_faults(rows(Chances { late: 1_000, ..Chances::default() }));
            let error = cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unknown);
            let before = times(&cluster.scan(scan(&table)).await.unwrap());
            world.clock().sleep(6 * MINUTE).await;
            assert_eq!(cluster.in_flight(), 0);
            (before, times(&cluster.scan(scan(&table)).await.unwrap()))
        });
        missed += usize::from(before.is_empty() && !after.is_empty());
        seen += usize::from(!before.is_empty());
        assert!(after.len() >= before.len(), "seed {seed}: what a quorum has seen stays");
    }
    assert!(missed > 3, "{missed} writes were missed first and seen later");
    assert!(seen > 0, "{seen} were seen at once");
}

#[test]
fn an_acknowledged_write_is_seen_with_any_one_replica_down() {
    for seed in 0..30 {
        run(seed, |world| async move {
            let cluster = world.cluster(Options { faults: Faults::stormy(), ..Options::default() });
            cluster.set_faults(Faults { lose_hint: 500, ..Faults::none() });
            let table = make_table(&cluster).await;
            for time in 0..9_u32 {
                let down = usize::try_from(time % 4).unwrap();
                cluster.set_up(down, false);
                cluster.upsert(batch(&table, &[time.into()]), Durability::Synced).await.unwrap();
                cluster.set_up(down, true);
                cluster.set_up((down + 1) % 3, false);
                let expected: Vec<i64> = (0..=time).map(i64::from).collect();
                assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), expected, "seed {seed}");
                cluster.set_up((down + 1) % 3, true);
            }
        });
    }
}

#[test]
fn hints_arrive_after_a_replica_came_back() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        let on = |replica| times(&cluster.replica_rows(replica, &table, &partition()).unwrap());
        cluster.set_up(2, false);
        for time in 0..20 {
            cluster.upsert(batch(&table, &[time]), Durability::Synced).await.unwrap();
        }
        world.clock().sleep(MINUTE).await;
        assert_eq!((on(0).len(), on(2).len(), cluster.in_flight()), (20, 0, 20));
        cluster.set_up(2, true);
        world.clock().sleep(MINUTE).await;
        let some = on(2);
        assert!((1..20).contains(&some.len()), "hints come one by one: {some:?}");
        assert_ne!(some, (0..20).take(some.len()).collect::<Vec<i64>>(), "in any order");
        cluster.calm();
        world.clock().sleep(2 * SECOND).await;
        assert_eq!((on(2).len(), cluster.in_flight()), (20, 0));
    });
}

#[test]
fn without_a_quorum_nothing_is_done() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.set_up(0, false);
        cluster.set_up(1, false);
        let refused = cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert_eq!(cluster.scan(scan(&table)).await.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(cluster.meta_get(&key("a")).await.unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(cluster.ready().await.is_err());

        // Hints of what only one replica has are never lost.
        cluster.set_faults(Faults { lose_hint: 1_000, ..Faults::none() });
        let mut weak = batch(&table, &[6]);
        weak.consistency = Consistency::LocalOne;
        cluster.upsert(weak, Durability::Synced).await.unwrap();
        world.clock().sleep(MINUTE).await;
        cluster.calm();
        world.clock().sleep(10 * MINUTE).await;
        assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), [6], "what was refused never comes");
        for replica in 0..3 {
            assert_eq!(times(&cluster.replica_rows(replica, &table, &partition()).unwrap()), [6]);
        }
    });
}

#[test]
fn a_replica_lost_on_the_way_leaves_a_write_unknown() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        let lost = async {
            cluster.set_up(0, false);
            cluster.set_up(1, false);
        };
        let write = cluster.upsert(batch(&table, &[5]), Durability::Synced);
        let (result, ()) = tokio::join!(biased; write, lost);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unknown);
        cluster.calm();
        world.clock().sleep(2 * SECOND).await;
        assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), [5], "its hints were kept");
    });
}

#[test]
fn what_was_sent_lands_after_its_caller_crashed() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        (0..3).for_each(|replica| assert!(cluster.set_slowness(replica, 100)));
        let (machine, store, write) =
            (world.machine("a", Hardware::default()), cluster.clone(), batch(&table, &[5]));
        let call = machine.call(async move { store.upsert(write, Durability::Synced).await.is_ok() });
        let crash = async {
            world.clock().sleep(Duration::from_millis(5)).await;
            machine.crash();
        };
        let (answer, ()) = tokio::join!(biased; call, crash);
        assert!(answer.is_err());
        let on = |replica| times(&cluster.replica_rows(replica, &table, &partition()).unwrap());
        assert_eq!([on(0), on(1), on(2)].concat(), [] as [i64; 0]);
        world.clock().sleep(MINUTE).await;
        assert_eq!([on(0), on(1), on(2)].concat(), [5, 5, 5]);
    });
}

#[test]
fn a_slow_replica_slows_only_those_who_need_it() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.set_slowness(1, 10_000);
        assert!(!cluster.set_slowness(3, 2));
        let start = world.now();
        cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        assert!(world.now() - start < SECOND);
        let on = |replica| times(&cluster.replica_rows(replica, &table, &partition()).unwrap());
        assert_eq!((on(0), on(1), on(2)), (vec![5], vec![], vec![5]));
        world.clock().sleep(40 * MINUTE).await;
        assert_eq!(on(1), [5]);
    });
}

#[test]
fn a_scan_in_steps_has_all_that_was_acknowledged() {
    run(3, |world| async move {
        let faults = Faults { read_in_steps: 1_000, ..Faults::none() };
        let cluster = world.cluster(Options { faults, ..Options::default() });
        let table = make_table(&cluster).await;
        for time in 0..10 {
            let rows = ["a", "b", "c"].map(|item| row(time, item, "v"));
            let write = PartitionBatch { rows: rows.to_vec(), ..batch(&table, &[]) };
            cluster.upsert(write, Durability::Synced).await.unwrap();
            let expected: Vec<i64> = (0..=time).flat_map(|time| [time; 3]).collect();
            assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), expected);
            for rows_max in 1..12 {
                let some = Scan { rows_max, ..scan(&table) };
                let page = cluster.scan(some).await.unwrap();
                let first: Vec<i64> = expected.iter().take(rows_max).copied().collect();
                assert_eq!((times(&page), page.more), (first, expected.len() > rows_max));
            }
        }
    });
}

#[test]
fn a_table_made_again_gets_nothing_of_the_old_one() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.set_faults(rows(Chances { late: 1_000, ..Chances::default() }));
        for time in 0..20 {
            cluster.upsert(batch(&table, &[time]), Durability::Synced).await.unwrap_err();
        }
        cluster.set_faults(Faults::none());
        assert_eq!(cluster.drop_table(&table).await.unwrap(), TableOutcome::Done);
        assert_eq!(cluster.create_table(&table, &Storage::default()).await.unwrap(), TableOutcome::Done);
        world.clock().sleep(10 * MINUTE).await;
        assert!(times(&cluster.scan(scan(&table)).await.unwrap()).is_empty());
    });
}

#[test]
fn what_one_scan_has_seen_every_later_one_sees() {
    let mut seen_late = 0;
    for seed in 0..20 {
        seen_late += run(seed, |world| async move {
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            cluster.set_slowness(1, 300);
            cluster.set_slowness(2, 300);
            let write = cluster.upsert(batch(&table, &[5]), Durability::Synced);
            let reads = async {
                let mut most = 0;
                let mut missed = 0;
                for _ in 0..30 {
                    // Fast reads of the slow: only the write takes its time.
                    cluster.set_slowness(1, 1);
                    cluster.set_slowness(2, 1);
                    let found = cluster.scan(scan(&table)).await.unwrap().rows.len();
                    assert!(found >= most, "seed {seed}");
                    (most, missed) = (found, missed + usize::from(found == 0));
                }
                missed
            };
            let (_, missed) = tokio::join!(biased; write, reads);
            usize::from(missed > 0)
        });
    }
    assert!(seen_late > 5, "{seen_late} of 20 runs had a scan without the write");
}

#[test]
fn a_scan_in_steps_may_hold_old_rows_and_new_ones_and_never_a_part_of_a_new_event() {
    let mut mixed = 0;
    for seed in 0..10 {
        mixed += run(seed, |world| async move {
            let faults = Faults { read_in_steps: 1_000, ..Faults::none() };
            let cluster = world.cluster(Options { faults, ..Options::default() });
            let table = make_table(&cluster).await;
            let write = async {
                for n in 0..60 {
                    // New events come everywhere; the first is written again and again.
                    let new = ["a", "b", "c"].map(|item| row(1 + n * 37 % 60, item, "v"));
                    let old =
                        ["a", "b", "c"].map(|item| Row { write_time: n, ..row(0, item, &format!("{n:02}")) });
                    let write = PartitionBatch { rows: [new, old].concat(), ..batch(&table, &[]) };
                    cluster.upsert(write, Durability::Synced).await.unwrap();
                }
            };
            let read = async {
                let mut mixed = 0;
                for rows_max in (3..90).step_by(3) {
                    let page = cluster.scan(Scan { rows_max, ..scan(&table) }).await.unwrap();
                    let found = times(&page);
                    assert!(found.chunks(3).all(|event| event == [event[0]; 3]), "seed {seed}: {found:?}");
                    let first: Vec<_> = page.rows.iter().take(3).map(|row| row.write_time).collect();
                    mixed += usize::from(first.windows(2).any(|two| two[0] != two[1]));
                }
                mixed
            };
            tokio::join!(biased; write, read).1
        });
    }
    assert!(mixed > 0, "no scan was in two steps");
}

#[test]
fn what_a_large_batch_has_left_behind_is_not_called_undone() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        let value = "v".repeat(200 << 10);
        let rows = (0..2).map(|time| row(time, "a", &value)).collect();
        let write = cluster.upsert(PartitionBatch { rows, ..batch(&table, &[]) }, Durability::Synced);
        let on = |replica| times(&cluster.replica_rows(replica, &table, &partition()).unwrap()).len();
        let lost = async {
            // The first step has arrived, and its acknowledgement has not.
            while on(0) + on(1) + on(2) < 2 {
                world.clock().sleep(Duration::from_millis(1)).await;
            }
            cluster.set_up(0, false);
            cluster.set_up(1, false);
        };
        let (result, ()) = tokio::join!(biased; write, lost);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unknown);
        cluster.calm();
        world.clock().sleep(MINUTE).await;
        assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), [0]);
    });
}

#[test]
fn a_large_batch_comes_in_steps_of_whole_events() {
    let mut in_part = 0;
    for seed in 0..20 {
        in_part += run(seed, |world| async move {
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            let value = "v".repeat(60 << 10);
            let rows = (0..4).flat_map(|time| ["a", "b", "c"].map(|item| row(time, item, &value))).collect();
            let write = PartitionBatch { rows, ..batch(&table, &[]) };
            let patience = Duration::from_millis(10 + seed);
            let in_time = world.within(patience, cluster.upsert(write, Durability::Synced)).await.is_ok();
            world.clock().sleep(MINUTE).await;
            let found = times(&cluster.scan(scan(&table)).await.unwrap());
            assert!(!in_time || found.len() == 12, "seed {seed}: {found:?}");
            assert_eq!(found, (0..4).flat_map(|time| [time; 3]).take(found.len()).collect::<Vec<i64>>());
            assert!(found.len().is_multiple_of(3), "seed {seed}: {found:?}");
            usize::from((1..12).contains(&found.len()))
        });
    }
    assert!(in_part > 5, "{in_part} of 20 batches were left in part");
}
