//! What the crash writer writes: everything follows from (seed, life, writer, batch), so that whoever checks the
//! store after a crash needs no record of it.

use bytes::Bytes;
use model::{
    EventId, ItemKey, NamespaceName, PartitionKey, Row, RowKey, SeriesId, TableName, TableRef, Timestamp,
};
use store::{Consistency, MetaKey, PartitionBatch};

/// Concurrent writers of one life of the process.
pub(crate) const WRITERS: u64 = 4;
/// Items of every event: a torn event would show.
pub(crate) const ITEMS: u64 = 3;
/// Tables that the writers share.
pub(crate) const TABLES: u64 = 3;

/// A table of the crash namespace.
pub(crate) fn table(name: &str) -> TableRef {
    TableRef {
        namespace: NamespaceName::new("crash").expect("a legal name"),
        incarnation: 1,
        name: TableName::new(name).expect("a legal name"),
    }
}

/// The table that batch number `batch` goes to.
pub(crate) fn shared_table(batch: u64) -> TableRef {
    table(&format!("shared_{}", batch % TABLES))
}

/// The table that the table maker makes as its `step`-th of this life.
pub(crate) fn made_table(life: u64, step: u64) -> TableRef {
    table(&format!("made_{life}_{step}"))
}

/// The metadata record that counts compare-and-sets.
pub(crate) fn counter_key() -> MetaKey {
    MetaKey::new("crash", "counter")
}

/// The partition that a writer writes to in one life; writers 0 and 1 share one.
pub(crate) fn partition(life: u64, writer: u64) -> PartitionKey {
    let series = SeriesId::new(&format!("series-{life}-{}", writer.saturating_sub(1))).expect("a legal id");
    PartitionKey { series, time_bucket: 7, event_bucket: 1 }
}

/// The batch number `batch` of `writer` in `life`.
pub(crate) fn batch(seed: u64, life: u64, writer: u64, batch: u64) -> PartitionBatch {
    let mut random = fastrand::Rng::with_seed(seed ^ (life << 40) ^ (writer << 32) ^ batch);
    let mut rows = Vec::new();
    for event in 0..random.u64(1..8) {
        let event_time = Timestamp::from_nanos(random.i64(0..1_000_000)).expect("in range");
        let event_id = EventId::new(format!("{life}-{writer}-{batch}-{event}")).expect("a legal id");
        for item in 0..ITEMS {
            let mut value = vec![0; random.usize(0..3_000)];
            random.fill(&mut value);
            rows.push(Row {
                key: RowKey {
                    event_time,
                    event_id: event_id.clone(),
                    item_key: if item == 0 {
                        // As chunks have it: then the value lies apart.
                        ItemKey::from_stored(Bytes::new())
                    } else {
                        ItemKey::new(format!("item-{item}")).expect("a legal key")
                    },
                },
                write_time: random.i64(1..1_000_000),
                value: Bytes::from(value),
                metadata: Bytes::from(if item == 1 { "" } else { "unit=ms" }),
            });
        }
    }
    PartitionBatch {
        table: shared_table(batch),
        partition: partition(life, writer),
        rows,
        consistency: Consistency::default(),
    }
}
