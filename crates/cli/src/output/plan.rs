//! Plans: the choice beside the baseline, how large partitions become, what else was looked at and why it lost.

use api::admin::v1::{Cluster, PlanChoice, PlanNamespaceResponse, PlanRunnerUp, PlanSizes, Shape, Spread};

use super::list::Record;
use super::namespace::seconds;
use super::{Json, Table, value};
use crate::failure::Failure;

/// Characters of the longest bar.
const BAR_CHARS: f64 = 40.0;
/// Sizes that fewer partitions have are left out of the bars.
const SHARE_MIN: f64 = 0.0005;

/// A plan for people.
pub(crate) fn planned(plan: &PlanNamespaceResponse, width: Option<usize>) -> String {
    let workload = plan.workload.unwrap_or_default();
    let worlds = workload.worlds;
    let mut text = format!("A plan from {worlds} worlds, seed {}.\n\n", workload.seed);
    let Some(chosen) = &plan.chosen else { return text };
    let baseline = plan.baseline.as_ref().and_then(|baseline| baseline.choice.as_ref());
    Table::new(width).rows(&beside(chosen, baseline, worlds), &mut text);
    if let Some(baseline) = &plan.baseline {
        text.push_str(&format!("\nThe baseline lost because {}.\n", value::printable(&baseline.reason)));
    }
    text.push_str("\nSizes of partitions, as chosen:\n");
    Table::new(width).rows(&bars(&chosen.partition_sizes), &mut text);
    text.push_str("\nWhat else was looked at:\n");
    let header = PlanRecord::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    let others = plan.runners_up.iter().map(|other| PlanRecord(other).row());
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(others).collect();
    Table::new(width).rows(&rows, &mut text);
    if !plan.notes.is_empty() {
        text.push('\n');
    }
    for note in &plan.notes {
        text.push_str(&format!("note: {}\n", value::printable(note)));
    }
    text
}

/// Both choices, a line a figure.
fn beside(chosen: &PlanChoice, baseline: Option<&PlanChoice>, worlds: u32) -> Vec<Vec<String>> {
    let header = ["", "CHOSEN", if baseline.is_some() { "BASELINE" } else { "" }];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let figures = baseline.map(|baseline| figures(baseline, worlds));
    let mut figures_of_baseline = figures.into_iter().flatten();
    for (name, figure) in self::figures(chosen, worlds) {
        let other = figures_of_baseline.next().map_or_else(String::new, |(_, figure)| figure);
        rows.push(vec![name.to_owned(), figure, other]);
    }
    rows
}

/// A choice, figure by figure.
fn figures(choice: &PlanChoice, worlds: u32) -> Vec<(&'static str, String)> {
    let shape = choice.shape.unwrap_or_default();
    let cluster = choice.cluster.unwrap_or_default();
    vec![
        ("slice", seconds(shape.seconds_per_slice)),
        ("bucket", seconds(shape.seconds_per_bucket)),
        ("buckets/id", shape.buckets_per_id.to_string()),
        ("nodes", cluster.nodes.to_string()),
        ("cores a node", cluster.cores_per_node.to_string()),
        ("disk a node", format!("{} GiB", cluster.disk_gib_per_node)),
        ("regret", format!("{:.2}", choice.regret)),
        ("too small in", format!("{} of {worlds} worlds", choice.worlds_short)),
        ("tables", choice.tables.to_string()),
        ("partition p50", spread(choice.partition_p50_bytes, bytes)),
        ("partition p99", spread(choice.partition_p99_bytes, bytes)),
        ("partition max", spread(choice.partition_max_bytes, bytes)),
        ("partitions/read", spread(choice.partitions_per_read, number)),
        ("ids to split", spread(choice.split_ids_share, percent)),
        ("first page", spread(choice.first_page_seconds, |page| format!("{:.1} ms", page * 1e3))),
        ("pages over SLO", spread(choice.slow_reads_share, percent)),
        ("cores needed", spread(choice.cores, number)),
        ("disk needed", spread(choice.disk_gib, |gib| format!("{gib:.0} GiB"))),
    ]
}

/// The middle, and in brackets from where to where; only the middle where they are the same.
fn spread(spread: Option<Spread>, show: fn(f64) -> String) -> String {
    let Spread { p5, p50, p95 } = spread.unwrap_or_default();
    let [low, mid, high] = [p5, p50, p95].map(show);
    if low == mid && mid == high { mid } else { format!("{mid} ({low} - {high})") }
}

