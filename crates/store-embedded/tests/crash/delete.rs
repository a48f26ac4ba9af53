//! Deletions cut short by a crash: whole steps of the rows are left, each with its body where that lies apart, all else is as it
//! was, and deleting again finishes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use env::{Env, ManualClock};
use model::{EventId, ItemKey, PartitionKey, Row, RowKey, Timestamp};
use store::{Consistency, Durability, PartitionBatch, Storage, Store};
use store_embedded::{EmbeddedStore, Options};

use crate::power::{copy, journal_file, written};
use crate::support::{read_all, workload};

/// Some steps of a deletion.
const ROWS: usize = 10_000;

fn rows(count: usize) -> Vec<Row> {
    let row = |number: usize| Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(i64::try_from(number).unwrap()).unwrap(),
            event_id: EventId::new("event").unwrap(),
            // Every other one as chunks have it: then the value lies apart.
            item_key: ItemKey::from_stored(Bytes::from_static(if number.is_multiple_of(2) {
                b"item"
            } else {
                b""
            })),
        },
        write_time: 1,
        value: Bytes::from_static(b"value"),
        metadata: Bytes::new(),
    };
    (0..count).map(row).collect()
}

fn place(time_bucket: u32) -> PartitionKey {
    PartitionKey { time_bucket, ..workload::partition(0, 1) }
}

async fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, Options::default(), Env::system()).await.unwrap()
}

/// What is left of the deleted partition, where its neighbours are whole.
async fn left(store: &EmbeddedStore) -> Vec<Row> {
    let table = workload::table("delete");
    for neighbour in [place(6), place(8)] {
        assert_eq!(read_all(store, &table, &neighbour).await.unwrap(), rows(10));
    }
    read_all(store, &table, &place(7)).await.unwrap()
}

/// How many bodies a closed store has, each of which has its head.
fn bodies(directory: &Path) -> usize {
    let engine = fjall::Database::builder(directory.join("engine")).open().unwrap();
    let name = workload::table("delete").to_string();
    let table = engine.keyspace(&name, fjall::KeyspaceCreateOptions::default).unwrap();
    let keys: BTreeSet<Vec<u8>> = table.iter().map(|entry| entry.key().unwrap().to_vec()).collect();
    let bodies: Vec<&[u8]> = keys.iter().filter_map(|key| key.strip_prefix(&[0xF3])).collect();
    assert!(bodies.iter().all(|row| keys.contains(*row)), "a body without its head");
    bodies.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_may_be_cut_anywhere_and_the_next_one_finishes_it() {
    let (scratch, table) = (tempfile::tempdir().unwrap(), workload::table("delete"));
    let live = scratch.path().join("live");
    // The clock of this store never moves, so nothing is written behind the test's back.
    let env = Env { clock: Arc::new(ManualClock::starting_at(0)), ..Env::system() };
    let store = EmbeddedStore::open(&live, Options::default(), env).await.unwrap();
    store.create_table(&table, &Storage::default()).await.unwrap();
    for (partition, count) in [(place(6), 10), (place(7), ROWS), (place(8), 10)] {
        let (table, rows, consistency) = (table.clone(), rows(count), Consistency::default());
        let batch = PartitionBatch { table, partition, rows, consistency };
        store.upsert(batch, Durability::Synced).await.unwrap();
    }
    let before = written(&fs::read(journal_file(&live)).unwrap());
    store.delete_partition(&table, &place(7), Consistency::default()).await.unwrap();
    let mut journal = fs::read(journal_file(&live)).unwrap();
    journal.truncate(written(&journal));
    copy(&live, &scratch.path().join("image"));

    let (mut random, mut in_part) = (fastrand::Rng::with_seed(1), 0);
    for case in 0..16 {
        let cut = if case == 0 { journal.len() } else { random.usize(before..journal.len()) };
        let directory = scratch.path().join(format!("cut-{case}"));
        copy(&scratch.path().join("image"), &directory);
        fs::write(journal_file(&directory), &journal[..cut]).unwrap();
        let store = open(&directory).await;
        let found = left(&store).await;
        assert_eq!(found, rows(ROWS)[ROWS - found.len()..], "cut at {cut}");
        assert!(case > 0 || found.is_empty(), "what was acknowledged came back");
        in_part += usize::from(!found.is_empty() && found.len() < ROWS);
        store.close().await;
        // Every other row has one, also of the ten in each of the neighbours.
        assert_eq!(bodies(&directory), found.len().div_ceil(2) + 10, "cut at {cut}");

        let store = open(&directory).await;
        store.delete_partition(&table, &place(7), Consistency::default()).await.unwrap();
        assert_eq!(left(&store).await, []);
        store.close().await;
        assert_eq!(bodies(&directory), 10, "cut at {cut}");
        assert_eq!(left(&open(&directory).await).await, [], "cut at {cut}");
    }
    assert!(in_part > 0, "no cut lay between two steps");
}
