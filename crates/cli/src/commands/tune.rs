//! `braid tune`.

mod help;

use std::time::Duration;

use api::admin::v1::{
    AcceptProposalRequest, ListProposalsRequest, ObserveRequest, Proposal, RejectProposalRequest, Shape,
    SimulateProposalRequest, TuningStatus,
};

use crate::failure::{Failure, talk};
use crate::input::parse_duration;
use crate::output::{Format, ObservationRecord, ProposalRecord, SimulatedRecord, simulated, stood};
use crate::session::Session;

/// What `tune` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List proposals for future slices
    #[command(after_help = help::LIST)]
    List {
        /// In this state only: OPEN, ACCEPTED, REJECTED or STALE; can be given several times
        #[arg(long, value_name = "STATE")]
        state: Vec<String>,
    },
    /// Show one proposal in full
    #[command(after_help = help::SHOW)]
    Show {
        /// Its number
        id: u64,
    },
    /// Replay recorded sizes through another shape
    #[command(after_help = help::SIMULATE)]
    Simulate(Simulate),
    /// Give future slices the proposed shape
    #[command(after_help = help::ACCEPT)]
    Accept {
        #[command(flatten)]
        choice: Choice,
    },
    /// End a proposal
    #[command(after_help = help::REJECT)]
    Reject {
        #[command(flatten)]
        choice: Choice,
    },
    /// Look at closed slices now
    #[command(after_help = help::OBSERVE)]
    Observe {
        /// Read the newest slices whole
        #[arg(long)]
        measure: bool,
        /// Why, for the log
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
        /// Show what is known and do not look
        #[arg(long)]
        validate_only: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Simulate {
    /// Width of a slice
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    slice: Option<Duration>,
    /// Width of a time bucket
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    bucket: Option<Duration>,
    /// Event buckets per time bucket, 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    buckets_per_id: Option<u32>,
    /// The shape of this proposal
    #[arg(long, value_name = "ID")]
    proposal: Option<u64>,
}

impl Simulate {
    fn request(&self, namespace: String) -> Result<SimulateProposalRequest, Failure> {
        let shape = Shape {
            seconds_per_slice: seconds("--slice", self.slice)?,
            seconds_per_bucket: seconds("--bucket", self.bucket)?,
            buckets_per_id: self.buckets_per_id.unwrap_or(0),
        };
        let shape = Some(shape).filter(|shape| *shape != Shape::default());
        if shape.is_none() && self.proposal.is_none() {
            let wanted =
                "name a shape with --bucket, --buckets-per-id or --slice, or a proposal with --proposal";
            return Err(Failure::Usage(wanted.to_owned()));
        }
        Ok(SimulateProposalRequest { namespace, shape, id: self.proposal.unwrap_or(0) })
    }
}

/// What every decision takes.
#[derive(Debug, clap::Args)]
struct Choice {
    /// The number of the proposal
    id: u64,
    /// Decide only if it is still in this state
    #[arg(long)]
    etag: Option<String>,
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
        Verb::List { state } => {
            // Without a namespace all are meant.
            let namespace = session.namespace().unwrap_or_default();
            let answer =
                session.client.list_proposals(ListProposalsRequest { namespace, states: state }).await?;
            let records: Vec<ProposalRecord<'_>> = answer.proposals.iter().map(ProposalRecord).collect();
            if session.stdout.format() == Format::Table {
                answer.status.iter().for_each(|status| talk(&stood(status)));
            }
            session.stdout.list(&records, &answer)
        }
        Verb::Show { id } => {
            let namespace = session.namespace()?;
            let proposal = session.client.get_proposal(&namespace, id).await?;
            show(&mut session, &proposal)
        }
        Verb::Simulate(asked) => {
            let request = asked.request(session.namespace()?)?;
            let answer = session.client.simulate_proposal(request).await?;
            let records: Vec<SimulatedRecord<'_>> = answer.slices.iter().map(SimulatedRecord).collect();
            talk(&simulated(&answer));
            session.stdout.list(&records, &answer)
        }
        Verb::Accept { choice: Choice { id, etag, reason, validate_only } } => {
            let (namespace, etag) = (session.namespace()?, etag.unwrap_or_default());
            let request = AcceptProposalRequest { namespace, id, etag, validate_only, reason };
            let proposal = session.client.accept_proposal(request).await?;
            talk(&match validate_only {
                true => "checked only; it can be accepted; nothing was changed\n".to_owned(),
                false => format!("slices from {} on have the new shape\n", proposal.first_slice),
            });
            show(&mut session, &proposal)
        }
        Verb::Reject { choice: Choice { id, etag, reason, validate_only } } => {
            let (namespace, etag) = (session.namespace()?, etag.unwrap_or_default());
            let request = RejectProposalRequest { namespace, id, etag, validate_only, reason };
            let proposal = session.client.reject_proposal(request).await?;
            talk(if validate_only { "checked only; nothing was changed\n" } else { "rejected\n" });
            show(&mut session, &proposal)
        }
        Verb::Observe { measure, reason, validate_only } => {
            let namespace = session.namespace()?;
            let request = ObserveRequest { namespace, measure, validate_only, reason };
            let answer = session.client.observe(request).await?;
            let status: TuningStatus = answer.status.clone().unwrap_or_default();
            let records: Vec<ObservationRecord<'_>> =
                status.observations.iter().map(ObservationRecord).collect();
            talk(&stood(&status));
            if let Some(open) = &answer.proposal {
                talk(&format!(
                    "proposal {} is open; see `braid tune show -n {} {}`\n",
                    open.id, open.namespace, open.id
                ));
            }
            session.stdout.list(&records, &answer)
        }
    }
}

fn show(session: &mut Session, proposal: &Proposal) -> Result<(), Failure> {
    if session.stdout.format() == Format::Table {
        session.stdout.write(proposal.rendered.as_bytes())?;
        return session.stdout.flush();
    }
    session.stdout.list(&[ProposalRecord(proposal)], proposal)
}

/// Whole seconds; 0 where nothing was given.
fn seconds(flag: &str, duration: Option<Duration>) -> Result<u32, Failure> {
    let Some(duration) = duration else { return Ok(0) };
    match u32::try_from(duration.as_secs()) {
        Ok(seconds) if seconds > 0 && duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(Failure::Usage(format!("{flag} counts in whole seconds, from 1s on; write one such as 1h"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulation_needs_a_shape_or_a_proposal() {
        let none = Simulate { slice: None, bucket: None, buckets_per_id: None, proposal: None };
        assert!(none.request("plays".to_owned()).is_err());
        let day = Simulate { bucket: Some(Duration::from_secs(86_400)), ..none };
        let request = day.request("plays".to_owned()).unwrap();
        assert_eq!((request.shape.unwrap().seconds_per_bucket, request.id), (86_400, 0));
        let half = Simulate { bucket: Some(Duration::from_millis(500)), ..day };
        assert!(half.request("plays".to_owned()).is_err());
    }
}
