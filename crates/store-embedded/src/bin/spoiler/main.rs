//! Spoils single rows of an embedded store that no server has open, so that a verification has something to find.
//!
//! `store-spoiler DIRECTORY` reads one order a line from standard input, fields apart by tabs:
//! `WAY TABLE SERIES TIME_BUCKET EVENT_BUCKET TO_TIME_BUCKET TO_EVENT_BUCKET`. It spoils the row in the middle of that partition
//! and says which one: `EVENT_TIME EVENT_ID ITEM_KEY`. Ways are `remove`, `alter`, `double` (into the other partition as well),
//! `misplace` (into the other partition instead) and `copy` (under a key of its own, a nanosecond before it). Write times stay as
//! they are, but for `alter`, which has to win. In a packed target rows are chunks, their item key is empty, and `alter` changes one
//! byte.
#![expect(clippy::expect_used, reason = "a test program: whatever goes wrong must end it loudly")]

use std::io::{BufRead, Write};
use std::ops::Bound;
use std::path::Path;

use bytes::Bytes;
use env::Env;
use model::{Interval, Order, PartitionKey, Row, RowKey, SeriesId, TableRef, Timestamp};
use store::{Consistency, Durability, PartitionBatch, Result, Scan, Store};
use store_embedded::{EmbeddedStore, Options};

/// Rows that are read or written at a time.
const STEP_ROWS: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory] = arguments.as_slice() else {
        writeln!(std::io::stderr(), "usage: store-spoiler DIRECTORY").expect("somebody reads standard error");
        std::process::exit(2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(obey(Path::new(directory)));
}

/// Carries out every order; what was written is on disk when this returns.
async fn obey(directory: &Path) {
    let opened = EmbeddedStore::open(directory, Options::default(), Env::system()).await;
    let store = opened.expect("the store opens: no server runs on it");
    for line in std::io::stdin().lock().lines() {
        let spoil =
            Spoil::parse(&line.expect("orders are text"), &store.list_tables().await.expect("tables"));
        let row = spoil.carry_out(&store).await.expect("the store does as it is told");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("ids are text");
        let (time, id) = (row.key.event_time.nanos(), text(row.key.event_id.as_bytes()));
        writeln!(std::io::stdout(), "{time}\t{id}\t{}", text(row.key.item_key.as_bytes()))
            .expect("somebody reads standard output");
    }
    store.close().await;
}

/// Another value; of a chunk the same with one bit changed.
fn altered(row: &Row) -> Bytes {
    if !row.key.item_key.as_bytes().is_empty() {
        return Bytes::from_static(b"spoiled");
    }
    let mut body = row.value.to_vec();
    let middle = body.len() / 2;
    *body.get_mut(middle).expect("a chunk has a body") ^= 1;
    body.into()
}

/// One row to spoil.
struct Spoil {
    way: String,
    table: TableRef,
    partition: PartitionKey,
    other: PartitionKey,
}

impl Spoil {
    fn parse(line: &str, tables: &[TableRef]) -> Self {
        let fields: Vec<&str> = line.split('\t').collect();
        let [way, table, series, buckets @ ..] = fields.as_slice() else { panic!("`{line}` is no order") };
        let buckets: Vec<u32> =
            buckets.iter().map(|text| text.parse().expect("a bucket is a number")).collect();
        let [time_bucket, event_bucket, to_time_bucket, to_event_bucket] = buckets[..] else {
            panic!("`{line}` has not four buckets")
        };
        let table = tables.iter().find(|known| known.name.as_str() == *table).expect("the table exists");
        let series = SeriesId::new(series).expect("a series id");
        Self {
            way: (*way).to_owned(),
            table: table.clone(),
            partition: PartitionKey { series: series.clone(), time_bucket, event_bucket },
            other: PartitionKey { series, time_bucket: to_time_bucket, event_bucket: to_event_bucket },
        }
    }

    async fn carry_out(&self, store: &EmbeddedStore) -> Result<Row> {
        let mut rows = self.read(store).await?;
        let at = rows.len() / 2;
        let row = rows.get(at).expect("the partition has rows").clone();
        match self.way.as_str() {
            "remove" | "misplace" => {
                rows.remove(at);
                store.delete_partition(&self.table, &self.partition, Consistency::default()).await?;
                self.write(store, &self.partition, &rows).await?;
            }
            "alter" => {
                let altered = Row { value: altered(&row), write_time: row.write_time + 1, ..row.clone() };
                self.write(store, &self.partition, &[altered]).await?;
            }
            "copy" => {
                let nanos = row.key.event_time.nanos() - 1;
                let event_time = Timestamp::from_nanos(nanos).expect("a time");
                let key = RowKey { event_time, ..row.key.clone() };
                self.write(store, &self.partition, &[Row { key, ..row.clone() }]).await?;
            }
            "double" => {}
            other => panic!("`{other}` is no way to spoil a row"),
        }
        if ["double", "misplace"].contains(&self.way.as_str()) {
            self.write(store, &self.other, std::slice::from_ref(&row)).await?;
        }
        Ok(row)
    }

    async fn read(&self, store: &EmbeddedStore) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let page = store
                .scan(Scan {
                    table: self.table.clone(),
                    partition: self.partition.clone(),
                    order: Order::OldestFirst,
                    interval: Interval::ALL,
                    from: rows.last().map_or(Bound::Unbounded, |row| Bound::Excluded(row.key.clone())),
                    rows_max: STEP_ROWS,
                    bytes_max: store::limits::SCAN_BYTES_MAX,
                    consistency: Consistency::default(),
                    hedge_after: None,
                    ahead: false,
                })
                .await?;
            rows.extend(page.rows.to_vec());
            if !page.more {
                return Ok(rows);
            }
        }
    }

    async fn write(&self, store: &EmbeddedStore, partition: &PartitionKey, rows: &[Row]) -> Result<()> {
        for step in rows.chunks(STEP_ROWS) {
            let batch = PartitionBatch {
                table: self.table.clone(),
                partition: partition.clone(),
                rows: step.to_vec(),
                consistency: Consistency::default(),
            };
            store.upsert(batch, Durability::Synced).await?;
        }
        Ok(())
    }
}
