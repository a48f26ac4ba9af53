//! A proposal, until somebody has decided on it, and what came of it.

use model::{ShapeSpec, SizeSummary};
use serde::{Deserialize, Serialize};

use crate::{Draft, Observation};

/// Slices of the new shape by which a proposal is judged afterwards.
const OUTCOME_SLICES: usize = 3;

/// The sizes of a slice in few numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Half of the partitions are not larger.
    pub p50: u64,
    /// 99 in a hundred are not larger.
    pub p99: u64,
    /// None is larger.
    pub max: u64,
    /// How many there are.
    pub partitions: u64,
}

impl Seen {
    /// Of one slice.
    pub const fn of(summary: &SizeSummary) -> Self {
        Self { p50: summary.p50, p99: summary.p99, max: summary.max, partitions: summary.partitions }
    }

    /// Of several: the median of each, and the largest of all.
    pub fn median(all: &[Self]) -> Self {
        let of = |number: fn(&Self) -> u64| {
            let mut numbers: Vec<u64> = all.iter().map(number).collect();
            numbers.sort_unstable();
            numbers.get(numbers.len() / 2).copied().unwrap_or(0)
        };
        Self {
            p50: of(|seen| seen.p50),
            p99: of(|seen| seen.p99),
            max: all.iter().map(|seen| seen.max).max().unwrap_or(0),
            partitions: of(|seen| seen.partitions),
        }
    }
}

/// How far a proposal has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waits for a decision.
    Open,
    /// Future slices have its shape.
    Accepted,
    /// Somebody does not want it.
    Rejected,
    /// What it rested on holds no more.
    Stale,
}

impl State {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Open, Self::Accepted, Self::Rejected, Self::Stale];

    /// Its name, as people and programs see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Accepted => "ACCEPTED",
            Self::Rejected => "REJECTED",
            Self::Stale => "STALE",
        }
    }
}

/// How a proposal ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// When, nanoseconds since 1970.
    pub time: i64,
    /// Who decided; empty where a server did.
    pub author: String,
    /// Why.
    pub reason: String,
    /// Where the first slice of the new shape starts; none unless it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<i64>,
}

/// What slices of the new shape came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// How many slices were looked at: the first of the new shape.
    pub slices: u32,
    /// Their sizes.
    pub seen: Seen,
}

/// A proposal for a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Counts up in its namespace.
    pub id: u64,
    /// How far it has come.
    pub state: State,
    /// When it was made, nanoseconds since 1970.
    pub made: i64,
    /// When it was last found to hold.
    pub confirmed: i64,
    /// Where the first slice starts that could have the new shape.
    pub first_slice: i64,
    /// What is proposed, and why.
    pub draft: Draft,
    /// How it ended; none while it is open.
    pub settled: Option<Settled>,
    /// What came of it, once slices of the new shape are closed.
    pub outcome: Option<Outcome>,
}

impl Proposal {
    /// A new one.
    pub const fn new(id: u64, draft: Draft, now: i64, first_slice: i64) -> Self {
        let (state, settled, outcome) = (State::Open, None, None);
        Self { id, state, made: now, confirmed: now, first_slice, draft, settled, outcome }
    }

    /// The same with what is known now, if it is still open and about the same change.
    pub fn confirmed_by(&self, draft: &Draft, now: i64, first_slice: i64) -> Option<Self> {
        let same = self.state == State::Open && (self.draft.from, self.draft.to) == (draft.from, draft.to);
        same.then(|| Self { confirmed: now, first_slice, draft: draft.clone(), ..self.clone() })
    }

    /// Ended by somebody.
    pub fn settled(&self, state: State, settled: Settled) -> Self {
        Self { state, settled: Some(settled), ..self.clone() }
    }

    /// The same with what its first slices came to, if that is news.
    pub fn with_outcome(&self, observations: &[Observation]) -> Option<Self> {
        let effective = self.settled.as_ref().filter(|_| self.state == State::Accepted)?.effective?;
        let of_shape =
            |seen: &&Observation| seen.start >= effective && seen.is_whole() && seen.has_shape(self.draft.to);
        let mut first: Vec<&Observation> = observations.iter().filter(of_shape).collect();
        first.sort_by_key(|seen| seen.start);
        let seen: Vec<Seen> = first.iter().take(OUTCOME_SLICES).map(|seen| Seen::of(&seen.summary)).collect();
        let slices = u32::try_from(seen.len()).unwrap_or(u32::MAX);
        // Observations are forgotten one day; what they came to is not.
        let known = self.outcome.map_or(0, |outcome| outcome.slices);
        (slices > known)
            .then(|| Self { outcome: Some(Outcome { slices, seen: Seen::median(&seen) }), ..self.clone() })
    }

    /// What a decision may not propose again for a while; none unless it was rejected.
    pub fn rejection(&self) -> Option<(u64, ShapeSpec, u64)> {
        (self.state == State::Rejected).then_some((self.id, self.draft.to, self.draft.observed.p99))
    }
}
