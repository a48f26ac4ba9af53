//! The table of the cover model: configurations of the protocol, guards that turned out not to be needed, and mutants.

use super::Bounds;
use super::properties::{ACKED_IN_ORIGIN, PAGES_WHOLE, TARGETS_COMPLETE};
use crate::Guard::{
    AckAfterStore, Announce, BaseLimitOnly, CacheDiesWithLease, CheckEntryAfterScan, CheckLeaseAfterScan,
    Clip, ClosedMonotone, DropAfterBarrier, Fence, FirstCheck, FreshCheckpoint, FreshDestination,
    LeaseFromStart, ListAttempts, LoadUnderEpoch, LogicalToken, LookAgain, NeverBack, OpenAfterBarrier,
    OwnDestination, RegisterFirst, RemoveAfterLease, RetireAfterBarrier, RetireEpoch, RouteUnderLease,
    ScanAfterBarrier, SecondCheck, SecondScan, SkewWithinBound, TakeoverLooksAgain, VerifyExtension,
    VerifyTargets,
};
use crate::Mark::{
    AckInReopened, AckWithoutLease, BarrierWithoutReport, CoverExtended, Joined, LateCompareAndSet,
    LateDeletion, PageCrossedSeam, PageFellBack, ReadCrossedRoutes, RegistrationRemoved, Retired,
    ServedFromTarget, SliceDropped, SplitAfterBackfill, Straggler, StragglerCopied, Takeover, TargetsDeleted,
    UnknownOutcome,
};
use crate::case::{Case, Expect, Size, Subject};
use crate::{Guard, Leases, Mark, RunOut};

const BASE: Bounds = Bounds::BASE;
/// One event to close is enough for most stories, and makes them short.
const ONE: Bounds = Bounds { closes: 1, ..BASE };
const SLOW: Leases = Leases { slow_refresh: true, ..Leases::PLAIN };
const OVERLAPPING: Leases = Leases { overlapping: true, ..SLOW };
const LATE: Leases = Leases { late_joiner: true, ..Leases::PLAIN };
const REMOVED: Leases = Leases { removed: true, ..Leases::PLAIN };
/// Every server refreshes in time.
const PROMPT: Leases = Leases { run_out: RunOut::Never, ..Leases::PLAIN };
const RETIRE: Bounds = Bounds { retirements: 1, ..ONE };
const DELETE: Bounds = Bounds { slow_deletions: true, destinations: 3, ..RETIRE };
const BACKFILL: Bounds = Bounds { reopens: 1, resends: 1, ..ONE };
const READ: Bounds = Bounds { reads: 1, ..BASE };
const READ_RETIRE: Bounds = Bounds { retirements: 1, reads: 1, page_rows: 1, ..ONE };
const WORKERS: Bounds = Bounds { workers: 2, takeovers: 1, destinations: 3, ..BASE };

