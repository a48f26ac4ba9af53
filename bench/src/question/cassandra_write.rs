//! What does a write over Cassandra cost through Braid, against the driver that sends the same batches itself?
//!
//! Both sides write the same events into the same partitions of a table that the server made: 500 rows of one partition in one
//! unlogged batch, sixteen batches under way, the same consistency. The control is the driver in this process, its batch
//! prepared once. The subject is the binary in a process of its own, with eight connections that have two requests each under
//! way; a request becomes one batch. Clients, server and node share the cores. Events are made inside the timed part on
//! both sides. Every run has keyspaces of its own, so none has to write among the rows of another.

use std::sync::Arc;

use anyhow::{Context, Result};
use model::SeriesId;
use rpc::client::Client;

use super::Question;
use crate::cassandra::{Driver, Home, beside};
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure, measure_in};
use crate::remote::Threads;
use crate::{crowd, progress, remote, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-write",
    asks: "ingest over Cassandra through gRPC, against the driver that sends the same batches",
    answer: |setting| beside(QUESTION.name, Unit::Events, || answer(setting)),
};

const EVENTS: u64 = 500_000;
const EVENTS_QUICK: u64 = 100_000;
/// With it a request is one batch: the store cuts those of over 256 KiB.
const BATCH_EVENTS: u64 = 500;
const SERIES: u64 = 512;
const CONNECTIONS: u64 = 8;
/// Requests on each connection, and as many batches of the driver.
const IN_FLIGHT: u64 = 2;
const WRITERS: u64 = CONNECTIONS * IN_FLIGHT;
const CONTROL: &str = "driver";
const SUBJECT: &str = "gRPC";
const RATIO_MIN: f64 = 0.7;

fn answer(setting: &Setting) -> Result<Answer> {
    let batches = setting.size(EVENTS, EVENTS_QUICK) / BATCH_EVENTS;
    let sides = vec![
        Side::new(CONTROL, || Home::with(setting, |home| through_driver(home, batches))),
        Side::new(SUBJECT, || Home::with(setting, |home| through_server(home, batches))),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    let goals = [Goal::Rate { subject: SUBJECT, control: CONTROL, at_least: RATIO_MIN }];
    Ok(Answer::new(QUESTION.name, Unit::Events, runs, &goals)?
        .note(format!(
            "{} events of {} B in {SERIES} partitions; {BATCH_EVENTS} of one partition are a batch, {WRITERS} batches under way",
            batches * BATCH_EVENTS,
            workload::VALUE_BYTES
        ))
        .note(format!("{CONTROL}: in this process, its CPU with the making of events"))
        .note(format!(
            "{SUBJECT}: {CONNECTIONS} connections, {IN_FLIGHT} requests under way on each; CPU and memory are the server's"
        ))
        .note("the node has the same cores; its CPU is counted on no side"))
}

/// The batches of a writer, each as its number. No two writers have a series in common.
fn batches_of(writer: u64, batches: u64) -> impl Iterator<Item = u64> {
    (0..batches).filter(move |batch| batch % WRITERS == writer)
}

fn series_of(batch: u64) -> Result<SeriesId> {
    workload::series(batch % SERIES)
}

fn through_driver(home: &Home, batches: u64) -> Result<Sample> {
    let remote = home.serve(Threads::Two)?;
    let table = home.create_table(&remote)?;
    let driver = Arc::new(remote.run(Driver::connect(&table))?);
    let writer = |number| {
        let driver = Arc::clone(&driver);
        async move { send_batches(&driver, number, batches).await }
    };
    let sample = measure(|| remote.run(crowd::work(WRITERS, writer)))?;
    drop(driver);
    remote.stop()?;
    Ok(sample)
}

async fn send_batches(driver: &Driver, writer: u64, batches: u64) -> Result<u64> {
    let (statements, mut events) = (driver.batch(BATCH_EVENTS)?, 0);
    for batch in batches_of(writer, batches) {
        let partition = wire::partition(&series_of(batch)?)?;
        let rows = workload::rows(batch * BATCH_EVENTS, BATCH_EVENTS)?;
        driver.write(&statements, &partition, &rows).await?;
        events += BATCH_EVENTS;
    }
    Ok(events)
}

fn through_server(home: &Home, batches: u64) -> Result<Sample> {
    let remote = home.serve(Threads::Two)?;
    home.create_table(&remote)?;
    let clients = (0..CONNECTIONS).map(|_| remote.client()).collect::<Result<Vec<Client>>>()?;
    for client in &clients {
        let connects = wire::read(&series_of(0)?, model::Order::NewestFirst, 1)?;
        remote.run(async { Ok(client.read(connects).await?) }).context("connecting")?;
    }
    let writer = |number: u64| {
        let client = usize::try_from(number / IN_FLIGHT).ok().and_then(|at| clients.get(at)).cloned();
        async move { send_requests(&client.context("no such client")?, number, batches).await }
    };
    let sample = measure_in(remote.process(), || remote.run(crowd::work(WRITERS, writer)))?;
    drop(clients);
    remote.stop()?;
    Ok(sample)
}

async fn send_requests(client: &Client, writer: u64, batches: u64) -> Result<u64> {
    let mut events = 0;
    for batch in batches_of(writer, batches) {
        events += remote::write(client, &series_of(batch)?, batch * BATCH_EVENTS, BATCH_EVENTS).await?;
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_batch_is_written_once_and_no_partition_by_two_at_once() {
        let all = |batches| (0..WRITERS).flat_map(move |writer| batches_of(writer, batches));
        let mut once: Vec<u64> = all(1_000).collect();
        once.sort_unstable();
        assert_eq!(once, (0..1_000).collect::<Vec<_>>());
        assert!(SERIES.is_multiple_of(WRITERS));
        assert!(batches_of(3, 1_000).all(|batch| batch % SERIES % WRITERS == 3));
    }

    #[test]
    fn a_request_is_one_batch_of_the_store() {
        const STORE_CUTS_AT_BYTES: u64 = 256 << 10;
        // What the store takes a row to cost: its bytes, its series id and 96 more.
        let row = workload::ROW_LOGICAL_BYTES + series_of(0).unwrap().as_str().len() as u64 + 96;
        assert!(BATCH_EVENTS * row <= STORE_CUTS_AT_BYTES);
    }
}
