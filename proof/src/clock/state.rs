//! Everything that a state of the clock model holds. Data only.

use crate::cells::Cells;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(super) epoch: u8,
    pub(super) closed: u8,
    /// The accept limit under a lease.
    pub(super) accept: u8,
    /// The limit without one.
    pub(super) base: u8,
}

/// A refresh between start and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refresh {
    /// What is left of a lease that counts from the start.
    pub(super) lease: u8,
    /// What was read, once it is.
    pub(super) read: Option<View>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    pub(super) view: View,
    /// Ticks of its own clock until the lease runs out.
    pub(super) lease: u8,
    /// Its lease clock may still lose a tick.
    pub(super) may_lose_tick: bool,
    pub(super) refresh: Option<Refresh>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Write {
    New,
    /// Sent by this server.
    Sent(u8),
    Acked,
    Unknown,
}

/// A cover of everything below `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Made {
    pub(super) until: u8,
    /// The write was in the origin when it was scanned.
    pub(super) has_write: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// True time, and the publisher's clock.
    pub(super) now: u8,
    pub(super) published: View,
    /// The view before the published one.
    pub(super) before: View,
    /// Sent, and not confirmed.
    pub(super) sending: Option<View>,
    /// Ticks that a barrier has waited.
    pub(super) waited: u8,
    pub(super) servers: Cells<Server, 2>,
    /// The event's time.
    pub(super) event: u8,
    pub(super) write: Write,
    /// A store call is under way.
    pub(super) travelling: bool,
    pub(super) landed: bool,
    pub(super) cover: Option<Made>,
}
