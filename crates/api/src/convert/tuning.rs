//! Proposals, observations and simulations as they are shown, and what is asked of them.

use ::tune::{Draft, Limit, Observation, Proposal, ReplayedSlice, Seen, Settled, State, reads};
use engine::{Error, Named, Namespaced, Result, Simulation, Tuned, TuningStatus};
use model::{NamespaceName, ShapeSpec};

use super::histogram::quality;
use super::namespace::namespace_name;
use super::time::timestamp_to_wire;
use crate::admin::v1;
use crate::clip::clip;

/// States that a request may name.
pub(crate) const PROPOSAL_STATES_MAX: usize = State::ALL.len();
/// What a message quotes of an unknown name.
const QUOTE_CHARS_MAX: usize = 64;

/// A proposal as it is now.
pub fn proposal_to_wire(namespace: &NamespaceName, tuned: Tuned) -> v1::Proposal {
    let Tuned { proposal, first_slice, etag } = tuned;
    let rendered = proposal.rendered(namespace.as_str(), &first_slice);
    let Proposal { id, state, made, confirmed, draft, settled, outcome, .. } = proposal;
    v1::Proposal {
        id,
        namespace: namespace.as_str().to_owned(),
        state: state.as_str().to_owned(),
        from: Some(shape(draft.from)),
        to: Some(shape(draft.to)),
        direction: draft.direction.as_str().to_owned(),
        density_min_bytes: number(draft.density.min),
        density_max_bytes: number(draft.density.max),
        observed: Some(sizes(&draft.observed)),
        predicted: Some(sizes(&draft.predicted)),
        predicted_buckets: buckets(&draft),
        basis: draft.basis.as_str().to_owned(),
        reads: costs(draft.from, draft.to),
        evidence: draft.evidence.into_iter().map(evidence).collect(),
        quality: quality(draft.quality).to_owned(),
        may_apply: draft.may_apply,
        limits: draft.limits.into_iter().map(guardrail).collect(),
        first_slice,
        made: Some(timestamp_to_wire(made)),
        confirmed: Some(timestamp_to_wire(confirmed)),
        settled: settled.map(end),
        outcome_slices: outcome.map_or(0, |outcome| outcome.slices),
        outcome: outcome.map(|outcome| sizes(&outcome.seen)),
        rendered,
        etag,
    }
}

fn buckets(draft: &Draft) -> Vec<v1::PartitionSizes> {
    let bucket = |(bytes_max, partitions)| v1::PartitionSizes {
        bytes_max: number(bytes_max),
        partitions: number(partitions),
    };
    draft.histogram.buckets().map(bucket).collect()
}

fn costs(from: ShapeSpec, to: ShapeSpec) -> Vec<v1::ReadCost> {
    let cost = |((seconds, before), (_, after))| v1::ReadCost {
        seconds,
        before: number(before),
        after: number(after),
    };
    reads(from).into_iter().zip(reads(to)).map(cost).collect()
}

fn evidence((table, p99, partitions): (String, u64, u64)) -> v1::EvidenceSlice {
    v1::EvidenceSlice { table, p99: number(p99), partitions: number(partitions) }
}

fn guardrail(limit: Limit) -> v1::Guardrail {
    v1::Guardrail { code: limit.as_str().to_owned(), message: limit.told().to_owned() }
}

fn end(settled: Settled) -> v1::ProposalEnd {
    let Settled { time, author, reason, .. } = settled;
    v1::ProposalEnd { time: Some(timestamp_to_wire(time)), author, reason }
}

/// How the tuner stands to a namespace.
pub fn tuning_to_wire(namespace: &NamespaceName, status: TuningStatus) -> v1::TuningStatus {
    let finding = |(code, message)| v1::TuningFinding { code, message };
    v1::TuningStatus {
        namespace: namespace.as_str().to_owned(),
        policy: status.policy.name().to_owned(),
        looked: status.looked.map(timestamp_to_wire),
        finding: status.finding.map(finding),
        observations: status.observations.into_iter().map(observation).collect(),
    }
}

fn observation(seen: Observation) -> v1::SliceObservation {
    let cut = ShapeSpec {
        seconds_per_slice: seen.seconds_per_slice,
        seconds_per_bucket: seen.seconds_per_bucket,
        buckets_per_id: seen.buckets_per_id,
    };
    v1::SliceObservation {
        table: seen.table,
        start: Some(timestamp_to_wire(seen.start)),
        shape: Some(shape(cut)),
        covered_seconds: seen.covered_seconds,
        observed: Some(timestamp_to_wire(seen.observed)),
        quality: quality(seen.quality).to_owned(),
        source: seen.source,
        sizes: Some(sizes(&Seen::of(&seen.summary))),
        series: seen.series.map_or(0, |series| number(series.series)),
    }
}

/// Proposals in the states that are asked for, and how the tuner stands, without observations.
pub fn proposals_response(
    asked: &[State],
    proposals: Vec<Namespaced<Tuned>>,
    status: Vec<Namespaced<TuningStatus>>,
) -> v1::ListProposalsResponse {
    let wanted = |found: &Namespaced<Tuned>| asked.is_empty() || asked.contains(&found.of.proposal.state);
    let bare = |found: Namespaced<TuningStatus>| {
        let status = TuningStatus { observations: Vec::new(), ..found.of };
        tuning_to_wire(&found.namespace, status)
    };
    let shown = |found: Namespaced<Tuned>| proposal_to_wire(&found.namespace, found.of);
    v1::ListProposalsResponse {
        proposals: proposals.into_iter().filter(wanted).map(shown).collect(),
        status: status.into_iter().map(bare).collect(),
    }
}

