//! Proposals, observations and simulated slices as rows, and how the tuner stands to a namespace.

use api::admin::v1::{
    Proposal, Shape, SimulateProposalResponse, SimulatedSlice, SliceObservation, SliceSizes, TuningStatus,
};

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A proposal in a list.
#[derive(Debug)]
pub(crate) struct ProposalRecord<'a>(pub &'a Proposal);

impl Record for ProposalRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["NAMESPACE", "ID", "STATE", "BUCKET", "BUCKETS/ID", "P99", "PREDICTED", "TURNED OUT", "FROM SLICE"];
    const FIELDS: &'static [&'static str] = &[
        "namespace",
        "id",
        "state",
        "seconds_per_bucket",
        "proposed_seconds_per_bucket",
        "buckets_per_id",
        "proposed_buckets_per_id",
        "observed_p99",
        "predicted_p99",
        "outcome_p99",
        "first_slice",
        "quality",
        "basis",
        "etag",
    ];

    fn row(&self) -> Vec<String> {
        let (from, to) = shapes(self.0);
        vec![
            value::printable(&self.0.namespace).into_owned(),
            self.0.id.to_string(),
            value::printable(&self.0.state).into_owned(),
            change(from.seconds_per_bucket, to.seconds_per_bucket, "s"),
            change(from.buckets_per_id, to.buckets_per_id, ""),
            p99(self.0.observed),
            p99(self.0.predicted),
            self.0.outcome.map_or_else(String::new, |outcome| size(outcome.p99)),
            value::printable(&self.0.first_slice).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let (from, to) = shapes(self.0);
        let raw = |sizes: Option<SliceSizes>| sizes.map_or_else(String::new, |sizes| sizes.p99.to_string());
        vec![vec![
            self.0.namespace.clone(),
            self.0.id.to_string(),
            self.0.state.clone(),
            from.seconds_per_bucket.to_string(),
            to.seconds_per_bucket.to_string(),
            from.buckets_per_id.to_string(),
            to.buckets_per_id.to_string(),
            raw(self.0.observed),
            raw(self.0.predicted),
            raw(self.0.outcome),
            self.0.first_slice.clone(),
            self.0.quality.clone(),
            self.0.basis.clone(),
            self.0.etag.clone(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

fn shapes(proposal: &Proposal) -> (Shape, Shape) {
    (proposal.from.unwrap_or_default(), proposal.to.unwrap_or_default())
}

fn change(from: u32, to: u32, unit: &str) -> String {
    if from == to { format!("{from}{unit}") } else { format!("{from}{unit} -> {to}{unit}") }
}

/// What is known of a slice.
#[derive(Debug)]
pub(crate) struct ObservationRecord<'a>(pub &'a SliceObservation);

impl Record for ObservationRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SLICE", "BUCKET", "BUCKETS/ID", "P50", "P99", "MAX", "PARTITIONS", "SERIES", "QUALITY"];
    const FIELDS: &'static [&'static str] = &[
        "table",
        "seconds_per_bucket",
        "buckets_per_id",
        "p50",
        "p99",
        "max",
        "partitions",
        "series",
        "quality",
        "source",
        "covered_seconds",
        "observed",
    ];

    fn row(&self) -> Vec<String> {
        let (shape, sizes) = (self.0.shape.unwrap_or_default(), self.0.sizes.unwrap_or_default());
        vec![
            value::printable(&self.0.table).into_owned(),
            format!("{}s", shape.seconds_per_bucket),
            shape.buckets_per_id.to_string(),
            size(sizes.p50),
            size(sizes.p99),
            size(sizes.max),
            sizes.partitions.to_string(),
            self.0.series.to_string(),
            value::printable(&self.0.quality).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let (shape, sizes) = (self.0.shape.unwrap_or_default(), self.0.sizes.unwrap_or_default());
        vec![vec![
            self.0.table.clone(),
            shape.seconds_per_bucket.to_string(),
            shape.buckets_per_id.to_string(),
            sizes.p50.to_string(),
            sizes.p99.to_string(),
            sizes.max.to_string(),
            sizes.partitions.to_string(),
            self.0.series.to_string(),
            self.0.quality.clone(),
            self.0.source.clone(),
            self.0.covered_seconds.to_string(),
            value::time(self.0.observed),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// A recorded slice under another shape.
#[derive(Debug)]
pub(crate) struct SimulatedRecord<'a>(pub &'a SimulatedSlice);

impl Record for SimulatedRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SLICE", "P99", "MAX", "PARTITIONS", "WOULD BE P99", "MAX", "PARTITIONS", "BASIS"];
    const FIELDS: &'static [&'static str] = &[
        "table",
        "observed_p99",
        "observed_max",
        "observed_partitions",
        "predicted_p99",
        "predicted_max",
        "predicted_partitions",
        "basis",
    ];

    fn row(&self) -> Vec<String> {
        let (seen, would) = (self.0.observed.unwrap_or_default(), self.0.predicted.unwrap_or_default());
        vec![
            value::printable(&self.0.table).into_owned(),
            size(seen.p99),
            size(seen.max),
            seen.partitions.to_string(),
            size(would.p99),
            size(would.max),
            would.partitions.to_string(),
            value::printable(&self.0.basis).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let (seen, would) = (self.0.observed.unwrap_or_default(), self.0.predicted.unwrap_or_default());
        let numbers = [seen.p99, seen.max, seen.partitions, would.p99, would.max, would.partitions];
        let mut line = vec![self.0.table.clone()];
        line.extend(numbers.iter().map(i64::to_string));
        line.push(self.0.basis.clone());
        vec![line]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// How the tuner stands to a namespace, in a line.
pub(crate) fn stood(status: &TuningStatus) -> String {
    let found = match (&status.finding, status.looked) {
        (Some(finding), _) => format!("{}: {}", finding.code, finding.message),
        (None, Some(_)) => "there is a proposal".to_owned(),
        (None, None) => "nobody has looked yet; `braid tune observe` does".to_owned(),
    };
    value::printable(&format!("{} ({}): {found}", status.namespace, status.policy)).into_owned() + "\n"
}

/// What a simulation comes to, in a line for people.
pub(crate) fn simulated(answer: &SimulateProposalResponse) -> String {
    if answer.slices.is_empty() {
        return "no sizes are recorded yet; `braid tune observe` records those of closed slices\n".to_owned();
    }
    let inside = if answer.inside_density { "inside" } else { "outside" };
    let reads: Vec<String> = answer
        .reads
        .iter()
        .map(|read| {
            let span = value::duration(std::time::Duration::from_secs(u64::from(read.seconds)));
            format!("{} -> {} partitions for a read of {span}", read.before, read.after)
        })
        .collect();
    let (seen, would) = (p99(answer.observed), p99(answer.predicted));
    format!("p99 {seen} -> {would}, {inside} the density; {}\n", reads.join(", "))
}

fn p99(sizes: Option<SliceSizes>) -> String {
    size(sizes.unwrap_or_default().p99)
}

fn size(bytes: i64) -> String {
    value::size(u64::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use api::admin::v1::{ReadCost, TuningFinding};

    use super::*;

    const SIZES: SliceSizes = SliceSizes { p50: 5_000, p99: 9_000, max: 9_999, partitions: 7 };

    #[test]
    fn a_proposal_shows_what_changes() {
        let shape = |bucket| {
            Some(Shape { seconds_per_slice: 604_800, seconds_per_bucket: bucket, buckets_per_id: 1 })
        };
        let proposal = Proposal {
            namespace: "plays".to_owned(),
            id: 3,
            state: "OPEN".to_owned(),
            from: shape(60),
            to: shape(604_800),
            observed: Some(SIZES),
            predicted: Some(SliceSizes { p99: 4 << 20, ..SIZES }),
            first_slice: "data_20260328".to_owned(),
            ..Proposal::default()
        };
        let record = ProposalRecord(&proposal);
        assert_eq!(record.row().join("|"), "plays|3|OPEN|60s -> 604800s|1|8.7 KiB|4.0 MiB||data_20260328");
        assert_eq!(record.row().len(), ProposalRecord::COLUMNS.len());
        assert_eq!(record.lines().concat().len(), ProposalRecord::FIELDS.len());
    }

    #[test]
    fn slices_have_a_cell_for_every_column() {
        let seen = SliceObservation {
            table: "data_20260328".to_owned(),
            sizes: Some(SIZES),
            ..SliceObservation::default()
        };
        let record = ObservationRecord(&seen);
        assert_eq!(record.row().join("|"), "data_20260328|0s|0|4.8 KiB|8.7 KiB|9.7 KiB|7|0|");
        assert_eq!(record.row().len(), ObservationRecord::COLUMNS.len());
        assert_eq!(record.lines().concat().len(), ObservationRecord::FIELDS.len());
        let would = SimulatedSlice {
            table: "data_20260328".to_owned(),
            basis: "series".to_owned(),
            ..SimulatedSlice::default()
        };
        let record = SimulatedRecord(&would);
        assert_eq!(record.row().len(), SimulatedRecord::COLUMNS.len());
        assert_eq!(record.lines().concat().len(), SimulatedRecord::FIELDS.len());
    }

    #[test]
    fn the_tuner_says_why_there_is_nothing() {
        let mut status = TuningStatus {
            namespace: "plays".to_owned(),
            policy: "propose".to_owned(),
            ..TuningStatus::default()
        };
        assert_eq!(stood(&status), "plays (propose): nobody has looked yet; `braid tune observe` does\n");
        status.finding = Some(TuningFinding { code: "IN_WINDOW".to_owned(), message: "fine".to_owned() });
        assert_eq!(stood(&status), "plays (propose): IN_WINDOW: fine\n");
    }

    #[test]
    fn a_simulation_is_summed_up() {
        let mut answer =
            SimulateProposalResponse { observed: Some(SIZES), ..SimulateProposalResponse::default() };
        assert!(simulated(&answer).starts_with("no sizes are recorded yet"));
        answer.slices = vec![SimulatedSlice::default()];
        answer.reads = vec![ReadCost { seconds: 86_400, before: 1_440, after: 1 }];
        assert_eq!(
            simulated(&answer),
            "p99 8.7 KiB -> 0 B, outside the density; 1440 -> 1 partitions for a read of 1d\n"
        );
    }
}
