//! What does durable ingest through gRPC cost, against the store called directly?
//!
//! Both sides write the same events in batches of 500, one partition each, and both are told that a batch is durable
//! before it counts. The control has eight writers in this process. The subject is the binary in a process of its own,
//! with eight connections; its clients are in this process and have the same two cores, so making and encoding requests
//! is part of what it costs. Events are made inside the timed part on both sides.

use std::sync::Arc;

use anyhow::{Context, Result};
use model::{PartitionKey, SeriesId, TableRef};
use rpc::client::Client;
use store::{Consistency, Durability, PartitionBatch, Storage, Store};
use store_embedded::EmbeddedStore;

use super::Question;
use crate::embedded::Embedded;
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure, measure_in};
use crate::remote::{Remote, Threads};
use crate::{crowd, progress, remote, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "grpc-ingest",
    asks: "durable ingest through gRPC, against the embedded store called directly",
    answer,
};

const EVENTS: u64 = 1_500_000;
const EVENTS_QUICK: u64 = 200_000;
const WRITERS: u64 = 8;
const BATCH_EVENTS: u64 = 500;
const SERIES_PER_WRITER: u64 = 64;
/// Requests under way on each connection.
const IN_FLIGHT: u64 = 2;
const CONTROL: &str = "store";
const SUBJECT: &str = "gRPC";
const RATIO_MIN: f64 = 0.5;

fn answer(setting: &Setting) -> Result<Answer> {
    let batches = setting.size(EVENTS, EVENTS_QUICK) / BATCH_EVENTS;
    let sides = vec![
        Side::new(CONTROL, || through_store(setting, batches)),
        Side::new(SUBJECT, || through_server(setting, batches)),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let goals = [Goal::Rate { subject: SUBJECT, control: CONTROL, at_least: RATIO_MIN }];
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!(
            "{} events of {} B in batches of {BATCH_EVENTS}, one partition each, all durable when acknowledged",
            batches * BATCH_EVENTS,
            workload::VALUE_BYTES
        ))
        .note(format!("{CONTROL}: {WRITERS} writers, a batch each under way"))
        .note(format!("{SUBJECT}: {WRITERS} connections, {IN_FLIGHT} requests under way on each; CPU and memory are the server's")))
}

/// One batch that a writer is to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    series: u64,
    first: u64,
}

/// The batches of one of so many writers: its series in turn.
fn places(writer: u64, writers: u64, batches: u64) -> impl Iterator<Item = Place> {
    let series_each = WRITERS * SERIES_PER_WRITER / writers;
    (writer..batches).step_by(usize::try_from(writers).unwrap_or(1)).enumerate().map(move |(turn, batch)| {
        Place { series: writer * series_each + turn as u64 % series_each, first: batch * BATCH_EVENTS }
    })
}

/// All series, by number.
fn all_series() -> Result<Vec<SeriesId>> {
    (0..WRITERS * SERIES_PER_WRITER).map(workload::series).collect()
}

fn through_store(setting: &Setting, batches: u64) -> Result<Sample> {
    let directory = setting.directory()?;
    let embedded = Embedded::open(directory.path())?;
    let table = wire::table(1)?;
    embedded.run(async |store| Ok(store.create_table(&table, &Storage::default()).await?))?;
    let partitions: Arc<[PartitionKey]> = all_series()?.iter().map(wire::partition).collect::<Result<_>>()?;
    let sample = measure(|| {
        embedded.run(async |store| {
            let writer =
                |number| upsert_all(store.clone(), table.clone(), Arc::clone(&partitions), number, batches);
            crowd::work(WRITERS, writer).await
        })
    })?;
    embedded.close();
    Ok(sample)
}

async fn upsert_all(
    store: EmbeddedStore,
    table: TableRef,
    partitions: Arc<[PartitionKey]>,
    writer: u64,
    batches: u64,
) -> Result<u64> {
    let mut events = 0;
    for place in places(writer, WRITERS, batches) {
        let partition = partitions.get(usize::try_from(place.series)?).context("no such series")?.clone();
        let rows = workload::rows(place.first, BATCH_EVENTS)?;
        store
            .upsert(
                PartitionBatch { table: table.clone(), partition, rows, consistency: Consistency::default() },
                Durability::Synced,
            )
            .await?;
        events += BATCH_EVENTS;
    }
    Ok(events)
}

fn through_server(setting: &Setting, batches: u64) -> Result<Sample> {
    let directory = setting.directory()?;
    let remote = Remote::serve(directory.path(), Threads::Two)?;
    remote.create_namespace()?;
    let clients = (0..WRITERS).map(|_| remote.client()).collect::<Result<Vec<Client>>>()?;
    let series: Arc<[SeriesId]> = all_series()?.into();
    // Connects, and makes the slice.
    let first = series.first().context("no series")?;
    for client in &clients {
        remote.run(remote::write(client, first, 0, 1)).context("warming up")?;
    }
    let writer = |number: u64| {
        let client = usize::try_from(number / IN_FLIGHT).ok().and_then(|at| clients.get(at)).cloned();
        let series = Arc::clone(&series);
        async move { send_all(&client.context("no such client")?, &series, number, batches).await }
    };
    let sample = measure_in(remote.process(), || remote.run(crowd::work(WRITERS * IN_FLIGHT, writer)))?;
    drop(clients);
    remote.stop()?;
    Ok(sample)
}

async fn send_all(client: &Client, series: &[SeriesId], writer: u64, batches: u64) -> Result<u64> {
    let mut events = 0;
    for place in places(writer, WRITERS * IN_FLIGHT, batches) {
        let series = series.get(usize::try_from(place.series)?).context("no such series")?;
        events += remote::write(client, series, place.first, BATCH_EVENTS).await?;
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_batch_is_written_once_however_many_writers_there_are() {
        let batches = 4 * SERIES_PER_WRITER;
        for writers in [WRITERS, WRITERS * IN_FLIGHT] {
            let all = (0..writers).flat_map(|writer| places(writer, writers, batches));
            let mut all: Vec<(u64, u64)> = all.map(|place| (place.first, place.series)).collect();
            all.sort_unstable();
            let firsts: Vec<u64> = all.iter().map(|(first, _)| *first).collect();
            assert_eq!(firsts, (0..batches).map(|batch| batch * BATCH_EVENTS).collect::<Vec<_>>());
            assert!(all.iter().all(|(_, series)| *series < WRITERS * SERIES_PER_WRITER));
        }
    }
}
