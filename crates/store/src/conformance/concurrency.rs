//! Rows under concurrency: nothing is lost, nothing is seen in part.

use std::collections::BTreeMap;

use model::{Order, Row};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::fixture::{batch, partition, row, rows, scan};
use super::{Fixture, parallel};
use crate::{Durability, Scan};

/// Writers at once.
const WRITERS: i64 = 6;
/// Batches of each writer.
const BATCHES: i64 = 25;

/// Many writers into one partition lose nothing.
pub async fn concurrent_writers_lose_nothing(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let writers = (0..WRITERS).map(|writer| {
        let (fixture, table, at) = (fixture.clone(), table.clone(), at.clone());
        async move {
            for n in 0..BATCHES {
                let durability = if n % 8 == 0 { Durability::Synced } else { Durability::Buffered };
                let rows = ["a", "b"].map(|item| row(n, &format!("writer {writer}"), item, "v"));
                fixture.store.upsert(batch(&table, &at, rows.to_vec()), durability).await.expect("upsert");
            }
        }
    });
    parallel::all(writers).await;
    let mut expected = Vec::new();
    for n in 0..BATCHES {
        for writer in 0..WRITERS {
            expected.extend(["a", "b"].map(|item| row(n, &format!("writer {writer}"), item, "v")));
        }
    }
    assert_eq!(fixture.read(&table, &at).await, expected);
}

/// Many writers of one row leave the one with the latest write time.
pub async fn concurrent_overwrites_leave_the_latest(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let writers = (0..WRITERS).map(|writer| {
        let (fixture, table, at) = (fixture.clone(), table.clone(), at.clone());
        async move {
            for n in 0..BATCHES {
                let write_time = n * WRITERS + writer;
                let row = Row { write_time, ..row(5, "e", "i", &write_time.to_string()) };
                fixture.write(&table, &at, &[row]).await;
            }
        }
    });
    parallel::all(writers).await;
    let last = WRITERS * BATCHES - 1;
    assert_eq!(
        fixture.read(&table, &at).await,
        [Row { write_time: last, ..row(5, "e", "i", &last.to_string()) }]
    );
}

/// Counts the items of each event and fails where an event is there in part.
fn assert_whole_events(rows: &[Row]) -> usize {
    let mut items = BTreeMap::<_, usize>::new();
    for row in rows {
        *items.entry((row.key.event_time, row.key.event_id.clone())).or_default() += 1;
    }
    for (event, count) in &items {
        assert_eq!(*count, 3, "a part of the event {event:?} was seen");
    }
    items.len()
}

/// A reader beside a writer sees every event with all its items or not at all, and never fewer than before.
pub async fn a_reader_never_sees_a_part_of_a_batch(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    // Dropped when the writer ends, also by a panic: then the reader ends too.
    let (writing, mut ended) = oneshot::channel::<()>();
    let writer = {
        let (fixture, table, at) = (fixture.clone(), table.clone(), at.clone());
        async move {
            for n in 0..100 {
                let items = ["a", "b", "c"].map(|item| row(n % 10, &format!("event {n:03}"), item, "v"));
                fixture.write(&table, &at, &items).await;
            }
            drop(writing);
        }
    };
    let reader = async move {
        let (mut most, mut last) = (0, false);
        while !last {
            // Read once more after the writer has ended.
            last = ended.try_recv() != Err(TryRecvError::Empty);
            for order in [Order::OldestFirst, Order::NewestFirst] {
                let page = fixture.store.scan(Scan { order, ..scan(&table, &at) }).await.expect("scan");
                let seen = assert_whole_events(&page.rows.to_vec());
                assert!(seen >= most, "{most} events were seen before, now {seen}");
                most = seen;
            }
            // On a backend that never waits this loop would keep its thread, and the writer might be queued there.
            tokio::task::yield_now().await;
        }
        most
    };
    let ((), seen) = parallel::both(writer, reader).await;
    assert_eq!(seen, 100);
}

/// Readers at once read the same.
pub async fn concurrent_readers_read_the_same(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&table, &at, &rows(200)).await;
    let readers = (1..=8).map(|n| {
        let (fixture, scan) = (fixture.clone(), Scan { rows_max: n * 7, ..scan(&table, &at) });
        async move { fixture.walk(scan).await }
    });
    for found in parallel::all(readers).await {
        assert_eq!(found, rows(200));
    }
}

/// What was acknowledged is read at once, by whoever reads.
pub async fn an_acknowledged_write_is_read_at_once(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    for row in rows(50) {
        fixture.write(&table, &at, std::slice::from_ref(&row)).await;
        let (other, scan) =
            (fixture.clone(), Scan { order: Order::NewestFirst, rows_max: 1, ..scan(&table, &at) });
        let reader = async move { other.store.scan(scan).await.expect("scan").rows.to_vec() };
        assert_eq!(parallel::all([reader]).await, [vec![row]]);
    }
}

/// Writers into different tables, made at once, do not disturb one another.
pub async fn tables_are_made_and_filled_at_once(fixture: Fixture) {
    let makers = (0..6).map(|number| {
        let fixture = fixture.clone();
        async move {
            let (table, at) = (fixture.made(number).await, partition("s"));
            fixture.write(&table, &at, &rows(number + 1)).await;
            if number % 2 == 1 {
                fixture.store.drop_table(&table).await.expect("drop");
            }
        }
    });
    parallel::all(makers).await;
    for number in [0, 2, 4] {
        assert_eq!(fixture.read(&fixture.table(number), &partition("s")).await, rows(number + 1));
    }
    let tables = fixture.store.list_tables().await.expect("list");
    let left = tables.iter().filter(|table| table.namespace == fixture.namespace).count();
    assert_eq!(left, 3);
}