/// The states that a list is asked for.
pub fn proposal_states(names: &[String]) -> Result<Vec<State>> {
    let state = |name: &String| {
        let named = State::ALL.iter().find(|state| state.as_str() == name).copied();
        named.ok_or_else(|| {
            let unknown = clip(name, QUOTE_CHARS_MAX);
            Error::field("states", format!("`{unknown}` is none; choose OPEN, ACCEPTED, REJECTED or STALE"))
        })
    };
    names.iter().map(state).collect()
}

/// A proposal by its namespace and number.
pub fn proposal_named(namespace: &str, id: u64) -> Result<(NamespaceName, u64)> {
    let name = namespace_name("namespace", namespace)?;
    if id == 0 {
        return Err(Error::field("id", "is missing; see `braid tune list`"));
    }
    Ok((name, id))
}

/// `base` with the fields that a request names.
pub fn simulated_shape(base: ShapeSpec, wire: Option<&v1::Shape>) -> Result<ShapeSpec> {
    let Some(wire) = wire else { return Ok(base) };
    let given = |asked: u32, base: u32| if asked == 0 { base } else { asked };
    let buckets = given(wire.buckets_per_id, u32::from(base.buckets_per_id));
    let buckets_per_id = u16::try_from(buckets).map_err(|_| {
        let max = model::shape::BUCKETS_PER_ID_MAX;
        Error::field("shape.buckets_per_id", format!("is {buckets}; choose 1 to {max}"))
    })?;
    Ok(ShapeSpec {
        seconds_per_slice: given(wire.seconds_per_slice, base.seconds_per_slice),
        seconds_per_bucket: given(wire.seconds_per_bucket, base.seconds_per_bucket),
        buckets_per_id,
    })
}

/// What recorded slices would have been.
pub fn simulation_to_wire(
    namespace: &NamespaceName,
    found: Simulation,
    density: std::ops::RangeInclusive<u64>,
) -> v1::SimulateProposalResponse {
    let Simulation { from, to, replay, first_slice } = found;
    let slice = |slice: ReplayedSlice| v1::SimulatedSlice {
        table: slice.table,
        observed: Some(sizes(&slice.observed)),
        predicted: Some(sizes(&slice.predicted)),
        basis: slice.basis.as_str().to_owned(),
    };
    v1::SimulateProposalResponse {
        namespace: namespace.as_str().to_owned(),
        from: Some(shape(from)),
        to: Some(shape(to)),
        observed: Some(sizes(&replay.observed)),
        predicted: Some(sizes(&replay.predicted)),
        reads: costs(from, to),
        inside_density: density.contains(&replay.predicted.p99),
        slices: replay.slices.into_iter().map(slice).collect(),
        first_slice: first_slice.unwrap_or_default(),
    }
}

fn shape(shape: ShapeSpec) -> v1::Shape {
    v1::Shape {
        seconds_per_slice: shape.seconds_per_slice,
        seconds_per_bucket: shape.seconds_per_bucket,
        buckets_per_id: u32::from(shape.buckets_per_id),
    }
}

fn sizes(seen: &Seen) -> v1::SliceSizes {
    let Seen { p50, p99, max, partitions } = *seen;
    v1::SliceSizes { p50: number(p50), p99: number(p99), max: number(max), partitions: number(partitions) }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: ShapeSpec =
        ShapeSpec { seconds_per_slice: 604_800, seconds_per_bucket: 60, buckets_per_id: 2 };

    #[test]
    fn a_simulated_shape_is_the_present_one_but_for_what_is_named() {
        let wire = |seconds_per_bucket, buckets_per_id| v1::Shape {
            seconds_per_bucket,
            buckets_per_id,
            ..v1::Shape::default()
        };
        assert_eq!(simulated_shape(BASE, None).unwrap(), BASE);
        let whole = simulated_shape(BASE, Some(&wire(604_800, 0))).unwrap();
        assert_eq!(whole, ShapeSpec { seconds_per_bucket: 604_800, ..BASE });
        let refused = simulated_shape(BASE, Some(&wire(0, 70_000))).unwrap_err().to_string();
        assert_eq!(refused, "shape.buckets_per_id: is 70000; choose 1 to 64");
    }

    #[test]
    fn states_and_numbers_are_checked() {
        let states = proposal_states(&["OPEN".to_owned(), "STALE".to_owned()]).unwrap();
        assert_eq!(states, [State::Open, State::Stale]);
        let refused = proposal_states(&["open".to_owned()]).unwrap_err().to_string();
        assert_eq!(refused, "states: `open` is none; choose OPEN, ACCEPTED, REJECTED or STALE");
        assert!(proposal_named("plays", 0).unwrap_err().to_string().starts_with("id: is missing"));
    }

    #[test]
    fn reads_are_shown_before_and_after() {
        let to = ShapeSpec { seconds_per_bucket: 604_800, buckets_per_id: 1, ..BASE };
        let shown: Vec<_> =
            costs(BASE, to).iter().map(|cost| (cost.seconds, cost.before, cost.after)).collect();
        assert_eq!(shown, [(3_600, 120, 1), (86_400, 2_880, 1), (604_800, 20_160, 1)]);
    }
}
