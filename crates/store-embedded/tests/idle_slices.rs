//! Hundreds of slices that took a little data each must not hold memory or journals.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use bytes::Bytes;
use env::{Env, ManualClock};
use model::{
    EventId, ItemKey, NamespaceName, PartitionKey, Row, RowKey, SeriesId, TableName, TableRef, Timestamp,
};
use store::{Consistency, Durability, MetaChange, MetaKey, PartitionBatch, Storage, Store};
use store_embedded::{EmbeddedStore, Options};

const SLICES: u32 = 300;
const BATCHES_PER_SLICE: u32 = 4;
const ROWS_PER_BATCH: u32 = 16;
const VALUE_BYTES: usize = 32 << 10;
const MEMORY_MAX: u64 = 512 << 20;

fn slice(number: u32) -> TableRef {
    TableRef {
        namespace: NamespaceName::new("idle").unwrap(),
        incarnation: 1,
        name: TableName::new(&format!("data_{number}")).unwrap(),
    }
}

fn batch(number: u32, batch: u32) -> PartitionBatch {
    let row = |event: u32| Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(i64::from(event)).unwrap(),
            event_id: EventId::new(format!("e{batch}-{event}")).unwrap(),
            item_key: ItemKey::new("payload").unwrap(),
        },
        write_time: 1,
        value: Bytes::from(vec![7; VALUE_BYTES]),
        metadata: Bytes::new(),
    };
    PartitionBatch {
        table: slice(number),
        partition: PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 },
        rows: (0..ROWS_PER_BATCH).map(row).collect(),
        consistency: Consistency::default(),
    }
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}

/// The committer works in order: once this answers, everything sent before is done, ticks included.
async fn settled(store: &EmbeddedStore) {
    let missing = Some(store::MetaVersion(u64::MAX));
    store.meta_cas(&MetaKey::new("idle", "none"), missing, MetaChange::Remove).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_idle_slices_stay_under_512_mib_and_release_the_journal() {
    let scratch = tempfile::tempdir().unwrap();
    let clock = ManualClock::starting_at(0);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let options = Options::default();
    let store = EmbeddedStore::open(&scratch.path().join("data"), options.clone(), env).await.unwrap();
    for number in 0..SLICES {
        store.create_table(&slice(number), &Storage::default()).await.unwrap();
    }
    let mut highest = 0;
    for round in 0..BATCHES_PER_SLICE {
        for number in 0..SLICES {
            store.upsert(batch(number, round), Durability::Buffered).await.unwrap();
        }
        highest = highest.max(resident_bytes());
    }
    let written = u64::from(SLICES * BATCHES_PER_SLICE * ROWS_PER_BATCH) * VALUE_BYTES as u64;
    assert!(written > MEMORY_MAX, "only {written} bytes were written: the test could not fail");
    assert!(highest < MEMORY_MAX, "{SLICES} slices hold {} MiB", highest >> 20);
    let used = store.stats().await.unwrap();
    assert!(used.memtable_bytes <= 2 * options.memtable_budget_bytes, "{used:?}");

    // Time passes and nobody writes: every slice is written to disk, so that no journal is pinned.
    clock.sleepers(1).await;
    clock.advance(options.idle_flush_after);
    // Asleep again, the ticker has sent its tick.
    clock.sleepers(1).await;
    settled(&store).await;
    store.flush().await.unwrap();
    let idle = store.stats().await.unwrap();
    assert!(idle.memtable_bytes < 1 << 20, "{idle:?}");
    assert!(idle.journals <= 2, "{idle:?}");
    println!("highest {} MiB, idle {idle:?}", highest >> 20);
}
