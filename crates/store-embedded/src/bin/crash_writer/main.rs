//! Writes to an embedded store until it is killed, and says on standard output what was acknowledged.
//!
//! `store-crash-writer DIRECTORY SEED LIFE [BUFFERED]`: with a number of buffered batches it writes those and waits to
//! be killed. One line per acknowledgement: `write WRITER BATCH`, `swap VALUE`,
//! `made STEP`, `dropped STEP`. After a commit that failed it says on standard error why, whether the store latched, and
//! aborts.
#![expect(clippy::expect_used, reason = "a test program: whatever goes wrong must end it loudly")]

mod workload;

use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use env::Env;
use store::{
    CasOutcome, Consistency, Durability, Enumerate, Error, MetaChange, PartitionBatch, Storage, Store,
};
use store_embedded::{EmbeddedStore, Options};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, seed, life, buffered @ ..] = arguments.as_slice() else {
        complain("usage: store-crash-writer DIRECTORY SEED LIFE [BUFFERED]");
        std::process::exit(2);
    };
    let buffered = buffered.first().map(|batches| batches.parse().expect("BUFFERED is a number"));
    let (seed, life) = (seed.parse().expect("SEED is a number"), life.parse().expect("LIFE is a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let failed = runtime.expect("a runtime").block_on(write(&PathBuf::from(directory), seed, life, buffered));
    complain(&failed.to_string());
    // Dies as by kill -9: nothing is closed, nothing is flushed.
    std::process::abort();
}

/// Writes for ever; gives back the first error.
async fn write(directory: &Path, seed: u64, life: u64, buffered: Option<u64>) -> Error {
    // Small memtables, so that flushes, compactions and journal rotations happen all the time.
    let options = Options { memtable_bytes: 1 << 20, memtable_budget_bytes: 4 << 20, ..Options::default() };
    let store = match EmbeddedStore::open(directory, options, Env::system()).await {
        Ok(store) => store,
        Err(error) => return error,
    };
    for number in 0..workload::TABLES {
        if let Err(error) = store.create_table(&workload::shared_table(number), &Storage::default()).await {
            return error;
        }
    }
    if let Some(batches) = buffered {
        return write_buffered(&store, seed, life, batches).await;
    }
    let writers = (0..workload::WRITERS).map(|writer| write_batches(&store, seed, life, writer));
    let all = futures::future::select_all(writers.map(Box::pin));
    let failed = tokio::select! {
        (failed, _, _) = all => failed,
        failed = swap_counter(&store) => failed,
        failed = make_tables(&store, life) => failed,
    };
    say_how_it_latched(&store, seed, life).await;
    failed
}

/// After a failed commit: not ready, no further write is taken, reads go on.
async fn say_how_it_latched(store: &EmbeddedStore, seed: u64, life: u64) {
    let kind = |result: Result<(), Error>| result.map_err(|error| error.kind());
    let ready = kind(store.ready().await);
    let write = kind(store.upsert(workload::batch(seed, life + 1, 0, 0), Durability::Buffered).await);
    let read = kind(
        store
            .enumerate(Enumerate {
                table: workload::shared_table(0),
                after: None,
                partitions_max: 1,
                consistency: Consistency::default(),
            })
            .await
            .map(drop),
    );
    complain(&format!("ready {ready:?}, write {write:?}, read {read:?}"));
}

async fn write_batches(store: &EmbeddedStore, seed: u64, life: u64, writer: u64) -> Error {
    for number in 0.. {
        let batch = workload::batch(seed, life, writer, number);
        if let Err(error) = store.upsert(batch, durability(writer)).await {
            return error;
        }
        say(&format!("write {writer} {number}"));
    }
    unreachable!("the numbers do not end")
}

/// Half of the writers wait for a sync, half do not.
fn durability(writer: u64) -> Durability {
    if writer.is_multiple_of(2) { Durability::Synced } else { Durability::Buffered }
}

/// Writes `batches` buffered ones and then nothing more, so that nothing later pushes them out of the process.
async fn write_buffered(store: &EmbeddedStore, seed: u64, life: u64, batches: u64) -> Error {
    for number in 0..batches {
        if let Err(error) = store.upsert(workload::batch(seed, life, 0, number), Durability::Buffered).await {
            return error;
        }
        say(&format!("write 0 {number}"));
    }
    std::future::pending().await
}

async fn swap_counter(store: &EmbeddedStore) -> Error {
    let key = workload::counter_key();
    let mut current = match store.meta_get(&key).await {
        Ok(record) => record.map(|record| (record.version, number(&record.value))),
        Err(error) => return error,
    };
    loop {
        let next = current.map_or(1, |(_, value)| value + 1);
        let put = MetaChange::Put(Bytes::from(next.to_string()));
        match store.meta_cas(&key, current.map(|(version, _)| version), put).await {
            Ok(CasOutcome::Applied(version)) => {
                say(&format!("swap {next}"));
                current = Some((version, next));
            }
            Ok(CasOutcome::Conflict(found)) => panic!("nobody else changes the counter, but found {found:?}"),
            Err(error) => return error,
        }
    }
}

async fn make_tables(store: &EmbeddedStore, life: u64) -> Error {
    for step in 0.. {
        if let Err(error) = make_table(store, life, step).await {
            return error;
        }
    }
    unreachable!("the numbers do not end")
}

/// Makes a table with one batch in it; every table that is not a tenth one is dropped again.
async fn make_table(store: &EmbeddedStore, life: u64, step: u64) -> Result<(), Error> {
    let table = workload::made_table(life, step);
    store.create_table(&table, &Storage::default()).await?;
    let batch = PartitionBatch { table: table.clone(), ..workload::batch(1, life, 0, step) };
    store.upsert(batch, Durability::Synced).await?;
    say(&format!("made {step}"));
    if !step.is_multiple_of(10) {
        store.drop_table(&table).await?;
        say(&format!("dropped {step}"));
    }
    Ok(())
}

fn number(value: &[u8]) -> u64 {
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).expect("the counter holds a number")
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The reader kills this process; until then it reads.
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody reads standard output");
}

fn complain(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("somebody reads standard error");
}
