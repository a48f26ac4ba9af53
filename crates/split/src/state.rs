//! States of a split, and reasons.

use serde::{Deserialize, Serialize};

/// Where in its life a split is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Found wide, or asked for; waits for closed time and a worker.
    Candidate,
    /// The origin is being read.
    Planning,
    /// It is known how to cut it.
    Planned,
    /// The targets are being written.
    Copying,
    /// The targets are read back, and the origin again.
    Verifying,
    /// Proven equal.
    Completed,
    /// No longer to be read; waits until every server knows.
    Retiring,
    /// Not read by anybody; the targets go after a while.
    Retired,
    /// An attempt failed: tried again later, or parked.
    Failed,
    /// There is nothing to split.
    Rejected,
    /// Its slice was dropped.
    Expired,
}

impl State {
    /// All there are.
    pub const ALL: [Self; 11] = [
        Self::Candidate,
        Self::Planning,
        Self::Planned,
        Self::Copying,
        Self::Verifying,
        Self::Completed,
        Self::Retiring,
        Self::Retired,
        Self::Failed,
        Self::Rejected,
        Self::Expired,
    ];

    /// Whether a worker is at it, or should be.
    pub const fn is_attempt(self) -> bool {
        matches!(self, Self::Planning | Self::Planned | Self::Copying | Self::Verifying)
    }

    /// Whether `next` may follow.
    pub const fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Expired, _) => false,
            (_, Self::Expired)
            | (Self::Candidate, Self::Planning | Self::Rejected)
            | (Self::Planning, Self::Planned | Self::Rejected)
            | (Self::Planned, Self::Copying)
            | (Self::Copying, Self::Verifying)
            | (Self::Verifying, Self::Completed)
            | (Self::Completed, Self::Retiring)
            | (Self::Retiring, Self::Retired)
            | (Self::Retired | Self::Failed | Self::Rejected, Self::Candidate) => true,
            (from, Self::Failed) => from.is_attempt(),
            _ => false,
        }
    }

    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "CANDIDATE",
            Self::Planning => "PLANNING",
            Self::Planned => "PLANNED",
            Self::Copying => "COPYING",
            Self::Verifying => "VERIFYING",
            Self::Completed => "COMPLETED",
            Self::Retiring => "RETIRING",
            Self::Retired => "RETIRED",
            Self::Failed => "FAILED",
            Self::Rejected => "REJECTED",
            Self::Expired => "EXPIRED",
        }
    }
}

/// Why something is as it is, or is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// It has no more bytes than the threshold.
    NotWide,
    /// One event is nearly all there is.
    Indivisible,
    /// Events of its time may still be accepted, or a backfill is open there.
    NotClosed,
    /// Its series is blocked.
    Blocked,
    /// The store has no room for another table, or the namespace for another split.
    Budget,
    /// The disk is too full.
    Disk,
    /// The namespace reads or writes with less than a quorum.
    Consistency,
    /// The namespace wishes no splits.
    PolicyOff,
    /// The slice is gone.
    SliceGone,
    /// Workers were told to leave the namespace alone.
    Paused,
    /// The store failed.
    Store,
    /// Copies are not equal.
    Mismatch,
    /// A row is not where it belongs, or out of order.
    Misplaced,
    /// The origin changed while it was split.
    OriginChanged,
    /// Somebody asked for it.
    ByHand,
    /// Time that is to be written again.
    Backfill,
    /// Rows came late to the origin of packed targets, which are made anew.
    Straggler,
}

impl Reason {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotWide => "NOT_WIDE",
            Self::Indivisible => "INDIVISIBLE",
            Self::NotClosed => "NOT_CLOSED",
            Self::Blocked => "BLOCKED",
            Self::Budget => "BUDGET",
            Self::Disk => "DISK",
            Self::Consistency => "CONSISTENCY",
            Self::PolicyOff => "POLICY_OFF",
            Self::SliceGone => "SLICE_GONE",
            Self::Paused => "PAUSED",
            Self::Store => "STORE",
            Self::Mismatch => "MISMATCH",
            Self::Misplaced => "MISPLACED",
            Self::OriginChanged => "ORIGIN_CHANGED",
            Self::ByHand => "BY_HAND",
            Self::Backfill => "BACKFILL",
            Self::Straggler => "STRAGGLER",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_record() {
        for state in State::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{}\"", state.as_str()));
        }
    }

    #[test]
    fn only_a_verified_attempt_is_ever_completed() {
        let before: Vec<State> =
            State::ALL.into_iter().filter(|state| state.may_become(State::Completed)).collect();
        assert_eq!(before, [State::Verifying]);
        let after: Vec<State> =
            State::ALL.into_iter().filter(|next| State::Completed.may_become(*next)).collect();
        assert_eq!(after, [State::Retiring, State::Expired]);
        assert!(State::ALL.into_iter().all(|next| !State::Expired.may_become(next)));
    }
}
