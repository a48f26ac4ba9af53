//! The table of the slice model: configurations of the protocol, and mutants.

use super::Bounds;
use super::properties::{ACK_BEFORE_DROP, ACKED_STORED, PROMISE_KEPT, READS_WHOLE};
use crate::Guard::{
    AckAfterBarrier, CheckSliceAfterScan, DropAfterBarrier, DropByVersion, ExtensionLists, KeepTombstone,
    KeeperLooksAgain, KeeperTakeoverLooks, LeaseFromStart, LinearizableLookup, LookSlicesUp, NewIncarnation,
    RegisterFirst, UnleasedByClock,
};
use crate::Mark::{
    AckInRemade, AckInSlice, AckWithoutLease, BarrierWithoutReport, DroppedRefused, Joined, KeeperTookOver,
    KeeperTurnedBack, ReadComplete, ReadPartial, ReadTruncated, Remade, RetentionPromised, SliceDropped,
    SliceLookedUp, SliceRescued, UnknownOutcome,
};
use crate::case::{Case, Expect, Size, Subject};
use crate::{Guard, Leases, Mark, RunOut};

const ANY: Leases = Leases { run_out: RunOut::AtAnyTime, ..Leases::PLAIN };
const SLOW: Leases = Leases { slow_refresh: true, ..ANY };
const LATE: Leases = Leases { late_joiner: true, ..ANY };
const READ: Bounds = Bounds { reads: 1, leases: ANY, ..Bounds::BASE };
const KEPT: Bounds = Bounds { made: true, keepers: 1, leases: ANY, ..Bounds::BASE };
const KEEPERS: Bounds = Bounds { keepers: 2, ..KEPT };
const EXTENDS: Bounds = Bounds { writes: 0, extends: true, ..KEEPERS };
const REMAKES: Bounds = Bounds { made: true, remakes: true, writes: 2, leases: ANY, ..Bounds::BASE };

/// All of them.
pub(crate) const ALL: &[Case] = &[
    holds(
        "slice-announce",
        READ,
        &[AckInSlice, ReadComplete, SliceLookedUp, ReadPartial, BarrierWithoutReport],
    ),
    holds("slice-announce-slow-refresh", Bounds { leases: SLOW, ..READ }, &[AckInSlice, ReadComplete]),
    holds("slice-announce-late-joiner", Bounds { leases: LATE, ..READ }, &[Joined, ReadComplete]),
    holds(
        "slice-drop",
        Bounds { reads: 1, ..KEPT },
        &[SliceDropped, ReadTruncated, AckWithoutLease, UnknownOutcome],
    ),
    holds(
        "slice-drop-late-create",
        Bounds { reads: 1, late_create: true, ..KEPT },
        &[SliceDropped, ReadTruncated],
    ),
    holds(
        "slice-keepers",
        Bounds { made: false, ..KEEPERS },
        &[KeeperTookOver, SliceDropped, DroppedRefused],
    ),
    holds("slice-extend", EXTENDS, &[KeeperTurnedBack, SliceRescued, RetentionPromised, SliceDropped]),
    holds("slice-remake", REMAKES, &[Remade, AckInRemade]),
    large(
        "slice-large-life",
        Bounds { keepers: 1, extends: true, writes: 2, ..READ },
        &[SliceRescued, ReadTruncated, ReadComplete],
    ),
    large(
        "slice-large-keepers",
        Bounds { extends: true, writes: 1, reads: 1, late_create: true, ..KEEPERS },
        &[KeeperTurnedBack, SliceRescued, ReadTruncated],
    ),
    large(
        "slice-large-slow-refresh",
        Bounds { leases: SLOW, extends: true, reads: 1, ..KEPT },
        &[SliceRescued, ReadTruncated],
    ),
    large("slice-large-remake", Bounds { reads: 1, ..REMAKES }, &[Remade, AckInRemade, ReadComplete]),
    // Mutants.
    breaks("slice-ack-before-barrier", &[AckAfterBarrier], READ, READS_WHOLE),
    breaks("slice-unleased-by-view", &[LookSlicesUp], READ, READS_WHOLE),
    breaks("slice-old-lookup", &[LinearizableLookup], READ, READS_WHOLE),
    breaks("slice-lease-from-end", &[LeaseFromStart], Bounds { leases: SLOW, ..READ }, READS_WHOLE),
    breaks("slice-view-before-register", &[RegisterFirst], Bounds { leases: LATE, ..READ }, READS_WHOLE),
    breaks(
        "slice-no-check-after-scan",
        &[CheckSliceAfterScan],
        Bounds { reads: 1, late_create: true, ..KEPT },
        READS_WHOLE,
    ),
    breaks("slice-drop-no-barrier", &[DropAfterBarrier], KEPT, ACK_BEFORE_DROP),
    breaks("slice-unleased-any-age", &[UnleasedByClock], KEPT, ACK_BEFORE_DROP),
    breaks("slice-tombstone-deleted", &[KeepTombstone], KEEPERS, ACKED_STORED),
    breaks("slice-stale-retention", &[KeeperLooksAgain], EXTENDS, PROMISE_KEPT),
    breaks("slice-takeover-blind", &[KeeperTakeoverLooks], EXTENDS, PROMISE_KEPT),
    breaks("slice-drop-any-version", &[DropByVersion], EXTENDS, PROMISE_KEPT),
    breaks("slice-extension-unlisted", &[ExtensionLists], EXTENDS, PROMISE_KEPT),
    breaks("slice-same-incarnation", &[NewIncarnation], REMAKES, ACKED_STORED),
    breaks("slice-delete-no-barrier", &[DropAfterBarrier], REMAKES, ACK_BEFORE_DROP),
];

const fn case(
    name: &'static str,
    size: Size,
    without: &'static [Guard],
    bounds: Bounds,
    expect: Expect,
) -> Case {
    Case { name, size, subject: Subject::Slice(bounds), without, expect }
}

const fn holds(name: &'static str, bounds: Bounds, reaches: &'static [Mark]) -> Case {
    case(name, Size::Small, &[], bounds, Expect::Holds(reaches))
}

const fn large(name: &'static str, bounds: Bounds, reaches: &'static [Mark]) -> Case {
    case(name, Size::Large, &[], bounds, Expect::Holds(reaches))
}

const fn breaks(
    name: &'static str,
    without: &'static [Guard],
    bounds: Bounds,
    property: &'static str,
) -> Case {
    case(name, Size::Small, without, bounds, Expect::Breaks(property))
}
