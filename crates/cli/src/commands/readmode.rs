//! `braid readmode`.

mod compare;
mod help;

use api::admin::v1::{AdvanceReadModeRequest, HoldReadModeRequest, ReadMode, RollbackReadModeRequest};

use crate::failure::{Failure, talk};
use crate::output::{Format, MismatchRecord, ReadModeRecord, missing, mode_story, quoted};
use crate::session::Session;

/// What `readmode` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show how far reads have moved to targets, and what the next step needs
    #[command(after_help = help::SHOW)]
    Show,
    /// Take the next step, if its gates let reads through
    #[command(after_help = help::ADVANCE)]
    Advance {
        #[command(flatten)]
        change: Change,
    },
    /// Keep reads in their mode until they are released
    #[command(after_help = help::HOLD)]
    Hold {
        /// Let them go on by themselves again
        #[arg(long)]
        release: bool,
        #[command(flatten)]
        change: Change,
    },
    /// Take reads back, or begin a mode anew
    #[command(after_help = help::ROLLBACK)]
    Rollback {
        /// Where to: off, shadow, canary or on [default: shadow, and from there off]
        #[arg(long, value_name = "MODE")]
        to: Option<String>,
        #[command(flatten)]
        change: Change,
    },
    /// Read all completed splits both ways and compare them
    #[command(after_help = help::COMPARE)]
    Compare(compare::Asked),
    /// List the differences that a second look has confirmed
    #[command(after_help = help::MISMATCHES)]
    Mismatches,
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
    let namespace = session.namespace()?;
    match args.verb {
        Verb::Show => {
            let mode = session.client.get_read_mode(&namespace).await?;
            show(&mut session, &mode)
        }
        Verb::Advance { change: Change { reason, validate_only } } => {
            let request = AdvanceReadModeRequest { namespace, validate_only, reason };
            let mode = session.client.advance_read_mode(request).await?;
            let may = format!("reads of {} may move on to {}", mode.namespace, mode.next_mode);
            changed(session, &mode, validate_only.then_some(may.as_str()))
        }
        Verb::Hold { release, change: Change { reason, validate_only } } => {
            let request = HoldReadModeRequest { namespace, release, validate_only, reason };
            let mode = session.client.hold_read_mode(request).await?;
            changed(session, &mode, validate_only.then_some("nothing is in the way"))
        }
        Verb::Rollback { to, change: Change { reason, validate_only } } => {
            let to = to.unwrap_or_default();
            let request = RollbackReadModeRequest { namespace, to, validate_only, reason };
            let mode = session.client.rollback_read_mode(request).await?;
            changed(session, &mode, validate_only.then_some("nothing is in the way"))
        }
        Verb::Compare(asked) => compare::run(session, namespace, asked).await,
        Verb::Mismatches => {
            let answer = session.client.list_mismatches(&namespace).await?;
            let records: Vec<MismatchRecord<'_>> = answer.mismatches.iter().map(MismatchRecord).collect();
            if records.is_empty() && session.stdout.format() == Format::Table {
                talk("no difference was ever confirmed\n");
            }
            session.stdout.list(&records, &answer)
        }
    }
}

fn show(session: &mut Session, mode: &ReadMode) -> Result<(), Failure> {
    let now = session.now();
    if session.stdout.format() == Format::Table {
        let text = mode_story(mode, now, session.stdout.width());
        session.stdout.write(text.as_bytes())?;
        session.stdout.flush()?;
    } else {
        session.stdout.list(&[ReadModeRecord(mode)], mode)?;
    }
    talk(&missing(mode));
    Ok(())
}

/// Shows a mode after a change, or what a check has come to.
fn changed(mut session: Session, mode: &ReadMode, checked: Option<&str>) -> Result<(), Failure> {
    talk(&match checked {
        Some(found) => format!("checked only; {found}; nothing was changed\n"),
        None => now_is(mode),
    });
    show(&mut session, mode)
}

/// What holds from now on.
fn now_is(mode: &ReadMode) -> String {
    let (namespace, name) = (&mode.namespace, &mode.mode);
    if mode.held {
        let release = format!("braid readmode hold --release -n {}", quoted(namespace));
        return format!("reads of {namespace} stay {name}, until `{release}`\n");
    }
    format!("reads of {namespace} are {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_what_holds_from_now_on() {
        let mut mode =
            ReadMode { namespace: "plays".to_owned(), mode: "canary".to_owned(), ..ReadMode::default() };
        assert_eq!(now_is(&mode), "reads of plays are canary\n");
        mode.held = true;
        assert_eq!(
            now_is(&mode),
            "reads of plays stay canary, until `braid readmode hold --release -n plays`\n"
        );
    }
}
