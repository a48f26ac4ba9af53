//! Everything that a state of the cover model holds: what is published, the record, the store, and what each party knows.
//! Data only.

use crate::cells::Cells;
use crate::lease::{Holder, Published};

/// Events of the partition.
pub(super) const KEYS: u8 = 3;
pub(super) const SERVERS: u8 = 2;
pub(super) const DESTINATIONS: u8 = 3;
/// Keys that can be closed, and so covered.
pub(super) type Closable<T> = Cells<T, 2>;
/// Which event a write writes.
pub(super) const WRITES: Cells<u8, 2> = Cells::of([0, 1]);
/// The version that a write leaves.
pub(super) const WRITTEN: u8 = 2;

/// A reopened range, as the view has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Reopened {
    #[default]
    None,
    Announced,
    Open,
}

/// What is published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(super) epoch: u8,
    /// Closed time: no key below it is accepted, but for a reopened range.
    pub(super) closed: u8,
    pub(super) reopened: Reopened,
    /// The split of this partition is RETIRING.
    pub(super) retiring: bool,
    /// The slice is CLOSING.
    pub(super) closing: bool,
}

impl Published for View {
    fn epoch(&self) -> u8 {
        self.epoch
    }
}

/// A route: keys below `covered_until` lie in these destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(super) covered_until: u8,
    pub(super) destination: Closable<u8>,
}

/// A load of a route that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Load {
    pub(super) entry: Entry,
    pub(super) epoch: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    pub(super) holder: Holder<View>,
    pub(super) cached: Option<Entry>,
    pub(super) load: Option<Load>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// No cover: none yet, or RETIRED.
    Absent,
    Completed,
    /// RETIRING, and the epoch that says so once it is published.
    Retiring(Option<u8>),
}

/// One run over the keys `from..to`, with its checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Attempt {
    pub(super) destination: u8,
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) next: u8,
    pub(super) digest: Closable<u8>,
    /// The epoch in which it was planned; kept only by those who do not look again.
    pub(super) planned: u8,
}

/// The `wide_row` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Record {
    pub(super) version: u8,
    pub(super) fence: u8,
    pub(super) stage: Stage,
    pub(super) covered_until: u8,
    pub(super) destination: Closable<u8>,
    pub(super) attempt: Option<Attempt>,
    /// The next destination that nobody has used.
    pub(super) fresh: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Idle,
    /// Read the namespace row, has recorded nothing yet.
    Planned {
        to: u8,
        epoch: u8,
    },
    /// A compare-and-set is under way.
    Asking,
    /// The attempt is recorded. The barrier to wait for is known once the namespace row was read again.
    Owning {
        barrier: Option<u8>,
    },
    /// The targets were read back.
    ReadBack,
    Verified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ask {
    Begin(Attempt),
    Complete(Attempt),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Worker {
    /// The claim that it made; 0 is none.
    pub(super) fence: u8,
    /// The version of the record that it last knew.
    pub(super) version: u8,
    pub(super) phase: Phase,
    pub(super) attempt: Option<Attempt>,
    /// Sent, and not yet applied or refused. May outlive the patience of its sender.
    pub(super) asked: Option<(u8, Ask)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    New,
    /// Sent by this server.
    Sent(u8),
    Acked,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Write {
    pub(super) outcome: Outcome,
    /// A store call is under way.
    pub(super) travelling: bool,
    pub(super) landed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Page {
    None,
    Routed { server: u8, route: Option<Entry> },
    Scanned { server: u8, route: Option<Entry>, rows: Cells<u8, 3>, doubled: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reader {
    pub(super) reading: bool,
    /// What was acknowledged before the read began.
    pub(super) needs: Cells<u8, 3>,
    /// The logical position.
    pub(super) cursor: u8,
    /// Rows passed: the position of those who count rows.
    pub(super) passed: u8,
    /// The route of the page before: its `covered_until`, 0 for the origin.
    pub(super) before: Option<u8>,
    pub(super) page: Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Backfill {
    None,
    Announced,
    Listed,
    Open,
    Over,
}

/// What may still happen, where the bounds count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Left {
    pub(super) resends: u8,
    pub(super) takeovers: u8,
    pub(super) lost_copies: u8,
    pub(super) failures: u8,
    pub(super) give_ups: u8,
    pub(super) retirements: u8,
    pub(super) reads: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) view: View,
    pub(super) record: Record,
    pub(super) servers: Cells<Server, 2>,
    pub(super) workers: Cells<Worker, 2>,
    pub(super) origin: Cells<u8, 3>,
    pub(super) targets: Cells<Closable<u8>, 3>,
    pub(super) deleted: Cells<bool, 3>,
    /// Destinations whose deletion is under way.
    pub(super) deleting: Cells<bool, 3>,
    pub(super) writes: Cells<Write, 2>,
    pub(super) acked: Cells<u8, 3>,
    pub(super) reader: Reader,
    pub(super) backfill: Backfill,
    pub(super) dropped: bool,
    /// A page was answered that lacks, doubles or disorders an event.
    pub(super) wrong_page: bool,
    pub(super) left: Left,
}
