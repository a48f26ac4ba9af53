//! Somebody changes what is stored: found before a split is completed, and later by the comparison.

use bytes::Bytes;
use model::{PartitionKey, Row};
use split::{Reason, State};
use store::{Consistency, Durability, PartitionBatch, Store};

use crate::world::{HOUR, SECOND, World, by_hash, id, name, partition, spec};

/// What happens to one stored row of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    Flip,
    Drop,
    Double,
    Misplace,
}

pub(crate) const ALL: [Damage; 4] = [Damage::Flip, Damage::Drop, Damage::Double, Damage::Misplace];

pub(crate) async fn put(world: &World, event_bucket: u32, rows: Vec<Row>) {
    let batch = PartitionBatch {
        table: World::wide_table(),
        partition: PartitionKey { event_bucket, ..partition("hot") },
        rows,
        consistency: Consistency::LocalQuorum,
    };
    world.store.upsert(batch, Durability::Synced).await.unwrap();
}

async fn remove(world: &World, event_bucket: u32, row: &Row) {
    let rest: Vec<Row> =
        world.target("hot", event_bucket).await.into_iter().filter(|other| other.key != row.key).collect();
    let whole = PartitionKey { event_bucket, ..partition("hot") };
    world.store.delete_partition(&World::wide_table(), &whole, Consistency::LocalQuorum).await.unwrap();
    put(world, event_bucket, rest).await;
}

/// Damages one row of the second target.
pub(crate) async fn damage(world: &World, damage: Damage) -> Row {
    let rows = world.target("hot", 1).await;
    let row = rows.get(rows.len() / 2).unwrap().clone();
    match damage {
        Damage::Flip => {
            let mut value = row.value.to_vec();
            value.iter_mut().take(1).for_each(|byte| *byte ^= 1);
            let (value, write_time) = (Bytes::from(value), row.write_time + 1);
            put(world, 1, vec![Row { value, write_time, ..row.clone() }]).await;
        }
        Damage::Drop => remove(world, 1, &row).await,
        Damage::Double => put(world, 0, vec![row.clone()]).await,
        Damage::Misplace => {
            remove(world, 1, &row).await;
            put(world, 0, vec![row.clone()]).await;
        }
    }
    row
}

#[tokio::test]
async fn damage_before_the_end_is_never_completed() {
    for spec in [spec(), by_hash()] {
        for kind in ALL {
            let world = World::wide(spec.clone()).await;
            world.engine.take_detections().await.unwrap();
            assert!(world.die_in(State::Verifying).await);
            let row = damage(&world, kind).await;
            let next = world.reopened().await;
            next.during(next.engine.work_on_splits()).await.unwrap();
            let record = next.split("hot").await.record;
            assert_eq!(record.state, State::Failed, "{kind:?}");
            let why = record.reason.unwrap();
            assert!(matches!(why.code, Reason::Mismatch | Reason::Misplaced), "{kind:?} {why:?}");
            if crate::LAYOUT == engine::SplitLayout::Rows {
                let event_time = row.key.event_time.nanos();
                assert_eq!(why.key.map(|key| key.event_time), Some(event_time), "{kind:?}");
            }
            if why.code == Reason::Mismatch {
                assert!(why.message.matches("checksum").count() == 2, "both digests: {}", why.message);
            }
            // The next attempt has targets of its own, and ends well; what was left of the first one goes.
            next.pass(20 * SECOND).await;
            next.work().await;
            let record = next.split("hot").await.record;
            assert_eq!((record.state, record.attempt), (State::Completed, 2), "{:?}", record.reason);
            next.pass(11 * 60 * SECOND).await;
            next.work().await;
            assert_eq!(next.target("hot", 0).await.len() + next.target("hot", 1).await.len(), 0);
        }
    }
}

#[tokio::test]
async fn damage_after_the_end_is_found_by_the_comparison_and_ends_the_split() {
    for spec in [spec(), by_hash()] {
        for (kind, by_hand) in ALL.into_iter().zip([true, false, true, false]) {
            let world = World::wide(spec.clone()).await;
            world.work().await;
            assert_eq!(world.state("hot").await, State::Completed);
            damage(&world, kind).await;
            if by_hand {
                let compared = world.during(world.engine.verify_split(&name(), &id("hot"))).await.unwrap();
                assert_eq!(compared.record.rechecks.last().map(|recheck| recheck.equal), Some(false));
            } else {
                world.pass(HOUR + SECOND).await;
                world.work().await;
            }
            let record = world.split("hot").await.record;
            assert_eq!(record.state, State::Retired, "{kind:?}");
            assert_eq!(record.reason.unwrap().code, Reason::Mismatch);
        }
    }
}

/// A write that nobody acknowledged reaches the origin long after: the row is copied after it, a few times.
#[tokio::test]
async fn a_row_that_comes_late_to_the_origin_is_copied_after_it() {
    let world = World::wide(spec()).await;
    world.work().await;
    let table =
        model::TableRef { name: model::TableName::new(crate::world::TABLE).unwrap(), ..World::wide_table() };
    let sample = world.origin("hot").await.first().unwrap().clone();
    let late = |number: usize, write_time: i64| {
        let event_id = model::EventId::new(format!("late{number}")).unwrap();
        let key = model::RowKey { event_id, ..sample.key.clone() };
        let rows = vec![Row { key, write_time, ..sample.clone() }];
        PartitionBatch {
            table: table.clone(),
            partition: partition("hot"),
            rows,
            consistency: Consistency::LocalQuorum,
        }
    };
    for number in 0..3 {
        world.store.upsert(late(number, sample.write_time), Durability::Synced).await.unwrap();
    }
    world.during(world.engine.verify_split(&name(), &id("hot"))).await.unwrap();
    // Packed targets cannot take them: they are made anew.
    world.work().await;
    let compared = world.split("hot").await.record;
    assert_eq!((compared.state, compared.stragglers), (State::Completed, 3));
    assert_eq!(compared.attempt, if crate::LAYOUT == engine::SplitLayout::Packed { 2 } else { 1 });
    assert_eq!(compared.pre_split_data.digest.unwrap().rows, 403);
    // Written after the barrier: somebody broke the promise of closed time.
    let after = compared.barrier.unwrap().1 / 1_000 + 1;
    world.store.upsert(late(9, after), Durability::Synced).await.unwrap();
    world.during(world.engine.verify_split(&name(), &id("hot"))).await.unwrap();
    assert_eq!(world.state("hot").await, State::Retired);
}

#[tokio::test]
async fn too_many_late_rows_park_the_split_on_its_origin() {
    let world = World::wide(spec()).await;
    world.work().await;
    let table =
        model::TableRef { name: model::TableName::new(crate::world::TABLE).unwrap(), ..World::wide_table() };
    let sample = world.origin("hot").await.first().unwrap().clone();
    let late = (0..9).map(|number| {
        let event_id = model::EventId::new(format!("late{number}")).unwrap();
        Row { key: model::RowKey { event_id, ..sample.key.clone() }, ..sample.clone() }
    });
    let batch = PartitionBatch {
        table,
        partition: partition("hot"),
        rows: late.collect(),
        consistency: Consistency::LocalQuorum,
    };
    world.store.upsert(batch, Durability::Synced).await.unwrap();
    world.during(world.engine.verify_split(&name(), &id("hot"))).await.unwrap();
    assert_eq!(world.state("hot").await, State::Retired);
}
