//! `braid ns plan`, and what `ns create` takes from a plan.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use api::admin::v1::{Guess, Namespace, PlanNamespaceRequest, PlanNamespaceResponse, Retention, Shape, Slo};
use api::convert::{duration_from_wire, duration_to_wire};

use crate::failure::{Failure, talk};
use crate::input::{parse_count_guess, parse_duration, parse_rate_guess, parse_size_guess};
use crate::output::{Format, Json, PlanRecord, plan_rows, planned};
use crate::session::Session;

/// What `ns plan --help` ends with.
pub(super) const HELP: &str = "\
Examples:
  braid ns plan --events-per-second 2/m --ids 10k --event-bytes 400 \\
      --reads-per-second 100 --read-interval 1h --retention 30d
  braid ns plan --events-per-second 1/m..2/m..10/m --ids 1k..10k..100k --skew 0.5..0.8..1.1 \\
      --event-bytes 200..400..1KiB --reads-per-second 10..100..500 \\
      --read-interval 1h --retention 30d --read-slo 100ms
  braid ns plan ... -o json > plan.json
  braid ns create plays --from-plan plan.json

A GUESS is a number that is known, or low..mid..high: in half of all worlds it is
under mid, in one of twenty under low, in one of twenty over high. Counts may end in
k, M or G, rates in /s, /m, /h or /d, sizes in KiB or MiB.

Worlds are sampled from the guesses; every shape on every cluster is looked at in
each; what is chosen is what will be regretted least, whichever world turns out to be
the real one. The published rules stand beside it as BASELINE. Figures are those of
the middle world, in brackets from one world of twenty to nineteen. Nothing is made.
docs/operating/provisioning.md has the formulas.";

/// The close of slices where the plan keeps them longer: the default of a namespace.
const CLOSE_AFTER: Duration = Duration::from_secs(30 * 86_400);
/// After so long a read answers what it has, where nothing else is said.
const READ_MAX: Duration = Duration::from_secs(10);
/// No plan is larger.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// What is known of a workload.
#[derive(Debug, clap::Args)]
pub(super) struct Workload {
    /// Events of one series in a second, the mean over all series, such as 0.5 or 10/d
    #[arg(long, value_name = "GUESS", value_parser = parse_rate_guess)]
    events_per_second: Guess,
    /// Series at a time
    #[arg(long, value_name = "GUESS", value_parser = parse_count_guess)]
    ids: Guess,
    /// How unevenly events are spread over series: 0 evenly, 1 gives the second half of the first; at most 3 (default 0)
    #[arg(long, value_name = "GUESS", value_parser = parse_count_guess)]
    skew: Option<Guess>,
    /// What a client sends for one event
    #[arg(long, value_name = "GUESS", value_parser = parse_size_guess)]
    event_bytes: Guess,
    /// Reads of the whole namespace in a second (default 0)
    #[arg(long, value_name = "GUESS", value_parser = parse_rate_guess)]
    reads_per_second: Option<Guess>,
    /// How much time one read asks for
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    read_interval: Duration,
    /// How long events have to be kept, 1h to ten years
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    retention: Duration,
    /// What the first page of a read may take; not under a round trip, 1ms (default 500ms)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    read_slo: Option<Duration>,
    /// Machines that hold each event; 1 is a single machine with the embedded store (default 3)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    /// Worlds to sample, at most 512 (default 128)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    worlds: Option<u32>,
    /// Decides which worlds; the same seed gives the same plan
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Workload {
    fn message(&self) -> PlanNamespaceRequest {
        PlanNamespaceRequest {
            events_per_second_per_id: Some(self.events_per_second),
            ids: Some(self.ids),
            skew: self.skew,
            event_bytes: Some(self.event_bytes),
            reads_per_second: self.reads_per_second,
            read_interval: Some(duration_to_wire(self.read_interval)),
            retention: Some(duration_to_wire(self.retention)),
            read_slo: self.read_slo.map(duration_to_wire),
            seed: self.seed,
            worlds: self.worlds.unwrap_or(0),
            replicas: self.replicas.unwrap_or(0),
        }
    }
}

/// Asks for a plan and shows it.
pub(super) async fn plan(mut session: Session, workload: Workload) -> Result<(), Failure> {
    let plan = session.client.plan_namespace(workload.message()).await?;
    if session.stdout.format() == Format::Table {
        let text = planned(&plan, session.stdout.width());
        session.stdout.write(text.as_bytes())?;
        session.stdout.flush()?;
        talk(
            "to use it, run this again with -o json > plan.json, then `braid ns create NAME --from-plan plan.json`\n",
        );
        return Ok(());
    }
    let rows = plan_rows(&plan);
    let records: Vec<PlanRecord<'_>> = rows.iter().map(PlanRecord).collect();
    session.stdout.list(&records, &plan)
}

/// Where the plan of a namespace to be lies.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FromPlan {
    /// Take shape, retention and read target from what `braid ns plan -o json` wrote here; - for stdin. Settings given
    /// beside it come first
    #[arg(long, value_name = "FILE")]
    from_plan: Option<PathBuf>,
}

