//! What is asked of a store besides its answer: it may be ignored, and never changes what is read.

use std::time::Duration;

use super::Fixture;
use super::fixture::{partition, row, scan};
use crate::{Compaction, Compression, Consistency, Named, Scan, Storage, TableOutcome};

/// A table keeps rows however it is asked to be kept, and stays when it is asked for otherwise.
pub async fn a_table_is_kept_in_every_way(fixture: Fixture) {
    let (at, rows) = (partition("s"), [row(5, "e", "i", "v")]);
    let every =
        Compaction::ALL.iter().map(|compaction| Storage { compaction: *compaction, ..Storage::default() });
    let packed = Compression::ALL
        .iter()
        .map(|compression| Storage { compression: *compression, ..Storage::default() });
    for (number, storage) in (1..).zip(every.chain(packed)) {
        let table = fixture.table(number);
        let made = fixture.store.create_table(&table, &storage).await.expect("create");
        assert_eq!(made, TableOutcome::Done, "{storage:?}");
        fixture.write(&table, &at, &rows).await;
        let again = fixture.store.create_table(&table, &Storage::default()).await.expect("create");
        assert_eq!(again, TableOutcome::Already, "{storage:?}");
        assert_eq!(fixture.read(&table, &at).await, rows, "{storage:?}");
    }
}

/// What was written is read whatever either asks for.
pub async fn every_consistency_reads_what_it_wrote(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    for (time, consistency) in (5..).zip(Consistency::ALL) {
        let asking = Fixture { consistency: *consistency, ..fixture.clone() };
        asking.write(&table, &at, &[row(time, "e", "i", "v")]).await;
        let found = asking.read(&table, &at).await;
        assert_eq!(found.last(), Some(&row(time, "e", "i", "v")), "{consistency:?}");
        assert_eq!(asking.partitions(&table, 10).await, std::slice::from_ref(&at), "{consistency:?}");
    }
}

/// A scan that may be asked for twice gives every row once.
pub async fn a_hedged_scan_reads_the_same(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let rows: Vec<_> = (0..50).map(|time| row(time, "e", "i", "v")).collect();
    fixture.write(&table, &at, &rows).await;
    for after in [Duration::ZERO, Duration::from_micros(200), Duration::from_secs(60)] {
        let hedged = Scan { hedge_after: Some(after), rows_max: 7, ..scan(&table, &at) };
        assert_eq!(fixture.walk(hedged).await, rows, "{after:?}");
    }
}
