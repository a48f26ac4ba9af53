//! The five steps.

use std::sync::Arc;

use api::admin::v1 as admin;
use env::{Env, Random, SeededRandom};
use futures::{StreamExt, TryStreamExt};
use rpc::client::{CallError, Client};
use tokio::sync::mpsc;

use super::digest::{Check, written};
use super::figures::{Checked, Figures, Import, Small, Whale, seconds};
use super::host::{Backend, Host};
use super::reader::{Read, Reader};
use super::workload::{SEED, Scale, WHALE, Workload, name};
use crate::failure::{FINDINGS, Failure, INTERRUPTED, talk};
use crate::import::{self, BATCH_DEFAULT, Feed, PARALLEL_DEFAULT, Progress, Settings, grouped};
use crate::output::value::duration;
use crate::session::Session;

/// Where the events go.
const NAMESPACE: &str = "demo";
/// Small series whose first page is timed.
const SMALL_READS: u64 = 1_000;
/// Where the choice of small series starts.
const SMALL_SEED: u64 = 8;
/// Events of a page of the whale.
const WHALE_PAGE: i32 = 1_000;
/// Events of the first page of a small series, as a caller without wishes gets them.
const SMALL_PAGE: i32 = 100;
/// Series that are read at once where no time is taken.
const CHECKS_AT_ONCE: usize = 8;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How much.
    pub(crate) scale: Scale,
    /// One object on stdout, and the steps on stderr.
    pub(crate) json: bool,
    /// Leave everything where it is.
    pub(crate) keep: bool,
    /// Where its own server keeps the events.
    pub(crate) backend: Backend,
    /// Not on a server of its own, but on the one that the session talks to.
    pub(crate) use_server: bool,
}

/// Tells the story, and cleans up after it whatever its end. Looks after Ctrl-C itself.
pub(crate) async fn run(mut session: Session, options: Options) -> Result<(), Failure> {
    let env = session.env.clone();
    let mut interrupts = import::interrupts(&env)?;
    let started = env.clock.boot();
    let (host, client) = if options.use_server {
        (Host::Given, session.client.clone())
    } else {
        Host::start(&env, options.backend).await?
    };
    let figures = Figures {
        scale: options.scale,
        seed: SEED,
        address: host.address(),
        data: host.data(),
        serve_seconds: host.data().map(|_| env.clock.boot().since(started).as_secs_f64()),
        ..Figures::default()
    };
    let mut story = Story { session: &mut session, options, client, figures, made: false };
    let told = tokio::select! {
        biased;
        Some(()) = interrupts.recv() => Err(Failure::Told(INTERRUPTED)),
        told = Box::pin(story.tell(&env)) => told,
    };
    let cleaned = tokio::select! {
        biased;
        Some(()) = interrupts.recv() => Err(Failure::Told(INTERRUPTED)),
        cleaned = Box::pin(story.clean(host, &env)) => cleaned,
    };
    match (told, cleaned) {
        (Ok(()), Ok(())) => story.end(),
        (Ok(()), failed) | (failed, Ok(())) => failed,
        (failed, Err(also)) => {
            if let Failure::Other(message) | Failure::Call(CallError { message, .. }) = also {
                talk(&format!("{message}\n"));
            }
            failed
        }
    }
}

struct Story<'a> {
    session: &'a mut Session,
    options: Options,
    client: Client,
    figures: Figures,
    /// The namespace is ours to remove.
    made: bool,
}

