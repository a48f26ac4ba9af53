//! What all parts of tuning share, and what they answer.

use std::sync::Arc;

use ::tune::{Observation, Proposal, Replay};
use model::{NamespaceName, ShapeSpec};

use super::metrics::TuneMetrics;
use crate::catalog::Catalog;
use crate::namespace::TunePolicy;
use crate::split::Throttle;

/// Bytes that looks may read in a second: they have time.
const BYTES_PER_SECOND: u64 = 32 << 20;

/// Tuning, as one server does it.
pub(crate) struct Tuner {
    pub(super) catalog: Arc<Catalog>,
    pub(super) throttle: Throttle,
    pub(crate) metrics: TuneMetrics,
}

impl Tuner {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog, throttle: Throttle::new(BYTES_PER_SECOND), metrics: TuneMetrics::default() }
    }
}

/// Something of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaced<T> {
    /// Which one.
    pub namespace: NamespaceName,
    /// What.
    pub of: T,
}

/// A proposal as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// The proposal.
    pub proposal: Proposal,
    /// The table of the first slice that has the new shape, or could.
    pub first_slice: String,
    /// Names its present state.
    pub etag: String,
}

/// How the tuner stands to a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningStatus {
    /// Who decides.
    pub policy: TunePolicy,
    /// When a server last looked, nanoseconds since 1970; none if none did.
    pub looked: Option<i64>,
    /// Why there is nothing to propose, as a code and in words; none where there is, or nobody has looked.
    pub finding: Option<(String, String)>,
    /// What is known of slices, oldest first.
    pub observations: Vec<Observation>,
}

/// What recorded slices would have been under another shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The present shape of future slices.
    pub from: ShapeSpec,
    /// The one that was tried.
    pub to: ShapeSpec,
    /// What would have been.
    pub replay: Replay,
    /// Where the first slice starts that could have it; none where no slice exists.
    pub first_slice: Option<String>,
}
