//! An import from its inputs to its summary: what `braid import` and `braid put --file` do.

use env::Env;
use rpc::client::CallError;
use tokio::sync::mpsc;

use super::backfill::Backfill;
use super::inputs::{InputFormat, Inputs};
use super::progress::Progress;
use super::pump::{Pump, Pumped, Settings, read};
use super::report::{Report, Summary};
use super::source::Source;
use super::target::Target;
use crate::failure::{Failure, INTERRUPTED, talk};
use crate::output::{Format, quoted};
use crate::run::Signals;
use crate::session::Session;

/// Events in a request, unless asked otherwise.
pub(crate) const BATCH_DEFAULT: usize = 500;
/// Requests under way at once, unless asked otherwise.
pub(crate) const PARALLEL_DEFAULT: usize = 4;
/// Lines were bad, or events refused.
const SOME_BAD: u8 = 2;

/// What to import, and how.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Files, `-` for stdin; none means stdin.
    pub(crate) files: Vec<String>,
    /// How the events are written; by the file's ending where it is not said.
    pub(crate) format: Option<InputFormat>,
    /// Values in JSON are plain text and not base64.
    pub(crate) text: bool,
    /// How they are sent.
    pub(crate) settings: Settings,
}

/// Events on their way in, with what is known of where they come from.
pub(crate) struct Feed {
    /// Gives the events.
    pub(crate) source: Box<dyn Source>,
    /// What messages call its inputs.
    pub(crate) names: Vec<String>,
    /// Shows how far it is, and tells people what they should know.
    pub(crate) progress: Progress,
}

/// How an import ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What it did.
    pub(crate) summary: Summary,
    /// Events that were refused for their age.
    pub(crate) too_old: u64,
    /// Why it ended early, where it did.
    pub(crate) failure: Option<CallError>,
}

/// Imports what `order` says and shows the summary. Looks after Ctrl-C itself.
pub(crate) async fn run(session: &mut Session, order: &Order) -> Result<(), Failure> {
    let inputs = Inputs::new(&order.files, order.format, order.text)?;
    let progress = Progress::of_bytes(&session.env.clock, inputs.read_bytes(), inputs.total_bytes());
    let feed = Feed { names: inputs.names(), source: Box::new(inputs), progress };
    let mut interrupts = interrupts(&session.env)?;
    let finished = import(&session.client, &session.env, &order.settings, feed, &mut interrupts).await?;
    show(session, &finished.summary)?;
    if finished.too_old > 0 && !order.settings.backfill {
        talk(&format!("events were refused for their age; to take them: {}\n", backfill_command(order)));
    }
    finished.end()
}

impl Finished {
    /// As an exit code; what failed is still to be said.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let counts = self.summary.counts;
        if let Some(error) = self.failure {
            let message = format!(
                "{}; what was accepted stays, and the same import again sends the rest without writing anything twice",
                error.message
            );
            return Err(Failure::Call(CallError { message, ..error }));
        }
        if self.summary.interrupted {
            return Err(Failure::Told(INTERRUPTED));
        }
        if counts.bad > 0 || counts.refused > 0 {
            return Err(Failure::Told(SOME_BAD));
        }
        Ok(())
    }
}

/// Imports a feed: with the namespace opened for old events and closed again, where that is asked for.
pub(crate) async fn import(
    target: &dyn Target,
    env: &Env,
    settings: &Settings,
    feed: Feed,
    interrupts: &mut mpsc::Receiver<()>,
) -> Result<Finished, Failure> {
    // Says that the namespace or the server is not there before anything is read.
    target.namespace(&settings.namespace).await?;
    let mut backfill = None;
    if settings.backfill {
        let (opened, note) = Backfill::open(target, env, &settings.namespace).await?;
        feed.progress.note(&note);
        backfill = Some(opened);
    }
    let started = env.clock.boot();
    let progress = &feed.progress;
    let pump = Pump { target, env, settings, progress };
    let report = Report::new(feed.names);
    let pumped = match read(env, feed.source, settings.batch) {
        Ok(from) => pump.run(from, report, interrupts).await,
        Err(error) => Pumped { report, interrupted: false, failure: Some(no_thread(&error)) },
    };
    progress.end();
    let took = env.clock.boot().since(started);
    let mut failure = pumped.failure;
    if let Some(backfill) = backfill {
        match backfill.close(target, env, interrupts, pumped.interrupted).await {
            Ok(note) => progress.note(&note),
            Err(error) if failure.is_none() => failure = Some(error),
            Err(error) => progress.say(&format!("{}\n", error.message)),
        }
    }
    let mut summary = Summary::new(&settings.namespace, pumped.report.counts, took);
    summary.queued = settings.queued;
    summary.interrupted = pumped.interrupted;
    Ok(Finished { summary, too_old: pumped.report.too_old(), failure })
}

fn no_thread(error: &std::io::Error) -> CallError {
    let message = format!("cannot start a thread ({error}); raise the limits of this user");
    CallError { code: "UNKNOWN", reason: None, message, retry_after: None }
}

/// One message for every Ctrl-C.
pub(crate) fn interrupts(env: &Env) -> Result<mpsc::Receiver<()>, Failure> {
    let (pressed, interrupts) = mpsc::channel(1);
    let mut signals = Signals::new()?;
    let watch = async move {
        loop {
            signals.next().await;
            if pressed.send(()).await.is_err() {
                return;
            }
        }
    };
    env.spawn.task("braid-interrupt", Box::pin(watch));
    Ok(interrupts)
}

fn show(session: &mut Session, summary: &Summary) -> Result<(), Failure> {
    if session.stdout.format() == Format::Table {
        talk(&summary.line());
        return Ok(());
    }
    let mut json = serde_json::to_vec(summary)
        .map_err(|error| Failure::Other(format!("the summary cannot be shown: {error}")))?;
    json.push(b'\n');
    session.stdout.write(&json)?;
    session.stdout.flush()
}

/// The same import, as one that takes old events.
fn backfill_command(order: &Order) -> String {
    let mut words = vec!["braid", "import", "-n", &order.settings.namespace, "--backfill"];
    match order.format {
        Some(InputFormat::Csv) => words.extend(["--format", "csv"]),
        Some(InputFormat::Ndjson) => words.extend(["--format", "ndjson"]),
        None => {}
    }
    if order.text {
        words.push("--text");
    }
    let words: Vec<String> =
        words.into_iter().chain(order.files.iter().map(String::as_str)).map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_old_events_can_be_pasted() {
        let settings = Settings {
            namespace: "plays".to_owned(),
            batch: BATCH_DEFAULT,
            parallel: PARALLEL_DEFAULT,
            queued: false,
            backfill: false,
        };
        let files = vec!["it's.txt".to_owned(), "b.csv".to_owned()];
        let order = Order { files, format: Some(InputFormat::Csv), text: true, settings };
        assert_eq!(
            backfill_command(&order),
            "braid import -n plays --backfill --format csv --text 'it'\\''s.txt' b.csv"
        );
        let order = Order { files: Vec::new(), format: None, text: false, ..order };
        assert_eq!(backfill_command(&order), "braid import -n plays --backfill");
    }
}
