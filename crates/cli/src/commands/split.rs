//! `braid split`.

mod help;
mod origin;
mod watch;

use api::admin::v1::{
    CreateSplitRequest, ListSplitsRequest, ListSplitsResponse, PauseSplitsRequest, ResumeSplitsRequest,
    RetireSplitRequest, RetrySplitRequest, Split, VerifySplitRequest,
};

use crate::failure::{FINDINGS, Failure, talk};
use crate::output::{Format, SplitRecord, SteeredRecord, compared, quoted, story, summed_up};
use crate::session::Session;
use origin::{Origin, parse_origin};

/// Splits on a page, as the server gives them.
const PAGE_MAX: u32 = 200;

/// What `split` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the splits of a namespace
    #[command(after_help = help::LIST)]
    List(List),
    /// Show one split in full: origin, plan, targets, both digests, history
    #[command(after_help = help::SHOW)]
    Show {
        /// Its ID, as `split list` gives it
        id: String,
    },
    /// Follow splits until they end
    #[command(after_help = help::WATCH)]
    Watch {
        /// One of them; all that are under way where none is named
        id: Option<String>,
    },
    /// Ask for a partition to be split
    #[command(after_help = help::CREATE)]
    Create {
        /// The partition: slice/time bucket/event bucket/series
        #[arg(value_name = "ID", value_parser = parse_origin)]
        origin: Origin,
        #[command(flatten)]
        layout: Layout,
        #[command(flatten)]
        change: Change,
    },
    /// Try one again that failed, was rejected or retired; with --layout make a completed one anew
    #[command(after_help = help::RETRY)]
    Retry {
        #[command(flatten)]
        layout: Layout,
        #[command(flatten)]
        named: Named,
    },
    /// Compare the origin of a completed split with its targets, now
    #[command(after_help = help::VERIFY)]
    Verify(Named),
    /// Take a completed split out of use; the origin stays
    #[command(after_help = help::RETIRE)]
    Retire(Named),
    /// Make workers leave splits as they are
    #[command(after_help = help::PAUSE)]
    Pause(Steer),
    /// Let workers go on
    #[command(after_help = help::RESUME)]
    Resume(Steer),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only those in this state; may be given more than once
    #[arg(long = "state", value_name = "STATE")]
    states: Vec<String>,
    /// Only those of this series
    #[arg(long, value_name = "ID")]
    series: Option<String>,
    /// Only those of this slice, by its table
    #[arg(long, value_name = "TABLE")]
    slice: Option<String>,
    /// How many to show at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// One split, and what every change takes.
#[derive(Debug, clap::Args)]
struct Named {
    /// Its ID, as `split list` gives it
    id: String,
    #[command(flatten)]
    change: Change,
}

/// How targets keep events.
#[derive(Debug, clap::Args)]
struct Layout {
    /// How targets keep events, in place of what the namespace wishes: rows or packed
    #[arg(long, value_name = "LAYOUT", default_value = "", hide_default_value = true)]
    layout: String,
}

/// One namespace or all of them.
#[derive(Debug, clap::Args)]
struct Steer {
    /// Every namespace there is, instead of that of -n
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    change: Change,
}

/// What every change takes.
#[derive(Debug, clap::Args)]
struct Change {
    /// Why, for the audit log and the history of the split
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// Check it and change nothing
    #[arg(long)]
    validate_only: bool,
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::List(asked) => list(session, asked).await,
        Verb::Show { id } => {
            let split = session.client.get_split(&session.namespace()?, &id).await?;
            show(&mut session, &split)
        }
        Verb::Watch { id } => watch::run(session, id).await,
        Verb::Create { origin, layout: Layout { layout }, change } => {
            let request = origin.request(session.namespace()?, change.reason, change.validate_only);
            let request = CreateSplitRequest { layout, ..request };
            let split = session.client.create_split(request).await?;
            changed(session, &split, "asked for", change.validate_only)
        }
        Verb::Retry { layout: Layout { layout }, named } => {
            let Named { id, change: Change { reason, validate_only } } = named;
            let namespace = session.namespace()?;
            let request = RetrySplitRequest { namespace, id, validate_only, reason, layout };
            let split = session.client.retry_split(request).await?;
            changed(session, &split, "asked for again", validate_only)
        }
        Verb::Verify(Named { id, change: Change { reason, validate_only } }) => {
            let request = VerifySplitRequest { namespace: session.namespace()?, id, validate_only, reason };
            verify(session, request).await
        }
        Verb::Retire(Named { id, change: Change { reason, validate_only } }) => {
            let request = RetireSplitRequest { namespace: session.namespace()?, id, validate_only, reason };
            let split = session.client.retire_split(request).await?;
            changed(session, &split, "out of use", validate_only)
        }
        Verb::Pause(Steer { all, change: Change { reason, validate_only } }) => {
            let namespace = one_or_all(&session, all)?;
            let answer =
                session.client.pause_splits(PauseSplitsRequest { namespace, validate_only, reason }).await?;
            let records: Vec<SteeredRecord<'_>> =
                answer.namespaces.iter().map(|name| SteeredRecord(name)).collect();
            steered("leave", "alone", records.len(), validate_only);
            session.stdout.list(&records, &answer)
        }
        Verb::Resume(Steer { all, change: Change { reason, validate_only } }) => {
            let namespace = one_or_all(&session, all)?;
            let answer = session
                .client
                .resume_splits(ResumeSplitsRequest { namespace, validate_only, reason })
                .await?;
            let records: Vec<SteeredRecord<'_>> =
                answer.namespaces.iter().map(|name| SteeredRecord(name)).collect();
            steered("take up", "again", records.len(), validate_only);
            session.stdout.list(&records, &answer)
        }
    }
}