impl Story<'_> {
    async fn tell(&mut self, env: &Env) -> Result<(), Failure> {
        self.serve()?;
        self.namespace().await?;
        let now = env.clock.wall();
        let workload = Workload::new(self.options.scale, now - now % NANOS_PER_SECOND);
        let mut check = Check::new(written(&workload));
        self.import(env, &workload, &check).await?;
        let client = self.client.clone();
        let reader = Reader {
            client: &client,
            clock: &*env.clock,
            namespace: NAMESPACE,
            interval: workload.interval(),
        };
        self.read(reader, &workload, &mut check).await?;
        self.check(reader, &workload, check).await
    }

    fn serve(&mut self) -> Result<(), Failure> {
        let text = match (&self.figures.address, &self.figures.data, self.figures.serve_seconds) {
            (Some(address), Some(data), Some(took)) => {
                format!("{address}, data in {data}, ready in {}", seconds(took))
            }
            _ => "the server that is there".to_owned(),
        };
        self.step("[1/5] serve", &text)
    }

    async fn namespace(&mut self) -> Result<(), Failure> {
        let namespace = admin::Namespace { name: NAMESPACE.to_owned(), ..admin::Namespace::default() };
        let reason = "braid demo".to_owned();
        let request =
            admin::CreateNamespaceRequest { namespace: Some(namespace), validate_only: false, reason };
        let made = self.client.create_namespace(request).await?;
        self.made = true;
        let shape = made.shape.unwrap_or_default();
        let length = |seconds: u32| duration(std::time::Duration::from_secs(seconds.into()));
        let text = format!(
            "{NAMESPACE}: tables of {}, partitions of {}, each series spread over {} of them",
            length(shape.seconds_per_slice),
            length(shape.seconds_per_bucket),
            shape.buckets_per_id
        );
        self.step("[2/5] namespace", &text)
    }

    async fn import(&mut self, env: &Env, workload: &Workload, check: &Check) -> Result<(), Failure> {
        let settings = Settings {
            namespace: NAMESPACE.to_owned(),
            batch: BATCH_DEFAULT,
            parallel: PARALLEL_DEFAULT,
            queued: false,
            backfill: true,
        };
        let made = Arc::default();
        let progress = Progress::of_events(&env.clock, Arc::clone(&made), workload.events());
        let feed = Feed { source: workload.source(made), names: vec!["event".to_owned()], progress };
        // Ctrl-C ends the whole story, not only this step.
        let (_, mut never) = mpsc::channel(1);
        let finished = import::import(&self.client, env, &settings, feed, &mut never).await?;
        let summary = finished.summary.clone();
        finished.end()?;
        let figures = Import {
            events: summary.counts.accepted,
            whale_events: check.events_of(WHALE),
            seconds: summary.seconds,
            events_per_second: summary.events_per_second,
            retries: summary.counts.retries,
        };
        self.figures.series = workload.series();
        let [events, series, whale, rate] = [
            figures.events,
            u64::try_from(workload.series()).unwrap_or(u64::MAX),
            figures.whale_events,
            figures.events_per_second,
        ]
        .map(grouped);
        let text = format!(
            "{events} events of {series} series, {whale} of them of {}, in {}: {rate} events/s, all durable",
            name(WHALE),
            seconds(figures.seconds)
        );
        self.figures.import = figures;
        self.step("[3/5] import", &text)
    }

    async fn read(
        &mut self,
        reader: Reader<'_>,
        workload: &Workload,
        check: &mut Check,
    ) -> Result<(), Failure> {
        let whale = name(WHALE);
        let pages = reader.pages(&whale, WHALE_PAGE).await?;
        check.compare(WHALE, pages.digest, pages.unordered);
        self.figures.whale_pages = Whale::new(&pages);
        self.step("[4/5] read", &self.figures.whale_pages.text("by pages"))?;
        let stream = reader.stream(&whale, WHALE_PAGE).await?;
        check.compare(WHALE, stream.digest, stream.unordered);
        self.figures.whale_stream = Whale::new(&stream);
        self.step("", &self.figures.whale_stream.text("as a stream"))?;
        let random = SeededRandom::new(SMALL_SEED);
        let small = u64::try_from(workload.series().saturating_sub(1)).unwrap_or(0);
        let mut first_pages = Vec::new();
        for _ in 0..SMALL_READS {
            let series = 1 + usize::try_from(random.below(small.max(1))).unwrap_or(0);
            let read = reader.pages(&name(series), SMALL_PAGE).await?;
            first_pages.extend(read.pages.first());
            check.compare(series, read.digest, read.unordered);
        }
        self.figures.small = Small::new(&first_pages);
        self.step("", &self.figures.small.text())
    }

    /// Reads what was not read yet, and everything once more, so that no event is left out.
    async fn check(
        &mut self,
        reader: Reader<'_>,
        workload: &Workload,
        mut check: Check,
    ) -> Result<(), Failure> {
        let started = reader.clock.boot();
        let reads = futures::stream::iter(0..workload.series()).map(|series| async move {
            let read = reader.stream(&name(series), WHALE_PAGE).await?;
            Ok::<(usize, Read), CallError>((series, read))
        });
        let mut reads = std::pin::pin!(reads.buffer_unordered(CHECKS_AT_ONCE));
        while let Some((series, read)) = reads.try_next().await? {
            check.compare(series, read.digest, read.unordered);
        }
        let took = reader.clock.boot().since(started).as_secs_f64();
        let Check { reads, events, wrong, problems, .. } = check;
        self.figures.check = Checked { reads, events, wrong, problems, seconds: took };
        let [reads, events, wrong_shown] = [reads, events, wrong].map(grouped);
        let took = seconds(took);
        if wrong == 0 {
            let text =
                format!("{reads} reads of whole series, {events} events, {took}: read as they were written");
            return self.step("[5/5] check", &text);
        }
        self.step("[5/5] check", &format!("FAILED: {wrong_shown} of {reads} reads are wrong"))?;
        for problem in self.figures.check.problems.clone() {
            self.step("", &problem)?;
        }
        Ok(())
    }

    /// Puts everything back as it was, unless it is to be kept, and says how it stands.
    async fn clean(&mut self, host: Host, env: &Env) -> Result<(), Failure> {
        let keep = self.options.keep;
        self.figures.kept = keep && self.made;
        if matches!(host, Host::Given) && self.made && !keep {
            let request = admin::DeleteNamespaceRequest {
                name: NAMESPACE.to_owned(),
                reason: "braid demo".to_owned(),
                ..admin::DeleteNamespaceRequest::default()
            };
            self.client.delete_namespace(request).await?;
        }
        let again = host.again().unwrap_or_default();
        host.end(env, keep).await?;
        let text = match (&self.figures.data, keep) {
            (Some(data), true) => format!(
                "kept in {data}; next:\n  {again}\n  braid get -n {NAMESPACE} {} --limit 5\n  \
                 braid get -n {NAMESPACE} {} -o ndjson --text\n  braid slices list -n {NAMESPACE}\n",
                name(WHALE),
                name(1)
            ),
            (Some(data), false) => format!("removed {data}; --keep leaves it for a look\n"),
            // What is not ours stays, and there is nothing to say.
            (None, _) if !self.made => return Ok(()),
            (None, true) => {
                format!("kept in the namespace {NAMESPACE}; `braid ns rm {NAMESPACE}` removes it\n")
            }
            (None, false) => format!("removed the namespace {NAMESPACE}\n"),
        };
        self.say(&text)
    }

    /// The object, where one was asked for, and the exit code.
    fn end(&mut self) -> Result<(), Failure> {
        if self.options.json {
            let mut json = serde_json::to_vec(&self.figures)
                .map_err(|error| Failure::Other(format!("the figures cannot be shown: {error}")))?;
            json.push(b'\n');
            self.session.stdout.write(&json)?;
            self.session.stdout.flush()?;
        }
        if self.figures.check.wrong > 0 { Err(Failure::Told(FINDINGS)) } else { Ok(()) }
    }

    fn step(&mut self, which: &str, text: &str) -> Result<(), Failure> {
        self.say(&format!("{which:<16} {text}\n"))
    }

    /// Steps are the result for people, and talk beside the result for programs.
    fn say(&mut self, text: &str) -> Result<(), Failure> {
        if self.options.json {
            talk(text);
            return Ok(());
        }
        self.session.stdout.write(text.as_bytes())?;
        self.session.stdout.flush()
    }
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
