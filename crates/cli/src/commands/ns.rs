//! `braid ns`.

mod fields;
mod planning;
mod reading;
mod splitting;
mod tuning;

use std::io::{self, BufRead, IsTerminal};

use api::admin::v1::{
    CreateNamespaceRequest, DeleteNamespaceRequest, EndBackfillRequest, Namespace, UpdateNamespaceRequest,
};

use crate::failure::{Failure, talk};
use crate::output::{BackfillRecord, Format, NamespaceRecord, describe};
use crate::session::Session;
use fields::Fields;
use planning::{FromPlan, Workload};

const LIST: &str = "\
Examples:
  braid ns list
  braid ns list -o csv

ACCEPT is how old an event may be when it is written, KEEP how long a slice is
kept after its end.";

const SHOW: &str = "\
Examples:
  braid ns show plays
  braid ns show plays -o json | jq -r .etag";

const CREATE: &str = "\
Examples:
  braid ns create plays
  braid ns create plays --slice 1d --bucket 1h --buckets-per-id 4
  braid ns create plays --bucket 5m --validate-only
  braid ns create plays --from-plan plan.json              as `ns plan -o json` wrote it
  braid ns create audit --accept-limit 0 --close-after 0 --delete-after 0
  braid ns create clicks --consistency LOCAL_ONE --compression zstd
  braid ns create logs --split-threshold 64MiB --split-target 8MiB
  braid ns create logs --read-mode off --read-mode-policy manual
  braid ns create logs --tune-policy auto --density-max 16MiB

The one without limits takes events of any age and keeps them for ever.";

const SET: &str = "\
Examples:
  braid ns set plays --accept-limit 1h
  braid ns set plays --delete-after 0 --reason 'kept for the auditors'
  braid ns set plays --bucket 10m --etag \"$ETAG\"         as `ns show` gave it
  braid ns set plays --split-policy manual
  braid ns set plays --read-min-compared 500 --canary-share 0.1

Only what is given changes. Reads move on to canary and on by `braid readmode advance`,
not here. Slices that exist keep the shape, the compaction and
the compression that they have.";

const RM: &str = "\
Examples:
  braid ns rm plays
  braid ns rm plays --yes --reason 'moved to plays_v2'

All data of the namespace goes with it. A namespace made again under the name
starts empty.";

const BACKFILLS: &str = "\
Examples:
  braid ns backfills plays
  braid ns backfills plays --end 12

While a backfill is open, events of its time are taken whatever their age, on every
server. `braid import --backfill` begins one and ends it; one that was killed leaves it
behind. One that is not open was announced by a server that died.";

/// What `ns` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List all namespaces
    #[command(after_help = LIST)]
    List,
    /// Show one namespace in full
    #[command(after_help = SHOW)]
    Show {
        /// Its name
        name: String,
    },
    /// Make a namespace
    #[command(after_help = CREATE)]
    Create {
        /// Its name: a letter, then letters, digits and underscores, 30 in all
        name: String,
        #[command(flatten)]
        plan: FromPlan,
        #[command(flatten)]
        fields: Fields,
        #[command(flatten)]
        change: Change,
    },
    /// Choose a shape and a cluster for a workload that is only guessed
    #[command(after_help = planning::HELP)]
    Plan(Workload),
    /// Change a namespace
    #[command(after_help = SET)]
    Set {
        /// Its name
        name: String,
        #[command(flatten)]
        fields: Fields,
        /// Change it only if it is still in this state
        #[arg(long)]
        etag: Option<String>,
        #[command(flatten)]
        change: Change,
    },
    /// List the backfills of a namespace, or end one
    #[command(after_help = BACKFILLS)]
    Backfills {
        /// Its name
        name: String,
        /// End the one with this id
        #[arg(long, value_name = "ID")]
        end: Option<u64>,
        #[command(flatten)]
        change: Change,
    },
    /// Delete a namespace with all its data
    #[command(after_help = RM)]
    Rm {
        /// Its name
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Delete it only if it is still in this state
        #[arg(long)]
        etag: Option<String>,
        #[command(flatten)]
        change: Change,
    },
}

