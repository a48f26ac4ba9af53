//! What the crash tests share: reading a whole store back and holding it against what was acknowledged.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::ops::Bound;
use std::process::{Child, ChildStdout, Command, Stdio};

use model::{Interval, Order, PartitionKey, Row, TableRef};
use store::{Consistency, Error, Scan, Store};
use store_embedded::EmbeddedStore;

#[path = "../../src/bin/crash_writer/workload.rs"]
pub(crate) mod workload;

/// Everything that one life of the writer said was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    pub(crate) writes: BTreeMap<u64, u64>,
    pub(crate) swap: Option<u64>,
    pub(crate) made: Option<u64>,
    pub(crate) dropped: Option<u64>,
    pub(crate) lines: u64,
}

impl Acknowledged {
    pub(crate) fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "write" => drop(self.writes.insert(number(1), number(2))),
            "swap" => self.swap = Some(number(1)),
            "made" => self.made = Some(number(1)),
            "dropped" => self.dropped = Some(number(1)),
            other => panic!("the writer said `{other}`"),
        }
        self.lines += 1;
    }
}

/// A running crash writer.
pub(crate) struct Writer {
    pub(crate) child: Child,
    pub(crate) lines: std::io::Lines<BufReader<ChildStdout>>,
}

pub(crate) fn writer_command(directory: &std::path::Path, seed: u64, life: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_store-crash-writer"));
    command.arg(directory).arg(seed.to_string()).arg(life.to_string());
    command
}

impl Writer {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }
}

/// Reads all rows of a partition, page by page.
pub(crate) async fn read_all(
    store: &dyn Store,
    table: &TableRef,
    partition: &PartitionKey,
) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let from = rows.last().map_or(Bound::Unbounded, |row| Bound::Excluded(row.key.clone()));
        let scan = Scan {
            table: table.clone(),
            partition: partition.clone(),
            order: Order::OldestFirst,
            interval: Interval::ALL,
            from,
            rows_max: 5_000,
            bytes_max: 4 << 20,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        let page = store.scan(scan).await?;
        rows.extend(page.rows.to_vec());
        if !page.more {
            return Ok(rows);
        }
    }
}

/// Holds one life's batches against the store: acknowledged ones are whole, at most one more per writer is there and
/// it is whole too, and nothing else.
pub(crate) async fn check_writes(store: &EmbeddedStore, seed: u64, life: u64, acknowledged: &Acknowledged) {
    let mut found = BTreeMap::<(u64, u64), Vec<Row>>::new();
    for table in 0..workload::TABLES {
        for writer in 1..workload::WRITERS {
            let rows = read_all(store, &workload::shared_table(table), &workload::partition(life, writer))
                .await
                .unwrap();
            assert!(rows.windows(2).all(|pair| pair[0].key < pair[1].key), "rows doubled or out of order");
            for row in rows {
                let id = String::from_utf8(row.key.event_id.as_bytes().to_vec()).unwrap();
                let numbers: Vec<u64> = id.split('-').map(|part| part.parse().unwrap()).collect();
                assert_eq!(numbers[0], life, "a row of another life");
                found.entry((numbers[1], numbers[2])).or_default().push(row);
            }
        }
    }
    for writer in 0..workload::WRITERS {
        let last = acknowledged.writes.get(&writer).copied();
        let promised = last.map_or(0, |last| last + 1);
        for number in 0..=promised {
            let mut expected = workload::batch(seed, life, writer, number).rows;
            expected.sort_by(|a, b| a.key.cmp(&b.key));
            match found.remove(&(writer, number)) {
                Some(mut rows) => {
                    rows.sort_by(|a, b| a.key.cmp(&b.key));
                    assert_eq!(
                        rows, expected,
                        "life {life} writer {writer} batch {number} is torn or changed"
                    );
                }
                None => assert_eq!(
                    number, promised,
                    "life {life} writer {writer} batch {number} was acknowledged and lost"
                ),
            }
        }
    }
    assert!(found.is_empty(), "rows that nobody wrote: {:?}", found.keys());
}