/// All of them.
pub(crate) const ALL: &[Case] = &[
    holds(
        "cover-writers",
        Bounds { writes: 2, ..BASE },
        &[AckWithoutLease, Straggler, UnknownOutcome, CoverExtended, BarrierWithoutReport],
    ),
    holds("cover-slow-refresh", Bounds { leases: SLOW, ..BASE }, &[UnknownOutcome, CoverExtended]),
    holds("cover-overlapping-refresh", Bounds { leases: OVERLAPPING, closes: 1, ..BASE }, &[UnknownOutcome]),
    holds("cover-late-joiner", Bounds { leases: LATE, ..BASE }, &[Joined, UnknownOutcome]),
    holds("cover-removed", Bounds { leases: REMOVED, ..BASE }, &[RegistrationRemoved, UnknownOutcome]),
    holds("cover-retire", Bounds { retirements: 1, destinations: 3, ..BASE }, &[Retired, TargetsDeleted]),
    holds("cover-delete", DELETE, &[Retired, TargetsDeleted, LateDeletion]),
    holds(
        "cover-delete-workers",
        Bounds { workers: 2, takeovers: 1, ..DELETE },
        &[Takeover, Retired, LateDeletion],
    ),
    holds("cover-backfill", BACKFILL, &[AckInReopened, Retired, SplitAfterBackfill]),
    holds(
        "cover-workers",
        Bounds { travelling: true, give_ups: 1, closes: 1, ..WORKERS },
        &[Takeover, LateCompareAndSet],
    ),
    holds(
        "cover-reader",
        Bounds { closes: 1, writes: 2, ..READ },
        &[ServedFromTarget, ReadCrossedRoutes, PageCrossedSeam],
    ),
    holds("cover-reader-retire", READ_RETIRE, &[PageFellBack, Retired]),
    holds(
        "cover-reader-drop",
        Bounds { drops_slice: true, page_rows: 1, closes: 1, ..READ },
        &[SliceDropped, ServedFromTarget],
    ),
    holds(
        "cover-recheck",
        Bounds { rechecks: true, page_rows: 1, closes: 1, ..READ },
        &[StragglerCopied, ServedFromTarget],
    ),
    large(
        "cover-large-delete-workers",
        Bounds { workers: 2, takeovers: 1, failures: 1, ..DELETE },
        &[Takeover, Retired, LateDeletion],
    ),
    large(
        "cover-large-slow-refresh",
        Bounds { leases: SLOW, writes: 2, ..BASE },
        &[AckWithoutLease, CoverExtended],
    ),
    large(
        "cover-large-removed",
        Bounds { leases: REMOVED, writes: 2, retirements: 1, ..BASE },
        &[RegistrationRemoved, Retired],
    ),
    large(
        "cover-large-lost-copies",
        Bounds { lost_copies: 1, failures: 1, destinations: 3, writes: 2, ..BASE },
        &[CoverExtended],
    ),
    large(
        "cover-large-workers",
        Bounds { travelling: true, give_ups: 1, takeovers: 2, ..WORKERS },
        &[Takeover, LateCompareAndSet],
    ),
    large(
        "cover-large-workers-fail",
        Bounds { travelling: true, failures: 1, lost_copies: 1, ..WORKERS },
        &[Takeover],
    ),
    large(
        "cover-large-workers-retire",
        Bounds { travelling: true, retirements: 1, ..WORKERS },
        &[Takeover, Retired],
    ),
    large(
        "cover-large-workers-backfill",
        Bounds { travelling: true, give_ups: 1, closes: 1, reopens: 1, resends: 1, ..WORKERS },
        &[Takeover, AckInReopened, SplitAfterBackfill],
    ),
    large(
        "cover-large-backfill",
        Bounds { reopens: 1, resends: 1, destinations: 3, ..BASE },
        &[AckInReopened, SplitAfterBackfill],
    ),
    large(
        "cover-large-reader",
        Bounds { writes: 2, ..READ },
        &[CoverExtended, PageCrossedSeam, ReadCrossedRoutes],
    ),
    large(
        "cover-large-reader-retire",
        Bounds { retirements: 1, page_rows: 1, ..READ },
        &[PageFellBack, Retired],
    ),
    large(
        "cover-large-reader-slow-load",
        Bounds { retirements: 1, slow_loads: true, ..READ },
        &[PageFellBack, Retired],
    ),
    large(
        "cover-large-reader-backfill",
        Bounds { reads: 1, page_rows: 1, ..BACKFILL },
        &[AckInReopened, PageFellBack],
    ),
    large(
        "cover-large-reader-drop",
        Bounds { drops_slice: true, page_rows: 1, ..READ },
        &[SliceDropped, ServedFromTarget],
    ),
    large(
        "cover-large-recheck",
        Bounds { rechecks: true, retirements: 1, page_rows: 1, closes: 1, reads: 2, ..READ },
        &[StragglerCopied, Retired],
    ),
    // Guards that do not carry safety: without them nothing is lost.
    spare("cover-spare-first-check", &[FirstCheck], BASE, &[UnknownOutcome]),
    spare(
        "cover-spare-second-scan",
        &[SecondScan],
        Bounds { lost_copies: 1, writes: 2, ..BASE },
        &[CoverExtended],
    ),
    spare(
        "cover-spare-checkpoint",
        &[FreshCheckpoint],
        Bounds { failures: 1, destinations: 3, ..BASE },
        &[CoverExtended],
    ),
    spare(
        "cover-spare-skew-strict",
        &[SkewWithinBound],
        Bounds { unleased_writes: false, writes: 2, ..BASE },
        &[UnknownOutcome],
    ),
    spare(
        "cover-spare-destination",
        &[OwnDestination],
        Bounds { writes: 2, failures: 1, ..BASE },
        &[CoverExtended],
    ),
    // Mutants.
    breaks("cover-ack-before-store", &[AckAfterStore], ONE, ACKED_IN_ORIGIN),
    breaks("cover-no-scan-barrier", &[ScanAfterBarrier], ONE, TARGETS_COMPLETE),
    breaks("cover-no-second-check", &[SecondCheck], ONE, TARGETS_COMPLETE),
    breaks("cover-skew", &[SkewWithinBound], ONE, TARGETS_COMPLETE),
    breaks("cover-lease-from-end", &[LeaseFromStart], Bounds { leases: SLOW, ..ONE }, TARGETS_COMPLETE),
    breaks("cover-view-goes-back", &[NeverBack], Bounds { leases: OVERLAPPING, ..ONE }, TARGETS_COMPLETE),
    breaks("cover-closed-goes-back", &[ClosedMonotone], ONE, TARGETS_COMPLETE),
    breaks(
        "cover-view-before-register",
        &[RegisterFirst],
        Bounds { leases: LATE, unleased_writes: false, ..ONE },
        TARGETS_COMPLETE,
    ),
    breaks("cover-removed-early", &[RemoveAfterLease], Bounds { leases: REMOVED, ..ONE }, TARGETS_COMPLETE),
    breaks("cover-no-verify", &[VerifyTargets], Bounds { lost_copies: 1, ..ONE }, TARGETS_COMPLETE),
    breaks(
        "cover-no-extension-verify",
        &[VerifyExtension],
        Bounds { lost_copies: 1, writes: 2, ..BASE },
        TARGETS_COMPLETE,
    ),
    breaks(
        "cover-stale-checkpoint",
        &[FreshCheckpoint, VerifyTargets],
        Bounds { failures: 1, ..BASE },
        TARGETS_COMPLETE,
    ),
    breaks(
        "cover-no-fence",
        &[Fence],
        Bounds { failures: 1, closes: 1, destinations: 2, ..WORKERS },
        TARGETS_COMPLETE,
    ),
    breaks("cover-no-fence-backfill", &[Fence], BACKFILL, TARGETS_COMPLETE),
    breaks(
        "cover-takeover-blind",
        &[TakeoverLooksAgain],
        Bounds { workers: 2, takeovers: 1, ..BACKFILL },
        TARGETS_COMPLETE,
    ),
    breaks("cover-retire-no-barrier", &[RetireAfterBarrier], RETIRE, TARGETS_COMPLETE),
    breaks("cover-retire-old-epoch", &[RetireEpoch], RETIRE, TARGETS_COMPLETE),
    breaks("cover-backfill-no-second-look", &[LookAgain], BACKFILL, TARGETS_COMPLETE),
    breaks("cover-backfill-unannounced", &[Announce], BACKFILL, TARGETS_COMPLETE),
    breaks("cover-backfill-attempts-unlisted", &[ListAttempts], BACKFILL, TARGETS_COMPLETE),
    breaks("cover-backfill-no-barrier", &[OpenAfterBarrier], BACKFILL, TARGETS_COMPLETE),
    breaks("cover-unleased-reopened", &[BaseLimitOnly], BACKFILL, TARGETS_COMPLETE),
    breaks(
        "cover-drop-no-barrier",
        &[DropAfterBarrier],
        Bounds { drops_slice: true, ..ONE },
        TARGETS_COMPLETE,
    ),
    breaks("cover-cache-outlives-lease", &[CacheDiesWithLease], RETIRE, TARGETS_COMPLETE),
    breaks(
        "cover-load-of-older-epoch",
        &[LoadUnderEpoch],
        Bounds { slow_loads: true, ..RETIRE },
        TARGETS_COMPLETE,
    ),
    breaks("cover-destination-reused", &[FreshDestination], DELETE, TARGETS_COMPLETE),
    breaks("cover-route-without-lease", &[RouteUnderLease], READ_RETIRE, PAGES_WHOLE),
    breaks(
        "cover-no-check-after-scan",
        &[CheckEntryAfterScan, CheckLeaseAfterScan],
        READ_RETIRE,
        PAGES_WHOLE,
    ),
    breaks("cover-only-lease-after-scan", &[CheckEntryAfterScan], READ_RETIRE, PAGES_WHOLE),
    breaks(
        "cover-physical-token",
        &[LogicalToken],
        Bounds { leases: PROMPT, writes: 2, ..READ },
        PAGES_WHOLE,
    ),
    breaks(
        "cover-no-clip",
        &[Clip, OwnDestination],
        Bounds { leases: PROMPT, writes: 2, ..READ },
        PAGES_WHOLE,
    ),
];

const fn case(
    name: &'static str,
    size: Size,
    without: &'static [Guard],
    bounds: Bounds,
    expect: Expect,
) -> Case {
    Case { name, size, subject: Subject::Cover(bounds), without, expect }
}

const fn holds(name: &'static str, bounds: Bounds, reaches: &'static [Mark]) -> Case {
    case(name, Size::Small, &[], bounds, Expect::Holds(reaches))
}

const fn large(name: &'static str, bounds: Bounds, reaches: &'static [Mark]) -> Case {
    case(name, Size::Large, &[], bounds, Expect::Holds(reaches))
}

const fn spare(
    name: &'static str,
    without: &'static [Guard],
    bounds: Bounds,
    reaches: &'static [Mark],
) -> Case {
    case(name, Size::Small, without, bounds, Expect::Holds(reaches))
}

const fn breaks(
    name: &'static str,
    without: &'static [Guard],
    bounds: Bounds,
    property: &'static str,
) -> Case {
    case(name, Size::Small, without, bounds, Expect::Breaks(property))
}
