//! What does durable ingest through the store cost, against the engine called directly?
//!
//! Both sides write the same events with eight writers, batches of 500 rows to one partition each, and both sync
//! before they acknowledge. The control is group commit by hand: writers hand prepared batches to one thread that
//! merges whatever waits into one engine batch and syncs once. It checks nothing, counts nothing and hashes nothing.
//! Writers make their rows inside the timed part on both sides; the control makes keys and values of the engine at
//! once, where the store is given rows and encodes them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use fjall::{Database, Keyspace, PersistMode};
use model::{PartitionKey, TableRef};
use store::{Consistency, Durability, PartitionBatch, Storage, Store};
use store_embedded::{EmbeddedStore, Options};

use super::Question;
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure};
use crate::{crowd, progress, raw, workload};

pub(crate) const QUESTION: Question = Question {
    name: "ingest",
    asks: "durable ingest through the embedded store, against group commit on fjall by hand",
    answer,
};

const EVENTS: u64 = 1_500_000;
const EVENTS_QUICK: u64 = 200_000;
const WRITERS: u64 = 8;
const BATCH_ROWS: u64 = 500;
const SERIES_PER_WRITER: u64 = 64;
const TABLES: usize = 2;
const CONTROL: &str = "fjall by hand";
const SUBJECT: &str = "store";
const RATIO_MIN: f64 = 0.7;

fn answer(setting: &Setting) -> Result<Answer> {
    let batches = setting.size(EVENTS, EVENTS_QUICK) / WRITERS / BATCH_ROWS;
    let groups = std::cell::Cell::new(0);
    let control = || {
        let (sample, committed) = by_hand(setting, batches)?;
        groups.set(committed);
        Ok(sample)
    };
    let sides = vec![Side::new(CONTROL, control), Side::new(SUBJECT, || through_store(setting, batches))];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let goals = [Goal::Rate { subject: SUBJECT, control: CONTROL, at_least: RATIO_MIN }];
    let events = batches * WRITERS * BATCH_ROWS;
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!("{events} events of {} B, {WRITERS} writers, batches of {BATCH_ROWS}", workload::VALUE_BYTES))
        .note(format!("{CONTROL}: {} groups, one sync each, in the last round", groups.get()))
        .note("making the rows is timed, on both sides; flushing and compaction as far as they happen meanwhile"))
}

/// One batch that a writer is to write.
struct Place {
    table: usize,
    series: u64,
    first_event: u64,
}

/// The batches of one writer: its series in turn, each time around into the other table.
fn places(writer: u64, batches: u64) -> impl Iterator<Item = Place> {
    (0..batches).map(move |batch| Place {
        table: usize::from((batch + batch / SERIES_PER_WRITER) % 2 == 1),
        series: writer * SERIES_PER_WRITER + batch % SERIES_PER_WRITER,
        first_event: (writer * batches + batch) * BATCH_ROWS,
    })
}

/// All series, by number.
fn partitions() -> Result<Vec<PartitionKey>> {
    (0..WRITERS * SERIES_PER_WRITER).map(workload::partition).collect()
}

fn through_store(setting: &Setting, batches: u64) -> Result<Sample> {
    let directory = setting.directory()?;
    let embedded = Embedded::open(directory.path())?;
    let tables = (0..TABLES).map(workload::table).collect::<Result<Vec<_>>>()?;
    embedded.run(async |store| {
        for table in &tables {
            store.create_table(table, &Storage::default()).await?;
        }
        Ok(())
    })?;
    let names = Arc::new((tables, partitions()?));
    let sample = measure(|| embedded.run(|store| write_all(store, names, batches)))?;
    embedded.close();
    Ok(sample)
}

type Names = Arc<(Vec<TableRef>, Vec<PartitionKey>)>;

async fn write_all(store: EmbeddedStore, names: Names, batches: u64) -> Result<u64> {
    crowd::work(WRITERS, |writer| {
        let (store, names) = (store.clone(), Arc::clone(&names));
        async move { write(&store, &names, writer, batches).await }
    })
    .await
}

async fn write(store: &EmbeddedStore, names: &Names, writer: u64, batches: u64) -> Result<u64> {
    let mut events = 0;
    for place in places(writer, batches) {
        let table = names.0.get(place.table).context("no such table")?.clone();
        let partition = names.1.get(usize::try_from(place.series)?).context("no such series")?.clone();
        let rows = workload::rows(place.first_event, BATCH_ROWS)?;
        store
            .upsert(
                PartitionBatch { table, partition, rows, consistency: Consistency::default() },
                Durability::Synced,
            )
            .await?;
        events += BATCH_ROWS;
    }
    Ok(events)
}