/// What every change takes.
#[derive(Debug, clap::Args)]
struct Change {
    /// Why, for the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// Check it and change nothing
    #[arg(long)]
    validate_only: bool,
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::List => {
            let answer = session.client.list_namespaces().await?;
            let records: Vec<NamespaceRecord<'_>> = answer.namespaces.iter().map(NamespaceRecord).collect();
            session.stdout.list(&records, &answer)
        }
        Verb::Show { name } => {
            let namespace = session.client.get_namespace(&name).await?;
            show(&mut session, &namespace)
        }
        Verb::Create { name, plan, fields, change } => {
            let (mut namespace, _) = fields.message(name)?;
            plan.fill(&mut namespace)?;
            let Change { reason, validate_only } = change;
            let request = CreateNamespaceRequest { namespace: Some(namespace), validate_only, reason };
            let made = session.client.create_namespace(request).await?;
            checked(validate_only);
            show(&mut session, &made)
        }
        Verb::Plan(workload) => planning::plan(session, workload).await,
        Verb::Set { name, fields, etag, change } => {
            let (mut namespace, paths) = fields.message(name)?;
            if paths.is_empty() {
                let message = "nothing to change; give at least one setting, such as --accept-limit 1h";
                return Err(Failure::Usage(message.to_owned()));
            }
            namespace.etag = etag.unwrap_or_default();
            let Change { reason, validate_only } = change;
            let request = UpdateNamespaceRequest {
                namespace: Some(namespace),
                update_mask: Some(prost_types::FieldMask { paths }),
                validate_only,
                reason,
            };
            let changed = session.client.update_namespace(request).await?;
            checked(validate_only);
            show(&mut session, &changed)
        }
        Verb::Backfills { name, end: None, .. } => {
            let answer = session.client.list_backfills(&name).await?;
            let records: Vec<BackfillRecord<'_>> = answer.backfills.iter().map(BackfillRecord).collect();
            session.stdout.list(&records, &answer)
        }
        Verb::Backfills { name, end: Some(id), change } => {
            let Change { reason, validate_only } = change;
            end_backfill(session, EndBackfillRequest { namespace: name, id, validate_only, reason }).await
        }
        Verb::Rm { name, yes, etag, change } => {
            let Change { reason, validate_only } = change;
            let mut request =
                DeleteNamespaceRequest { name, etag: etag.unwrap_or_default(), validate_only, reason };
            if !yes && !validate_only {
                confirm(&session, &mut request).await?;
            }
            remove(session, request).await
        }
    }
}

fn checked(validate_only: bool) {
    if validate_only {
        talk("checked only; nothing was changed\n");
    }
}

fn show(session: &mut Session, namespace: &Namespace) -> Result<(), Failure> {
    if session.stdout.format() == Format::Table {
        let text = describe(namespace, session.stdout.width());
        session.stdout.write(text.as_bytes())?;
        return session.stdout.flush();
    }
    session.stdout.list(&[NamespaceRecord(namespace)], namespace)
}

/// Asks whoever sits there. What is deleted is then the state that was looked at, not one made in the meantime.
async fn confirm(session: &Session, request: &mut DeleteNamespaceRequest) -> Result<(), Failure> {
    let name = &request.name;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = format!("deleting {name} deletes all its data, and there is nobody to ask; add --yes");
        return Err(Failure::Usage(message));
    }
    let found = session.client.get_namespace(name).await?;
    talk(&format!("This deletes {name} and all its data. Type its name to go on: "));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::Other(format!("cannot read the answer ({error}); use --yes")))?;
    if answer.trim() != *name {
        return Err(Failure::Usage("that is not its name; nothing was deleted".to_owned()));
    }
    if request.etag.is_empty() {
        request.etag = found.etag;
    }
    Ok(())
}

async fn end_backfill(mut session: Session, request: EndBackfillRequest) -> Result<(), Failure> {
    let validate_only = request.validate_only;
    let said = format!("{} takes events of backfill {} no longer\n", request.namespace, request.id);
    let answer = session.client.end_backfill(request).await?;
    checked(validate_only);
    if !validate_only {
        talk(&said);
    }
    match session.stdout.format() {
        Format::Json => session.stdout.message(&answer),
        Format::Table | Format::Ndjson | Format::Csv => Ok(()),
    }
}

async fn remove(mut session: Session, request: DeleteNamespaceRequest) -> Result<(), Failure> {
    let (name, validate_only) = (request.name.clone(), request.validate_only);
    let answer = session.client.delete_namespace(request).await?;
    checked(validate_only);
    if !validate_only {
        talk(&format!("deleted {name}\n"));
    }
    match session.stdout.format() {
        Format::Json => session.stdout.message(&answer),
        Format::Table | Format::Ndjson | Format::Csv => Ok(()),
    }
}