impl FromPlan {
    /// Fills what `namespace` leaves open.
    pub(super) fn fill(&self, namespace: &mut Namespace) -> Result<(), Failure> {
        let Some(path) = &self.from_plan else { return Ok(()) };
        let name = path.display();
        let text =
            read(path).map_err(|error| Failure::Usage(format!("cannot read the plan {name}: {error}")))?;
        let plan: PlanNamespaceResponse = Json::new()?.read(&text).map_err(|error| no_plan(path, &error))?;
        apply(&plan, namespace).map_err(|problem| no_plan(path, &problem))
    }
}

fn no_plan(path: &Path, problem: &str) -> Failure {
    let name = path.display();
    Failure::Usage(format!(
        "{name} is no plan: {problem}; write one with `braid ns plan ... -o json > {name}`"
    ))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let taken = match path.as_os_str() == "-" {
        true => io::stdin().take(PLAN_BYTES_MAX + 1).read_to_string(&mut text)?,
        false => File::open(path)?.take(PLAN_BYTES_MAX + 1).read_to_string(&mut text)?,
    };
    match u64::try_from(taken) {
        Ok(0..=PLAN_BYTES_MAX) => Ok(text),
        _ => Err(io::Error::other("it has over 1 MiB, and no plan has")),
    }
}

