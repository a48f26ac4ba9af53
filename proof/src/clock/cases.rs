//! The table of the clock model: scenarios of the protocol, and mutants.

use super::{Bounds, COVER_COMPLETE};
use crate::Guard::{
    BaseByReport, BaseLimitOnly, LeaseFromStart, LinearizableView, LongestLease, Margin, RateAllowance,
    ScanAfterBarrier, SecondCheck, SkewWithinBound, WaitFromConfirmed,
};
use crate::Mark::{AckWithoutLease, BarrierByTime, BaseShrunk, CoverHasAck, UnknownOutcome};
use crate::case::{Case, Expect, Size, Subject};
use crate::{Guard, Mark};

const BASE: Bounds = Bounds::BASE;
const RAISED: Bounds = Bounds { raised: true, ..BASE };
const SHRINKS: Bounds = Bounds { shrinks: true, ..BASE };
const SHORTER: Bounds = Bounds { shorter_leases: true, raised: true, ..BASE };
const EVERYTHING: &[Mark] = &[AckWithoutLease, BarrierByTime, CoverHasAck, UnknownOutcome];

/// All of them.
pub(crate) const ALL: &[Case] = &[
    holds("clock-plain", Size::Small, &[], BASE, EVERYTHING),
    holds("clock-raised", Size::Small, &[], RAISED, EVERYTHING),
    holds(
        "clock-shrinks",
        Size::Small,
        &[],
        SHRINKS,
        &[AckWithoutLease, BarrierByTime, CoverHasAck, BaseShrunk],
    ),
    holds("clock-shorter-leases", Size::Small, &[], SHORTER, EVERYTHING),
    holds("clock-large-servers", Size::Large, &[], Bounds { servers: 2, until: 6, ..BASE }, EVERYTHING),
    // The strict mode needs no bound on skew and no margin.
    holds(
        "clock-spare-skew-strict",
        Size::Small,
        &[SkewWithinBound, Margin],
        Bounds { strict: true, ..RAISED },
        &[BarrierByTime, CoverHasAck, UnknownOutcome],
    ),
    // Mutants.
    breaks("clock-no-scan-barrier", &[ScanAfterBarrier], RAISED),
    breaks("clock-no-second-check", &[SecondCheck], BASE),
    breaks("clock-lease-from-end", &[LeaseFromStart], RAISED),
    breaks("clock-no-rate-allowance", &[RateAllowance], RAISED),
    breaks("clock-wait-from-send", &[WaitFromConfirmed], RAISED),
    breaks("clock-newest-lease", &[LongestLease], SHORTER),
    breaks("clock-old-view-read", &[LinearizableView], RAISED),
    breaks("clock-skew", &[SkewWithinBound], BASE),
    breaks("clock-no-margin", &[Margin], BASE),
    breaks("clock-limit-of-last-view", &[BaseLimitOnly], RAISED),
    breaks("clock-base-by-waiting", &[BaseByReport], SHRINKS),
];

const fn holds(
    name: &'static str,
    size: Size,
    without: &'static [Guard],
    bounds: Bounds,
    reaches: &'static [Mark],
) -> Case {
    Case { name, size, subject: Subject::Clock(bounds), without, expect: Expect::Holds(reaches) }
}

const fn breaks(name: &'static str, without: &'static [Guard], bounds: Bounds) -> Case {
    Case {
        name,
        size: Size::Small,
        subject: Subject::Clock(bounds),
        without,
        expect: Expect::Breaks(COVER_COMPLETE),
    }
}
