//! The ten steps.

use std::sync::Arc;

use api::admin::v1 as admin;
use env::Env;
use futures::{StreamExt, TryStreamExt};
use rpc::client::{CallError, Client};
use tokio::sync::mpsc;

use super::digest::{Check, written};
use super::figures::{Checked, Figures, Import, Reading, seconds};
use super::host::{Backend, Host, Queue};
use super::moving::{MIN_COMPARED, Moving};
use super::reader::{Read, Reader};
use super::readings::WHALE_PAGE;
use super::splits::Watch;
use super::tuning::{self, Tuner};
use super::workload::{SEED, Scale, WHALE, Workload, closed_hour, name};
use super::{change, readings};
use crate::failure::{FINDINGS, Failure, INTERRUPTED, talk};
use crate::import::{self, BATCH_DEFAULT, Feed, PARALLEL_DEFAULT, Progress, Settings, grouped};
use crate::output::value::{duration, size};
use crate::session::Session;

/// Where the events go.
const NAMESPACE: &str = "demo";
/// Series that are read at once where no time is taken.
const CHECKS_AT_ONCE: usize = 8;

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
    /// How it hears of what reads have found wide.
    pub(crate) queue: Queue,
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
        Host::start(&env, options.backend, options.queue).await?
    };
    let figures = Figures {
        scale: options.scale,
        seed: SEED,
        address: host.address(),
        data: host.data(),
        queue: host.queue(),
        serve_seconds: host.data().map(|_| env.clock.boot().since(started).as_secs_f64()),
        ..Figures::default()
    };
    let mut story = Story { session: &mut session, options, client, figures, made: false, made_tuned: false };
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
    /// And so is the one that is tuned.
    made_tuned: bool,
}