async fn list(mut session: Session, asked: List) -> Result<(), Failure> {
    let mut request = ListSplitsRequest {
        namespace: session.namespace()?,
        states: asked.states.iter().map(|state| state.to_ascii_uppercase()).collect(),
        time_series_id: asked.series.unwrap_or_default(),
        time_slice: asked.slice.unwrap_or_default(),
        ..ListSplitsRequest::default()
    };
    let (mut whole, mut left) = (ListSplitsResponse::default(), asked.limit);
    loop {
        request.page_size = i32::try_from(left.min(PAGE_MAX)).unwrap_or(i32::MAX);
        let page = session.client.list_splits(request.clone()).await?;
        left = left.saturating_sub(u32::try_from(page.splits.len()).unwrap_or(u32::MAX));
        whole.splits.extend(page.splits);
        (whole.next_page_token, whole.summary) = (page.next_page_token, page.summary);
        if left == 0 || whole.next_page_token.is_empty() {
            break;
        }
        request.page_token.clone_from(&whole.next_page_token);
    }
    let now = session.now();
    let records: Vec<SplitRecord<'_>> = whole.splits.iter().map(|split| SplitRecord { split, now }).collect();
    session.stdout.list(&records, &whole)?;
    if session.stdout.format() != Format::Json {
        let more = if whole.next_page_token.is_empty() { "" } else { "there are more; raise --limit\n" };
        talk(&format!("{more}{}", summed_up(&whole.summary.unwrap_or_default())));
    }
    Ok(())
}

fn show(session: &mut Session, split: &Split) -> Result<(), Failure> {
    let now = session.now();
    if session.stdout.format() == Format::Table {
        let text = story(split, now, session.stdout.width());
        session.stdout.write(text.as_bytes())?;
        return session.stdout.flush();
    }
    session.stdout.list(&[SplitRecord { split, now }], split)
}

/// Shows a split that was just changed, and how to follow it.
fn changed(mut session: Session, split: &Split, what: &str, validate_only: bool) -> Result<(), Failure> {
    if validate_only {
        talk("checked only; nothing was changed\n");
    } else {
        let (namespace, id) = (quoted(&split.namespace), quoted(&split.id));
        talk(&format!("{what}; follow it with: braid split watch -n {namespace} {id}\n"));
    }
    let record = SplitRecord { split, now: session.now() };
    session.stdout.list(&[record], split)
}

async fn verify(mut session: Session, request: VerifySplitRequest) -> Result<(), Failure> {
    let validate_only = request.validate_only;
    let split = session.client.verify_split(request).await?;
    if validate_only {
        talk("checked only; nothing was compared\n");
        return show(&mut session, &split);
    }
    let (text, equal) = compared(&split, session.stdout.width()).ok_or_else(|| {
        Failure::Other("the server gave no comparison; look at `braid split show`".to_owned())
    })?;
    if session.stdout.format() == Format::Table {
        session.stdout.write(text.as_bytes())?;
        session.stdout.flush()?;
    } else {
        show(&mut session, &split)?;
    }
    if equal { Ok(()) } else { Err(Failure::Told(FINDINGS)) }
}

/// The namespace that is meant; empty for all.
fn one_or_all(session: &Session, all: bool) -> Result<String, Failure> {
    if all {
        return Ok(String::new());
    }
    let missing = "no namespace; name one with -n NAME, or all of them with --all".to_owned();
    session.namespace().map_err(|_| Failure::Usage(missing))
}

/// Says what workers do from now on.
fn steered(what: &str, how: &str, count: usize, validate_only: bool) {
    let names = crate::output::value::count(u64::try_from(count).unwrap_or(0), "namespace");
    talk(&if validate_only {
        "checked only; nothing was changed\n".to_owned()
    } else {
        format!("workers {what} the splits of {names} {how}\n")
    });
}
