//! `braid doctor`: looks at everything a server needs and says what to do about what is wrong.
//!
//! Looking is here; judging what was seen is in `machine`, `cluster` and `remote`, from data.

mod cluster;
mod finding;
mod machine;
mod remote;

use std::path::PathBuf;
use std::time::Duration;

use rpc::client::{CallError, Client};
use server::config::{Backend, Config, Flags};

use super::serve::load;
use crate::args::Global;
use crate::failure::{FINDINGS, Failure};
use crate::output::Format;
use crate::session::Session;
use finding::{Finding, FindingRecord, Level};

/// How long a server may take to say how it is.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// How long a look at a cluster may take: several nodes that hang, one after the other.
const EXAMINED_WITHIN: Duration = Duration::from_secs(60);

const EXAMPLES: &str = "\
Examples:
  braid doctor
  braid doctor --config braid.toml -o json
  braid doctor -s http://10.0.0.5:7420

Each line is ok, warn or FAIL, and what to do. Exits with 8 when anything fails.
Settings, data directory and limits are those of this machine and this user; run
it where the server runs. Of a cluster it looks at nodes, rights, tables and
snapshots, of Kafka at the topics, and it makes nothing there.";

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File with settings [default: braid.toml here, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory [default: the one in the settings]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Looks, judges, tells.
pub(crate) async fn run(mut session: Session, args: Args, global: &Global) -> Result<(), Failure> {
    let mut findings = Vec::new();
    let config = settings(args, &mut findings);
    let store = &config.store;
    let directory = (store.backend == Backend::Embedded).then(|| machine::look(&store.data));
    match &directory {
        Some(found) => findings.extend(machine::judge(&store.data, found)),
        None => {
            findings.push(Finding::ok(format!("events are kept in {}", store.place())));
            findings.extend(examine(&session, &config).await);
        }
    }
    findings.extend(queue(&session, &config).await);
    findings.push(machine::judge_open_files(machine::open_files(), config.limits.connections));
    let now = session.now();
    findings.push(machine::judge_clock(now));
    let url = remote::url(&global.server, config.server.listen);
    let client = Client::new(&url)?;
    let answer = tokio::select! {
        answer = Box::pin(client.server_info()) => answer,
        () = session.env.clock.sleep(ANSWER_WITHIN) => Err(CallError {
            code: "DEADLINE_EXCEEDED",
            reason: None,
            message: "no answer in 10 s".to_owned(),
            retry_after: None,
        }),
    };
    let listens = answer.is_err() && remote::listens(&url);
    let owner = directory.as_ref().and_then(|found| found.owner.as_deref());
    findings.extend(remote::judge(&url, &answer, listens, owner));
    findings.extend(answer.ok().map(|info| remote::judge_started(info.started, now)));
    tell(&mut session, &findings)
}

/// Looks at the cluster with the server's own settings.
async fn examine(session: &Session, config: &Config) -> Vec<Finding> {
    let found = tokio::select! {
        found = Box::pin(server::examine(config, &session.env)) => found.map_err(|error| error.to_string()),
        () = session.env.clock.sleep(EXAMINED_WITHIN) => {
            Err("the cluster does not answer in 60 s; look at its nodes with `nodetool status`".to_owned())
        }
    };
    match found {
        Ok(found) => found.map_or_else(Vec::new, |found| cluster::judge(Ok(&found))),
        Err(message) => cluster::judge(Err(message)),
    }
}

/// Asks the brokers with the server's own settings.
async fn queue(session: &Session, config: &Config) -> Option<Finding> {
    let asked = server::examine_queue(config, &session.env).await;
    cluster::judge_queue(asked.map_err(|error| error.to_string()))
}

/// The settings, or the defaults where they do not load: the rest is still worth looking at.
fn settings(args: Args, findings: &mut Vec<Finding>) -> Config {
    let flags = Flags { config: args.config, data: args.data.clone(), listen: None };
    match load(&flags) {
        Ok(loaded) => {
            let file = loaded
                .file()
                .map_or_else(|| "there is no file".to_owned(), |file| format!("from {}", file.display()));
            findings.push(Finding::ok(format!("settings load ({file})")));
            loaded.config
        }
        Err(failure) => {
            if let Failure::Usage(mistakes) = failure {
                let fail =
                    |line: &str| Finding::fail(line.to_owned(), "correct it; see `braid config check`");
                findings.extend(mistakes.lines().map(fail));
            }
            let mut config = Config::default();
            config.store.data = args.data.unwrap_or(config.store.data);
            config
        }
    }
}

fn tell(session: &mut Session, findings: &[Finding]) -> Result<(), Failure> {
    if session.stdout.format() == Format::Table {
        let lines: String = findings.iter().map(Finding::line).collect();
        session.stdout.write(lines.as_bytes())?;
        session.stdout.flush()?;
    } else {
        let records: Vec<FindingRecord<'_>> = findings.iter().map(FindingRecord).collect();
        session.stdout.named_list("findings", &records)?;
    }
    if findings.iter().any(|finding| finding.level == Level::Fail) {
        return Err(Failure::Told(FINDINGS));
    }
    Ok(())
}