/// A prepared batch, and where its writer waits.
struct Request {
    keyspace: Keyspace,
    rows: Vec<(Bytes, Bytes)>,
    reply: SyncSender<()>,
}

/// The sample, and how many groups there were.
fn by_hand(setting: &Setting, batches: u64) -> Result<(Sample, u64)> {
    let directory = setting.directory()?;
    let database = raw::open(directory.path())?;
    let keyspaces: Vec<Keyspace> = (0..TABLES)
        .map(|table| raw::keyspace(&database, &workload::table(table)?.to_string()))
        .collect::<Result<_>>()?;
    let prefixes: Vec<Vec<u8>> = partitions()?.iter().map(workload::raw_prefix).collect::<Result<_>>()?;
    let mut groups = 0;
    let sample = measure(|| {
        // A writer has one batch under way, so no more can ever wait.
        let (requests, waiting) = sync_channel(usize::try_from(WRITERS)?);
        thread::scope(|scope| {
            let committer = scope.spawn(|| commit_all(&database, waiting));
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (requests, keyspaces, prefixes) = (requests.clone(), &keyspaces, &prefixes);
                    scope.spawn(move || hand_over(&requests, keyspaces, prefixes, places(writer, batches)))
                })
                .collect();
            drop(requests);
            let mut events = 0;
            for writer in writers {
                events += writer.join().map_err(|_| anyhow!("a writer panicked"))??;
            }
            groups = committer.join().map_err(|_| anyhow!("the committer panicked"))??;
            Ok(events)
        })
    })?;
    Ok((sample, groups))
}

fn hand_over(
    requests: &SyncSender<Request>,
    keyspaces: &[Keyspace],
    prefixes: &[Vec<u8>],
    places: impl Iterator<Item = Place>,
) -> Result<u64> {
    let (reply, answers) = sync_channel(1);
    let mut events = 0;
    for place in places {
        let keyspace = keyspaces.get(place.table).context("no such table")?.clone();
        let prefix = prefixes.get(usize::try_from(place.series)?).context("no such series")?;
        let rows = workload::raw_rows(prefix, place.first_event, BATCH_ROWS)?;
        let request = Request { keyspace, rows, reply: reply.clone() };
        requests.send(request).map_err(|_| anyhow!("the committer is gone"))?;
        answers.recv().context("the committer is gone")?;
        events += BATCH_ROWS;
    }
    Ok(events)
}

/// Merges whatever waits into one engine batch, syncs once, answers all; until no writer is left.
fn commit_all(database: &Database, waiting: Receiver<Request>) -> Result<u64> {
    let group_bytes_max = Options::default().group_bytes;
    let mut groups = 0;
    while let Ok(first) = waiting.recv() {
        let mut batch = database.batch().durability(Some(PersistMode::SyncData));
        let (mut replies, mut bytes, mut next) = (Vec::new(), 0_u64, Some(first));
        while let Some(request) = next.take() {
            for (key, value) in request.rows {
                bytes += (key.len() + value.len()) as u64;
                batch.insert(&request.keyspace, key, value);
            }
            replies.push(request.reply);
            if bytes < group_bytes_max {
                next = waiting.try_recv().ok();
            }
        }
        batch.commit()?;
        groups += 1;
        for reply in replies {
            // A writer waits for its answer before it does anything else.
            reply.send(()).context("a writer is gone")?;
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_share_no_series_and_use_both_tables_for_each() {
        let all: Vec<Place> = (0..WRITERS).flat_map(|writer| places(writer, 4 * SERIES_PER_WRITER)).collect();
        for series in [0, 1, SERIES_PER_WRITER, WRITERS * SERIES_PER_WRITER - 1] {
            let tables: Vec<usize> =
                all.iter().filter(|place| place.series == series).map(|place| place.table).collect();
            assert_eq!(tables.len(), 4);
            assert!(tables.windows(2).all(|pair| pair[0] != pair[1]), "{tables:?}");
        }
        let mut firsts: Vec<u64> = all.iter().map(|place| place.first_event).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), all.len());
    }
}
