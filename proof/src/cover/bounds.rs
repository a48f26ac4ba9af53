//! How large a configuration of the cover model is, and which parts of the protocol it has.

use crate::Leases;

/// The bounds of one configuration. Everything in them is explored exhaustively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How leases behave.
    pub leases: Leases,
    /// Writes: the first overwrites event 0, the second inserts event 1.
    pub writes: u8,
    /// Writes that are sent once more after an unknown outcome, or while one is under way.
    pub resends: u8,
    /// Whether servers without a lease write at all; off is the strict mode.
    pub unleased_writes: bool,
    /// Closed time can reach this key.
    pub closes: u8,
    /// Split workers.
    pub workers: u8,
    /// Claims beyond the first one: takeovers and returns.
    pub takeovers: u8,
    /// Destinations that can be used up.
    pub destinations: u8,
    /// Copies that the store loses.
    pub lost_copies: u8,
    /// Attempts that fail for no reason.
    pub failures: u8,
    /// Compare-and-sets travel: what is sent may be applied much later.
    pub travelling: bool,
    /// Compare-and-sets whose sender gives up waiting.
    pub give_ups: u8,
    /// Retirements by hand.
    pub retirements: u8,
    /// A backfill reopens the keys below this one; 0 is none.
    pub reopens: u8,
    /// Deletions of targets travel: what was sent may arrive much later.
    pub slow_deletions: bool,
    /// The slice may be dropped.
    pub drops_slice: bool,
    /// Rechecks copy stragglers forward.
    pub rechecks: bool,
    /// Loads of routes take time.
    pub slow_loads: bool,
    /// Reads, one after the other.
    pub reads: u8,
    /// Rows per page.
    pub page_rows: u8,
}

impl Bounds {
    /// One write, one worker, no reader: the smallest configuration. The others add to it.
    pub const BASE: Self = Self {
        leases: Leases::PLAIN,
        writes: 1,
        resends: 0,
        unleased_writes: true,
        closes: 2,
        workers: 1,
        takeovers: 0,
        destinations: 2,
        lost_copies: 0,
        failures: 0,
        travelling: false,
        give_ups: 0,
        retirements: 0,
        reopens: 0,
        slow_deletions: false,
        drops_slice: false,
        rechecks: false,
        slow_loads: false,
        reads: 0,
        page_rows: 2,
    };
}