/// What the plan says about a namespace, where nothing else was said.
fn apply(plan: &PlanNamespaceResponse, namespace: &mut Namespace) -> Result<(), String> {
    let chosen = plan.chosen.as_ref().and_then(|chosen| chosen.shape).ok_or("it has no chosen.shape")?;
    let workload = plan.workload.as_ref().ok_or("it has no workload")?;
    let duration = |field: &str, wire: Option<prost_types::Duration>| {
        let wire = wire.ok_or_else(|| format!("it has no {field}"))?;
        duration_from_wire(field, wire).map_err(|error| error.to_string())
    };
    let retention = duration("workload.retention", workload.retention)?;
    let slo = duration("workload.read_slo", workload.read_slo)?;
    let given = namespace.shape.unwrap_or_default();
    let or = |given: u32, planned: u32| if given == 0 { planned } else { given };
    namespace.shape = Some(Shape {
        seconds_per_slice: or(given.seconds_per_slice, chosen.seconds_per_slice),
        seconds_per_bucket: or(given.seconds_per_bucket, chosen.seconds_per_bucket),
        buckets_per_id: or(given.buckets_per_id, chosen.buckets_per_id),
    });
    let given = namespace.retention.unwrap_or_default();
    namespace.retention = Some(Retention {
        close_after: given.close_after.or_else(|| Some(duration_to_wire(retention.min(CLOSE_AFTER)))),
        delete_after: given.delete_after.or_else(|| Some(duration_to_wire(retention))),
    });
    let given = namespace.slo.unwrap_or_default();
    let later = Some(slo).filter(|slo| *slo > READ_MAX).map(duration_to_wire);
    namespace.slo = Some(Slo {
        read_target: given.read_target.or_else(|| Some(duration_to_wire(slo))),
        read_max: given.read_max.or(later),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use api::admin::v1::PlanChoice;

    use super::*;

    fn seconds(seconds: i64) -> Option<prost_types::Duration> {
        Some(prost_types::Duration { seconds, nanos: 0 })
    }

    fn plan(retention: i64, slo: i64) -> PlanNamespaceResponse {
        let shape = Shape { seconds_per_slice: 604_800, seconds_per_bucket: 86_400, buckets_per_id: 2 };
        let workload = PlanNamespaceRequest {
            retention: seconds(retention),
            read_slo: seconds(slo),
            ..Default::default()
        };
        PlanNamespaceResponse {
            workload: Some(workload),
            chosen: Some(PlanChoice { shape: Some(shape), ..PlanChoice::default() }),
            ..PlanNamespaceResponse::default()
        }
    }

    #[test]
    fn a_plan_fills_shape_retention_and_target() {
        let mut namespace = Namespace::default();
        apply(&plan(90 * 86_400, 1), &mut namespace).unwrap();
        let expect = Namespace {
            shape: Some(Shape { seconds_per_slice: 604_800, seconds_per_bucket: 86_400, buckets_per_id: 2 }),
            retention: Some(Retention {
                close_after: seconds(30 * 86_400),
                delete_after: seconds(90 * 86_400),
            }),
            slo: Some(Slo { read_target: seconds(1), read_max: None }),
            ..Namespace::default()
        };
        assert_eq!(namespace, expect);
        // A slice is not closed after it is dropped, and no read gives up before its target.
        let mut short = Namespace::default();
        apply(&plan(86_400, 60), &mut short).unwrap();
        assert_eq!(
            short.retention,
            Some(Retention { close_after: seconds(86_400), delete_after: seconds(86_400) })
        );
        assert_eq!(short.slo, Some(Slo { read_target: seconds(60), read_max: seconds(60) }));
    }

    #[test]
    fn what_was_given_beside_the_plan_comes_first() {
        let mut namespace = Namespace {
            shape: Some(Shape { seconds_per_bucket: 3_600, ..Shape::default() }),
            retention: Some(Retention { close_after: None, delete_after: seconds(0) }),
            slo: Some(Slo { read_target: None, read_max: seconds(2) }),
            ..Namespace::default()
        };
        apply(&plan(90 * 86_400, 1), &mut namespace).unwrap();
        let expect = Shape { seconds_per_slice: 604_800, seconds_per_bucket: 3_600, buckets_per_id: 2 };
        assert_eq!(namespace.shape, Some(expect));
        assert_eq!(namespace.retention.unwrap().delete_after, seconds(0));
        assert_eq!(namespace.slo, Some(Slo { read_target: seconds(1), read_max: seconds(2) }));
    }

    #[test]
    fn half_a_plan_is_none() {
        let refused = |change: fn(&mut PlanNamespaceResponse)| {
            let mut half = plan(86_400, 1);
            change(&mut half);
            apply(&half, &mut Namespace::default()).unwrap_err()
        };
        assert_eq!(refused(|plan| plan.chosen = None), "it has no chosen.shape");
        assert_eq!(refused(|plan| plan.workload = None), "it has no workload");
        assert_eq!(
            refused(|plan| plan.workload.as_mut().unwrap().retention = None),
            "it has no workload.retention"
        );
        let missing = FromPlan { from_plan: Some(PathBuf::from("nowhere/plan.json")) };
        let said = missing.fill(&mut Namespace::default()).unwrap_err();
        assert_eq!(said.exit_code(), 2);
        assert!(FromPlan::default().fill(&mut Namespace::default()).is_ok());
    }
}