fn bars(sizes: &[PlanSizes]) -> Vec<Vec<String>> {
    let shown = sizes.iter().filter(|size| size.share >= SHARE_MIN);
    let row = |size: &PlanSizes| {
        let largest = value::size(u64::try_from(size.bytes_max).unwrap_or(0));
        // Cut where the share is used up: a character a fortieth.
        let bar: String = (1..)
            .map(f64::from)
            .take_while(|at| *at <= (size.share * BAR_CHARS).ceil())
            .map(|_| '#')
            .collect();
        vec![format!("  up to {largest}"), percent(size.share), bar]
    };
    shown.map(row).collect()
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A share as a percentage with two digits that count.
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 10.0 || percent == 0.0 => format!("{percent:.0}%"),
        percent if percent >= 0.1 => format!("{percent:.1}%"),
        percent => format!("{percent:.3}%"),
    }
}

fn bytes(bytes: f64) -> String {
    let units =
        [(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes / unit),
        None => format!("{bytes:.0} B"),
    }
}

/// A choice that was looked at, in a list.
#[derive(Debug)]
pub(crate) struct PlanRecord<'a>(pub &'a PlanRunnerUp);

/// All choices of a plan as they are listed: the chosen one, the baseline, the others.
pub(crate) fn plan_rows(plan: &PlanNamespaceResponse) -> Vec<PlanRunnerUp> {
    let row = |choice: &PlanChoice, reason: String| PlanRunnerUp {
        shape: choice.shape,
        reason,
        cluster: choice.cluster,
        regret: choice.regret,
        partition_p99_bytes: choice.partition_p99_bytes,
        partitions_per_read: choice.partitions_per_read,
        worlds_short: choice.worlds_short,
    };
    let chosen = plan.chosen.iter().map(|chosen| row(chosen, "chosen".to_owned()));
    let baseline = plan.baseline.iter().filter_map(|baseline| {
        let reason = format!("baseline: {}", baseline.reason);
        baseline.choice.as_ref().map(|choice| row(choice, reason))
    });
    chosen.chain(baseline).chain(plan.runners_up.iter().cloned()).collect()
}

impl Record for PlanRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SLICE", "BUCKET", "BUCKETS/ID", "NODES", "CORES", "DISK", "REGRET", "P99", "READ", "LOST BECAUSE"];
    const FIELDS: &'static [&'static str] = &[
        "seconds_per_slice",
        "seconds_per_bucket",
        "buckets_per_id",
        "nodes",
        "cores_per_node",
        "disk_gib_per_node",
        "regret",
        "partition_p99_bytes",
        "partitions_per_read",
        "worlds_short",
        "reason",
    ];

    fn row(&self) -> Vec<String> {
        let Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id } =
            self.0.shape.unwrap_or_default();
        let Cluster { nodes, cores_per_node, disk_gib_per_node } = self.0.cluster.unwrap_or_default();
        vec![
            seconds(seconds_per_slice),
            seconds(seconds_per_bucket),
            buckets_per_id.to_string(),
            nodes.to_string(),
            cores_per_node.to_string(),
            format!("{disk_gib_per_node} GiB"),
            format!("{:.2}", self.0.regret),
            bytes(self.0.partition_p99_bytes.unwrap_or_default().p50),
            number(self.0.partitions_per_read.unwrap_or_default().p50),
            value::printable(&self.0.reason).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id } =
            self.0.shape.unwrap_or_default();
        let Cluster { nodes, cores_per_node, disk_gib_per_node } = self.0.cluster.unwrap_or_default();
        let counts =
            [seconds_per_slice, seconds_per_bucket, buckets_per_id, nodes, cores_per_node, disk_gib_per_node];
        let mut line = counts.map(|count| count.to_string()).to_vec();
        line.extend([
            self.0.regret.to_string(),
            format!("{:.0}", self.0.partition_p99_bytes.unwrap_or_default().p50),
            self.0.partitions_per_read.unwrap_or_default().p50.to_string(),
            self.0.worlds_short.to_string(),
            self.0.reason.clone(),
        ]);
        vec![line]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests;
