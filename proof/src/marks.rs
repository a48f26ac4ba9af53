//! What a run has to come across. A configuration in which nothing is lost says little if nothing happened in it, so each
//! names the marks that have to be reached.
//!
//! Marks are kept beside the states and not in them: a state that remembered its past would be explored once per past.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::listed::listed;

listed! {
    /// Something that happened on some path.
    pub enum Mark {
        /// A page was answered from targets.
        ServedFromTarget,
        /// Two pages of one read took different routes.
        ReadCrossedRoutes,
        /// One page was read below `covered_until` from targets and above it from the origin.
        PageCrossedSeam,
        /// A page was read again from the origin, because its route was no longer in force after the scan.
        PageFellBack,
        /// A cover grew by another attempt.
        CoverExtended,
        /// A split went to RETIRED.
        Retired,
        /// Targets that no record names were deleted.
        TargetsDeleted,
        /// Targets were deleted when a later attempt had begun.
        LateDeletion,
        /// Another worker took an attempt over.
        Takeover,
        /// A compare-and-set was applied after its sender had given up.
        LateCompareAndSet,
        /// A write landed in the origin under a cover that does not have it. It was not acknowledged.
        Straggler,
        /// A recheck copied a straggler forward.
        StragglerCopied,
        /// A write was acknowledged by a server without a lease.
        AckWithoutLease,
        /// A write was acknowledged in a reopened range.
        AckInReopened,
        /// A write failed the second check: its outcome is unknown.
        UnknownOutcome,
        /// After a backfill the range was split again.
        SplitAfterBackfill,
        /// A slice was dropped.
        SliceDropped,
        /// A barrier was passed by a server that had not reported and held no lease.
        BarrierWithoutReport,
        /// A registration was removed.
        RegistrationRemoved,
        /// A server joined later.
        Joined,
        /// A barrier was passed by waiting, counted in ticks.
        BarrierByTime,
        /// A cover was made that has the acknowledged write in it.
        CoverHasAck,
        /// The base limit shrank.
        BaseShrunk,
        /// An event was acknowledged in a slice.
        AckInSlice,
        /// A read came to its answer while the slice was there, with all its events.
        ReadComplete,
        /// A read was answered as truncated by retention.
        ReadTruncated,
        /// A reader without a lease looked the slice records up.
        SliceLookedUp,
        /// A reader without a lease and without the records said that its answer is partial.
        ReadPartial,
        /// A keeper found, after its compare-and-set, that retention had become longer, and turned back.
        KeeperTurnedBack,
        /// A longer retention found a slice CLOSING and took it back.
        SliceRescued,
        /// A longer retention was promised for a slice.
        RetentionPromised,
        /// A keeper went on with what another had begun.
        KeeperTookOver,
        /// A dropped slice was asked for again and refused.
        DroppedRefused,
        /// A namespace was made again.
        Remade,
        /// An event was acknowledged in the namespace that was made again.
        AckInRemade,
    }
}

/// The marks that were reached.
#[derive(Debug, Default)]
pub struct Marks(AtomicU64);

impl Marks {
    pub(crate) fn hit(&self, mark: Mark) {
        let bit = 1 << mark as u64;
        // Read first: nearly always it is set already, and a write would take the line from the other thread.
        if self.0.load(Ordering::Relaxed) & bit == 0 {
            self.0.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(crate) fn hit_if(&self, happened: bool, mark: Mark) {
        if happened {
            self.hit(mark);
        }
    }

    /// Whether it was reached.
    pub fn has(&self, mark: Mark) -> bool {
        self.0.load(Ordering::Relaxed) & (1 << mark as u64) != 0
    }
}
