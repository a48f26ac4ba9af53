//! The sentences of the protocol that can be taken away, one by one. A mutant is a configuration without some of them.
//!
//! The models ask [`Without::keeps`] wherever a sentence does its work, and nowhere else: with nothing taken away they are
//! the protocol.

use crate::listed::listed;

listed! {
    /// One sentence of the protocol.
    pub enum Guard {
        // Views and leases.
        /// A server registers, then reads the view.
        RegisterFirst,
        /// A lease counts from the start of the refresh.
        LeaseFromStart,
        /// A view never goes back.
        NeverBack,
        /// A registration is removed only after its lease has run out.
        RemoveAfterLease,
        // Writers.
        /// A writer checks before the store call.
        FirstCheck,
        /// A write is acknowledged when the store has it.
        AckAfterStore,
        /// A writer checks again before the ack.
        SecondCheck,
        /// Clocks differ by less than the bound.
        SkewWithinBound,
        /// Without a lease only the base limit counts, and no reopened range.
        BaseLimitOnly,
        // Splits.
        /// Closed time never goes back.
        ClosedMonotone,
        /// The scan of a split waits for the barrier.
        ScanAfterBarrier,
        /// The worker reads the namespace row again after its attempt is recorded.
        LookAgain,
        /// A takeover reads the namespace row again, too.
        TakeoverLooksAgain,
        /// Changes of the record are compare-and-sets on its version.
        Fence,
        /// A new attempt begins without the checkpoint of an old one.
        FreshCheckpoint,
        /// The targets are read back before COMPLETED.
        VerifyTargets,
        /// The targets of an extension are read back, too.
        VerifyExtension,
        /// The origin is read a second time before COMPLETED.
        SecondScan,
        /// Every extension has a destination of its own.
        OwnDestination,
        /// An attempt never takes the destination of an earlier one.
        FreshDestination,
        // Retirement and backfill.
        /// RETIRED waits for the barrier.
        RetireAfterBarrier,
        /// A retirement is published under an epoch of its own.
        RetireEpoch,
        /// A backfill publishes its range as ANNOUNCED first.
        Announce,
        /// A backfill fails attempts, too.
        ListAttempts,
        /// A range is OPEN only behind the barrier of the epoch that names the covers in it.
        OpenAfterBarrier,
        /// A dropped slice was published as CLOSING, and the barrier passed.
        DropAfterBarrier,
        // Serving.
        /// Routes are used under a lease only.
        RouteUnderLease,
        /// Cached entries die with the lease.
        CacheDiesWithLease,
        /// A load counts only under the epoch in which it began.
        LoadUnderEpoch,
        /// A page from targets is answered only if its entry is still in force.
        CheckEntryAfterScan,
        /// After the scan of a page the lease is looked at.
        CheckLeaseAfterScan,
        /// Targets are read below `covered_until` only.
        Clip,
        /// A page token is a logical position.
        LogicalToken,
        // Clocks.
        /// Closed time keeps a margin.
        Margin,
        /// The wait for leases has an allowance for the rate of clocks.
        RateAllowance,
        /// The wait counts from when the publication was confirmed.
        WaitFromConfirmed,
        /// The wait is for the longest lease ever configured.
        LongestLease,
        /// Views are read linearizably.
        LinearizableView,
        /// The base limit shrinks only by every server's own report.
        BaseByReport,
        // Slices.
        /// The first ack in a slice waits for the barrier of its announcement.
        AckAfterBarrier,
        /// The record of a dropped slice stays.
        KeepTombstone,
        /// A keeper reads the namespace row again behind its compare-and-set.
        KeeperLooksAgain,
        /// A keeper that takes over reads the namespace row again, too.
        KeeperTakeoverLooks,
        /// DROPPED is a compare-and-set on the version that was CLOSING.
        DropByVersion,
        /// A longer retention lists the slices behind its change of the row.
        ExtensionLists,
        /// A reader without a lease looks the slice records up.
        LookSlicesUp,
        /// The lookup of slice records is linearizable.
        LinearizableLookup,
        /// A reader looks behind its scan whether the slice was dropped.
        CheckSliceAfterScan,
        /// Without a lease a slice that is older than the base limit takes no writes.
        UnleasedByClock,
        /// A namespace that is made again has a new incarnation.
        NewIncarnation,
    }
}

/// A set of guards that were taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without(u64);

impl Without {
    /// The set of these.
    pub fn of(guards: &[Guard]) -> Self {
        Self(guards.iter().fold(0, |set, guard| set | 1 << *guard as u64))
    }

    /// Whether the guard is still there.
    pub fn keeps(self, guard: Guard) -> bool {
        self.0 & (1 << guard as u64) == 0
    }

    /// Whether the guard was taken away.
    pub fn lacks(self, guard: Guard) -> bool {
        !self.keeps(guard)
    }
}
