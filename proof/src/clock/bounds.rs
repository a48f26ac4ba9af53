//! The scenario of one configuration of the clock model, and the lengths that all of them share.

/// A lease, in ticks of the clock of its server.
pub(super) const LEASE: u8 = 2;
/// Ticks that the lease clock of a server may lose, once; the wait of a barrier allows for them.
pub(super) const LOST_TICKS: u8 = 1;
/// Events older than this are refused, unless a view says otherwise.
pub(super) const BASE_LIMIT: u8 = 1;
/// The limit of a namespace whose backfill is about to end.
pub(super) const RAISED_LIMIT: u8 = 5;
/// The base limit before it shrinks.
pub(super) const WIDE_BASE: u8 = 3;
/// What closed time keeps away from the limit.
pub(super) const MARGIN: u8 = 1;
/// How far the first server's wall clock lags behind the publisher's: margin and wait of the barrier together, since a
/// server that did not report is always waited for. One more is too much.
pub(super) const SKEW: u8 = MARGIN + LEASE + LOST_TICKS;

/// What a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The last tick.
    pub until: u8,
    /// Servers: one or two. The first one's wall clock lags, the second one's is right.
    pub servers: u8,
    /// At the start the accept limit is raised; what is published takes that back.
    pub raised: bool,
    /// At the start the base limit is wide, and may shrink.
    pub shrinks: bool,
    /// Leases were longer once: those that are given now are a tick shorter than the first.
    pub shorter_leases: bool,
    /// Servers without a lease refuse all writes: the strict mode.
    pub strict: bool,
}

impl Bounds {
    /// One server, nothing special.
    pub const BASE: Self =
        Self { until: 9, servers: 1, raised: false, shrinks: false, shorter_leases: false, strict: false };
}
