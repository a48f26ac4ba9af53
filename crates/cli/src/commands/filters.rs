//! `braid filters`.

use std::time::Duration;

use api::admin::v1::{ProbeFilterRequest, ProbeFilterResponse, ReloadFiltersRequest};
use api::v1::TimeInterval;

use crate::failure::{Failure, talk};
use crate::input::{Moment, parse_duration, parse_moment};
use crate::output::{FilterRecord, Format, ProbeRecord, value};
use crate::session::{Session, wire_time};

const LIST: &str = "\
Examples:
  braid filters list -n plays
  braid filters list -o csv                    those of all namespaces

A slice with splits has a filter on every server: it lets through every partition that
was split, and few others, so that a read asks for the record of a split only where there
may be one. WRONG is how often it let something through that was never split. These are
the filters of the server that is asked.";

const RELOAD: &str = "\
Examples:
  braid filters reload -n plays
  braid filters reload --reason 'restored metadata'

Reads all filters of the server that is asked anew. Servers look for changes every five
seconds by themselves.";

const PROBE: &str = "\
Examples:
  braid filters probe -n plays user:7
  braid filters probe -n plays user:7 --from 2026-03-28T07:00Z --to 2026-03-28T08:00Z
  braid filters probe -n plays user:7 --all

What a read of the series would meet now: the partitions that its filter lets through, the
state of the split of each, and where it would be read. In canary each probe draws its way
by chance, as a read does. A probe asks about 1,000 partitions at most; without times about
all that there are. -o json and -o csv have every partition.";

/// What `filters` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the filters of a server
    #[command(after_help = LIST)]
    List,
    /// Read all filters anew
    #[command(after_help = RELOAD)]
    Reload {
        /// Why, for the log
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
        /// Show what there is and read nothing
        #[arg(long)]
        validate_only: bool,
    },
    /// Show what a read of a series would meet
    #[command(after_help = PROBE)]
    Probe(Probe),
}

#[derive(Debug, clap::Args)]
struct Probe {
    /// The series
    id: String,
    /// From so long ago, such as 1h or 7d
    #[arg(long, value_name = "DURATION", conflicts_with = "from", value_parser = parse_duration)]
    since: Option<Duration>,
    /// From this time on [default: ever]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Moment>,
    /// Up to this time, without it [default: ever]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Moment>,
    /// Show also partitions that were not split
    #[arg(long)]
    all: bool,
}

impl Probe {
    /// The time that is meant; none for all of it.
    fn interval(&self, now: jiff::Timestamp) -> Option<TimeInterval> {
        let from = self.from.or_else(|| self.since.map(Moment::Before));
        if from.is_none() && self.to.is_none() {
            return None;
        }
        let start = from.map_or(jiff::Timestamp::UNIX_EPOCH, |from| from.resolve(now));
        let end = self.to.map_or(jiff::Timestamp::MAX, |to| to.resolve(now));
        Some(TimeInterval { start: Some(wire_time(start)), end: Some(wire_time(end)) })
    }
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    // Without a namespace all are meant.
    let one = session.namespace().unwrap_or_default();
    match args.verb {
        Verb::List => {
            let answer = session.client.list_filters(&one).await?;
            let records: Vec<FilterRecord<'_>> = answer.filters.iter().map(FilterRecord).collect();
            told_of(&session, records.len());
            session.stdout.list(&records, &answer)
        }
        Verb::Reload { reason, validate_only } => {
            let request = ReloadFiltersRequest { namespace: one, validate_only, reason };
            let answer = session.client.reload_filters(request).await?;
            let records: Vec<FilterRecord<'_>> = answer.filters.iter().map(FilterRecord).collect();
            if validate_only {
                talk("checked only; nothing was read\n");
            }
            told_of(&session, records.len());
            session.stdout.list(&records, &answer)
        }
        Verb::Probe(asked) => probe(session, asked).await,
    }
}

/// An empty list is worth a word.
fn told_of(session: &Session, filters: usize) {
    if filters == 0 && session.stdout.format() == Format::Table {
        talk("no filters: nothing was split yet\n");
    }
}

async fn probe(mut session: Session, asked: Probe) -> Result<(), Failure> {
    let time_interval = asked.interval(session.now());
    let namespace = session.namespace()?;
    let request = ProbeFilterRequest { namespace, time_series_id: asked.id, time_interval };
    let answer = session.client.probe_filter(request).await?;
    let everything = asked.all || session.stdout.format() != Format::Table;
    let records: Vec<ProbeRecord<'_>> = answer
        .partitions
        .iter()
        .map(ProbeRecord)
        .filter(|record| everything || record.may_be_split())
        .collect();
    session.stdout.list(&records, &answer)?;
    talk(&summed_up(&answer));
    Ok(())
}

/// How many partitions there are, and what became of them.
fn summed_up(answer: &ProbeFilterResponse) -> String {
    let all = || answer.partitions.iter().map(ProbeRecord);
    let maybe = all().filter(ProbeRecord::may_be_split).count();
    let target = all().filter(ProbeRecord::is_target).count();
    let partitions = value::count(u64::try_from(answer.partitions.len()).unwrap_or(u64::MAX), "partition");
    format!("{partitions}: the filter lets {maybe} through, {target} would be read from targets\n")
}

#[cfg(test)]
mod tests {
    use api::admin::v1::ProbedPartition;

    use super::*;

    fn typed(from: Option<&str>, since: Option<u64>, to: Option<&str>) -> Option<(i64, i64)> {
        let moment = |text: &str| parse_moment(text).unwrap();
        let probe = Probe {
            id: "s".to_owned(),
            since: since.map(Duration::from_secs),
            from: from.map(moment),
            to: to.map(moment),
            all: false,
        };
        let interval = probe.interval(jiff::Timestamp::new(1_000, 0).unwrap())?;
        Some((interval.start.unwrap().seconds, interval.end.unwrap().seconds))
    }

    #[test]
    fn without_times_all_time_is_meant_and_with_one_the_rest() {
        assert_eq!(typed(None, None, None), None);
        assert_eq!(typed(Some("5"), None, Some("6")), Some((5, 6)));
        assert_eq!(typed(None, Some(100), Some("now")), Some((900, 1_000)));
        assert_eq!(typed(None, None, Some("6")), Some((0, 6)));
        assert_eq!(typed(Some("5"), None, None), Some((5, 253_402_207_200)));
    }

    #[test]
    fn a_probe_is_summed_up() {
        let partition = |filter: &str, route: &str| ProbedPartition {
            filter: filter.to_owned(),
            route: route.to_owned(),
            ..ProbedPartition::default()
        };
        let partitions =
            vec![partition("YES", "TARGET"), partition("YES", "ORIGIN"), partition("NO", "ORIGIN")];
        assert_eq!(
            summed_up(&ProbeFilterResponse { partitions }),
            "3 partitions: the filter lets 2 through, 1 would be read from targets\n"
        );
    }
}
