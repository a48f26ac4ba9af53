//! Everything that a state of the slice model holds. Data only.

use crate::cells::Cells;
use crate::lease::{Holder, Published};

pub(super) const SERVERS: u8 = 2;
/// The namespace, and once made again.
pub(super) const INCARNATIONS: u8 = 2;

/// A set of events, a bit each.
pub(super) type Events = u8;

/// The slice as a view lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Listed {
    Absent,
    /// Announced in this epoch.
    Open(u8),
    Closing,
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(super) epoch: u8,
    pub(super) incarnation: u8,
    pub(super) listed: Listed,
}

impl Published for View {
    fn epoch(&self) -> u8 {
        self.epoch
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    Absent,
    Open,
    Closing,
    Dropped,
}

/// What one incarnation of the namespace has of the slice: its record and its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slice {
    pub(super) version: u8,
    pub(super) stage: Stage,
    /// The stage before, which a lookup at a lagging replica finds.
    pub(super) before: Stage,
    pub(super) table: bool,
    pub(super) rows: Events,
    pub(super) acked: Events,
    /// Calls under way that make the table or drop it.
    pub(super) creating: bool,
    pub(super) dropping: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Write {
    New,
    /// Sent by this server to the table of this incarnation.
    Sent {
        server: u8,
        incarnation: u8,
        landed: bool,
    },
    Acked,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Read {
    None,
    /// This server is to scan the table of this incarnation, and to find these events.
    Listed {
        server: u8,
        incarnation: u8,
        needs: Events,
    },
    Scanned {
        server: u8,
        incarnation: u8,
        needs: Events,
        rows: Events,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Idle,
    /// Read that retention has let the slice go.
    Decided(u8),
    /// The record is CLOSING in this version.
    Closing(u8),
    /// And the namespace row was read again.
    Looked(u8),
    /// And CLOSING is published in this epoch.
    Published {
        version: u8,
        epoch: u8,
    },
    /// The record is DROPPED: the table may be dropped.
    Dropped,
}

/// A longer retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Extension {
    None,
    /// The row says so.
    Written,
    /// The operator was told that the slice stays.
    Promised,
    /// The operator was told that it came too late, or concerned no slice.
    TooLate,
}

/// A deletion of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Deletion {
    None,
    /// Published in this epoch.
    Published(u8),
    /// Behind its barrier: records DROPPED, tables being dropped.
    Done,
    /// The namespace was made again.
    Remade,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) view: View,
    pub(super) servers: Cells<Holder<View>, 2>,
    pub(super) slices: Cells<Slice, 2>,
    /// The slice is older than base limit and margin; only then may retention let it go.
    pub(super) old: bool,
    pub(super) writes: Cells<Write, 2>,
    pub(super) read: Read,
    pub(super) reads_left: u8,
    pub(super) keepers: Cells<Phase, 2>,
    pub(super) extension: Extension,
    pub(super) deletion: Deletion,
    /// An answer called itself complete and was not.
    pub(super) wrong_answer: bool,
    /// An event was acknowledged in a slice that was dropped.
    pub(super) late_ack: bool,
}

impl State {
    /// The slice of the present incarnation.
    pub(super) fn slice(&self) -> &Slice {
        &self.slices[self.view.incarnation]
    }

    pub(super) fn slice_mut(&mut self) -> &mut Slice {
        &mut self.slices[self.view.incarnation]
    }

    /// Lists the slice like this in a new epoch.
    pub(super) fn publish(&mut self, listed: Listed) -> u8 {
        self.view.epoch += 1;
        self.view.listed = listed;
        self.view.epoch
    }
}

impl Slice {
    /// A slice that nobody has made.
    pub(super) const ABSENT: Self = Self {
        version: 0,
        stage: Stage::Absent,
        before: Stage::Absent,
        table: false,
        rows: 0,
        acked: 0,
        creating: false,
        dropping: 0,
    };

    /// A compare-and-set that applies.
    pub(super) fn set(&mut self, stage: Stage) -> u8 {
        self.before = self.stage;
        self.stage = stage;
        self.version += 1;
        self.version
    }
}
