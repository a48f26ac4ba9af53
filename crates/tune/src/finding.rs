//! Why there is no proposal.

use crate::evidence::{EVIDENCE_PARTITIONS, EVIDENCE_SLICES};
use crate::render::{age, bytes};

/// Why there is nothing to propose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nobody has looked, or there was nothing to see.
    NoHistogram,
    /// What was seen is too old.
    StaleHistogram {
        /// How long ago the last look was.
        age_seconds: u64,
    },
    /// Too little was seen of the present shape.
    LittleEvidence {
        /// Closed slices of the present shape.
        slices: usize,
        /// Partitions in them.
        partitions: u64,
    },
    /// The p99 is where it should be.
    InWindow {
        /// Of the newest slice.
        p99: u64,
    },
    /// There are too many partitions, but that has to last for longer.
    Waiting {
        /// Slices in a row that say so.
        slices: usize,
        /// How many have to.
        wanted: usize,
    },
    /// Few partitions are wide and the rest is fine: these are to be split.
    Outliers {
        /// Half of the partitions are not larger.
        p50: u64,
        /// One in a hundred is larger.
        p99: u64,
        /// How many are larger than the density allows.
        wide: u64,
    },
    /// Nothing that may be done makes it better.
    AtLimit {
        /// Of the newest slice.
        p99: u64,
        /// What is in the way.
        because: &'static str,
    },
    /// The same was rejected, and sizes are still about the same.
    Rejected {
        /// Which proposal that was.
        id: u64,
    },
    /// The namespace asks not to be tuned.
    Off,
}

impl Finding {
    /// Its name, for programs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NoHistogram => "NO_HISTOGRAM",
            Self::StaleHistogram { .. } => "STALE_HISTOGRAM",
            Self::LittleEvidence { .. } => "LITTLE_EVIDENCE",
            Self::InWindow { .. } => "IN_WINDOW",
            Self::Waiting { .. } => "WAITING",
            Self::Outliers { .. } => "OUTLIERS",
            Self::AtLimit { .. } => "AT_LIMIT",
            Self::Rejected { .. } => "REJECTED",
            Self::Off => "OFF",
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoHistogram => write!(
                to,
                "no partition sizes are known of any closed slice; they come once one is closed and has data"
            ),
            Self::StaleHistogram { age_seconds } => write!(
                to,
                "the last partition sizes are {} old; see whether slices are written and their sizes can be read \
                 (`braid tune observe`)",
                age(*age_seconds)
            ),
            Self::LittleEvidence { slices, partitions } => write!(
                to,
                "{slices} closed slices of the present shape with {partitions} partitions are known; \
                 {EVIDENCE_SLICES} with {EVIDENCE_PARTITIONS} are needed, or 72 closed time buckets over 3 days"
            ),
            Self::InWindow { p99 } => write!(to, "p99 is {}, inside the density", bytes(*p99)),
            Self::Waiting { slices, wanted } => write!(
                to,
                "{slices} slices in a row have too many partitions; {wanted} are needed before there are fewer"
            ),
            Self::Outliers { p50, p99, wide } => write!(
                to,
                "few ids are wide and the rest is fine (p50 {}, p99 {}, about {wide} partitions over the density): \
                 splitting them helps, re-tuning the table does not; see `braid split list` and `braid partitions top`",
                bytes(*p50),
                bytes(*p99)
            ),
            Self::AtLimit { p99, because } => write!(to, "p99 is {}, and {because}", bytes(*p99)),
            Self::Rejected { id } => write!(
                to,
                "proposal {id} for the same shape was rejected, and sizes have not doubled or halved since"
            ),
            Self::Off => write!(to, "the policy is off"),
        }
    }
}