impl Story<'_> {
    async fn tell(&mut self, env: &Env) -> Result<(), Failure> {
        let started = env.clock.boot();
        self.serve()?;
        self.namespace().await?;
        let workload = Workload::new(self.options.scale, closed_hour(env.clock.wall()));
        let mut check = Check::new(written(&workload));
        self.import(env, &workload, &check).await?;
        let client = self.client.clone();
        let reader = Reader {
            client: &client,
            clock: &*env.clock,
            namespace: NAMESPACE,
            interval: workload.interval(),
        };
        self.figures.before = readings::read(env, reader, &workload, &mut check).await?;
        self.read("[4/10] read", &self.figures.before.clone())?;
        self.split(env, reader, &mut check).await?;
        self.figures.control = readings::read(env, reader, &workload, &mut check).await?;
        self.move_reads(reader, &mut check).await?;
        self.figures.after = readings::read(env, reader, &workload, &mut check).await?;
        self.changed()?;
        self.check(reader, &workload, check).await?;
        self.tune(env).await?;
        self.figures.seconds = env.clock.boot().since(started).as_secs_f64();
        Ok(())
    }

    fn serve(&mut self) -> Result<(), Failure> {
        let Figures { address, data, queue, serve_seconds, .. } = &self.figures;
        let text = match (address, data, serve_seconds) {
            (Some(address), Some(data), Some(took)) => {
                let queue = match queue {
                    Some(queue) if self.options.queue == Queue::Kafka => format!(", detections by {queue}"),
                    _ => String::new(),
                };
                format!("{address}, data in {data}{queue}, ready in {}", seconds(*took))
            }
            _ => "the server that is there".to_owned(),
        };
        self.step("[1/10] serve", &text)
    }

    async fn namespace(&mut self) -> Result<(), Failure> {
        let (threshold_bytes, target_bytes) = self.options.scale.split_bytes();
        // One partition an hour for each series, by somebody who did not expect a whale.
        let shape = admin::Shape { buckets_per_id: 1, ..admin::Shape::default() };
        // Nothing is split yet, so that the first reads are measured by themselves.
        let policy = "off".to_owned();
        let split =
            admin::SplitSettings { policy, threshold_bytes, target_bytes, ..admin::SplitSettings::default() };
        let gates = admin::ReadGates { min_compared: Some(MIN_COMPARED), ..admin::ReadGates::default() };
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(shape),
            split: Some(split),
            read_mode: "off".to_owned(),
            read_mode_policy: "manual".to_owned(),
            read_gates: Some(gates),
            ..admin::Namespace::default()
        };
        let reason = "braid demo".to_owned();
        let request =
            admin::CreateNamespaceRequest { namespace: Some(namespace), validate_only: false, reason };
        let made = self.client.create_namespace(request).await?;
        self.made = true;
        let shape = made.shape.unwrap_or_default();
        let length = |seconds: u32| duration(std::time::Duration::from_secs(seconds.into()));
        let [threshold, target] =
            [threshold_bytes, target_bytes].map(|bytes| size(u64::try_from(bytes).unwrap_or(0)));
        let text = format!(
            "{NAMESPACE}: tables of {}, one partition of a series in {}; over {threshold} it is wide and split into {target}",
            length(shape.seconds_per_slice),
            length(shape.seconds_per_bucket),
        );
        self.step("[2/10] namespace", &text)
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
        self.step("[3/10] import", &text)
    }

    /// Says what reads took.
    fn read(&mut self, which: &str, reading: &Reading) -> Result<(), Failure> {
        let steps = std::iter::once(which).chain(std::iter::repeat(""));
        steps.zip(reading.lines()).try_for_each(|(which, line)| self.step(which, &line))
    }

    /// Lets reads look for what is wide, reads the whale once more, and says how what that finds is split.
    async fn split(&mut self, env: &Env, reader: Reader<'_>, check: &mut Check) -> Result<(), Failure> {
        let (threshold_bytes, target_bytes) = self.options.scale.split_bytes();
        self.policy("auto").await?;
        let read = reader.pages(&name(WHALE), WHALE_PAGE).await?;
        check.compare(WHALE, read.digest, read.unordered);
        self.step(
            "[5/10] split",
            "splitting is switched on; the next read of the whale finds it wide, and workers split it:",
        )?;
        let client = self.client.clone();
        let watch = Watch { client: &client, namespace: NAMESPACE, threshold_bytes, target_bytes };
        let done = watch.watch(env, |line| self.step("", line)).await?;
        for split in &done.splits {
            self.step("", &split.text())?;
        }
        let differ = done.splits.iter().any(|split| !split.equal);
        self.figures.splits = done;
        if differ { Err(Failure::Told(FINDINGS)) } else { Ok(()) }
    }

    /// Says who decides what is split.
    async fn policy(&self, policy: &str) -> Result<(), Failure> {
        let split = admin::SplitSettings { policy: policy.to_owned(), ..admin::SplitSettings::default() };
        let (name, split) = (NAMESPACE.to_owned(), Some(split));
        let request = admin::UpdateNamespaceRequest {
            namespace: Some(admin::Namespace { name, split, ..admin::Namespace::default() }),
            update_mask: Some(prost_types::FieldMask { paths: vec!["split.policy".to_owned()] }),
            reason: "braid demo".to_owned(),
            ..admin::UpdateNamespaceRequest::default()
        };
        self.client.update_namespace(request).await?;
        Ok(())
    }

    /// From off through shadow and canary to on.
    async fn move_reads(&mut self, reader: Reader<'_>, check: &mut Check) -> Result<(), Failure> {
        let client = self.client.clone();
        let moving = Moving { client: &client, reader, namespace: NAMESPACE };
        let mode = moving.advance().await?;
        let shadow = moving.shadow(check).await?;
        self.step("[6/10] compare", &format!("{mode}: {}", shadow.text()))?;
        self.figures.shadow = shadow;
        let mode = moving.advance().await?;
        let canary = moving.canary(check).await?;
        self.step("[7/10] move", &format!("{mode}: {}", canary.text()))?;
        self.figures.canary = canary;
        let mode = moving.advance().await?;
        self.step("", &format!("{mode}: every read of what was split comes from targets; the origins stay"))
    }

    /// Says what the split has changed, for better and for worse.
    fn changed(&mut self) -> Result<(), Failure> {
        self.read("[8/10] read again", &self.figures.after.clone())?;
        for line in change::lines(&self.figures) {
            self.step("", &line)?;
        }
        Ok(())
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
            return self.step("[9/10] check", &text);
        }
        self.step("[9/10] check", &format!("FAILED: {wrong_shown} of {reads} reads are wrong"))?;
        for problem in self.figures.check.problems.clone() {
            self.step("", &problem)?;
        }
        Ok(())
    }

    /// Tunes a namespace of too narrow buckets, and says what the next slice is like.
    async fn tune(&mut self, env: &Env) -> Result<(), Failure> {
        let client = self.client.clone();
        let tuner = Tuner { client: &client, env };
        tuner.create().await?;
        self.made_tuned = true;
        let tuned = tuner.tune().await?;
        let steps = std::iter::once("[10/10] tune").chain(std::iter::repeat(""));
        steps.zip(tuned.lines()).try_for_each(|(which, line)| self.step(which, &line))?;
        let obeyed = tuned.obeyed();
        self.figures.tuning = tuned;
        if obeyed { Ok(()) } else { Err(Failure::Told(FINDINGS)) }
    }

    /// Removes what it made from a server that is not its own.
    async fn remove(&self) -> Result<(), Failure> {
        let made = [(NAMESPACE, self.made), (tuning::NAMESPACE, self.made_tuned)];
        for (name, _) in made.into_iter().filter(|(_, made)| *made) {
            let request = admin::DeleteNamespaceRequest {
                name: name.to_owned(),
                reason: "braid demo".to_owned(),
                ..admin::DeleteNamespaceRequest::default()
            };
            self.client.delete_namespace(request).await?;
        }
        Ok(())
    }

    /// Puts everything back as it was, unless it is to be kept, and says how it stands.
    async fn clean(&mut self, host: Host, env: &Env) -> Result<(), Failure> {
        let keep = self.options.keep;
        self.figures.kept = keep && self.made;
        if matches!(host, Host::Given) && !keep {
            self.remove().await?;
        }
        let (again, tuned) = (host.again().unwrap_or_default(), tuning::NAMESPACE);
        host.end(env, keep).await?;
        let text = match (&self.figures.data, keep) {
            (Some(data), true) => format!(
                "kept in {data}; next:\n  {again}\n  braid get -n {NAMESPACE} {} --limit 5\n  \
                 braid get -n {NAMESPACE} {} -o ndjson --text\n  braid split list -n {NAMESPACE}\n  \
                 braid readmode show -n {NAMESPACE}\n  braid tune list -n {tuned}\n",
                name(WHALE),
                name(1)
            ),
            (Some(data), false) => format!("removed {data}; --keep leaves it for a look\n"),
            // What is not ours stays, and there is nothing to say.
            (None, _) if !self.made => return Ok(()),
            (None, true) => {
                format!("kept in the namespaces {NAMESPACE} and {tuned}; `braid ns rm` removes them\n")
            }
            (None, false) => format!("removed the namespaces {NAMESPACE} and {tuned}\n"),
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
        self.say(&format!("{which:<17} {text}\n"))
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
