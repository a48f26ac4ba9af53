//! How a cluster is made, and what goes wrong in it. Plain data; the default is a healthy cluster that takes its time.

use std::time::Duration;

use store::Consistency;

/// How a cluster is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many copies of every row; at least one.
    pub replicas: usize,
    /// How long messages take.
    pub lag: Lag,
    /// How long a caller waits for an answer.
    pub timeout: Duration,
    /// What goes wrong from the beginning.
    pub faults: Faults,
    /// What every call asks for at least. `LocalOne` leaves calls as they are.
    pub consistency_least: Consistency,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            replicas: 3,
            lag: Lag::default(),
            timeout: Duration::from_secs(2),
            faults: Faults::none(),
            consistency_least: Consistency::LocalOne,
        }
    }
}

/// How long a message takes from here to a replica, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// No less.
    pub least: Duration,
    /// Usually no more.
    pub most: Duration,
    /// So many of a thousand messages take longer.
    pub tail_per_thousand: u16,
    /// Those take no more than this.
    pub tail_most: Duration,
}

impl Lag {
    /// No time at all.
    pub const NONE: Self =
        Self { least: Duration::ZERO, most: Duration::ZERO, tail_per_thousand: 0, tail_most: Duration::ZERO };
}

impl Default for Lag {
    fn default() -> Self {
        Self {
            least: Duration::from_millis(1),
            most: Duration::from_millis(8),
            tail_per_thousand: 10,
            tail_most: Duration::from_millis(200),
        }
    }
}

/// How many of a thousand changes meet each fault. They add up; what is left passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chances {
    /// Not done; unavailable.
    pub refuse: u16,
    /// Not done, now or ever; unknown.
    pub lose_call: u16,
    /// Done; unknown.
    pub lose_answer: u16,
    /// Unknown; done later, on some replicas, on all or on none.
    pub late: u16,
}

/// What goes wrong, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// So many of a thousand reads, of rows and of records, are refused.
    pub refuse_read: u16,
    /// So many of a thousand scans are read in two steps, each at its own moment.
    pub read_in_steps: u16,
    /// Writes of rows, and deletions.
    pub rows: Chances,
    /// Changes of metadata records.
    pub records: Chances,
    /// Tables made and dropped.
    pub tables: Chances,
    /// So many of a thousand hints are lost; none by which a write would be on less than most replicas.
    pub lose_hint: u16,
    /// So many of a thousand late compare-and-sets outlive a read of their record. The others are done or given up by
    /// then, as one machine would.
    pub cas_outlives_read: u16,
    /// A late write of rows arrives within this.
    pub late_rows_most: Duration,
    /// A late change of a record or of the tables arrives within this.
    pub late_decisions_most: Duration,
    /// A hint arrives within this after its replica came back.
    pub hint_most: Duration,
}

impl Faults {
    /// Nothing goes wrong.
    pub const fn none() -> Self {
        const NO: Chances = Chances { refuse: 0, lose_call: 0, lose_answer: 0, late: 0 };
        Self {
            refuse_read: 0,
            read_in_steps: 0,
            rows: NO,
            records: NO,
            tables: NO,
            lose_hint: 0,
            cas_outlives_read: 0,
            late_rows_most: Duration::from_secs(300),
            late_decisions_most: Duration::from_secs(10),
            hint_most: Duration::from_secs(300),
        }
    }

    /// Everything goes wrong now and then.
    pub const fn stormy() -> Self {
        const SOME: Chances = Chances { refuse: 15, lose_call: 10, lose_answer: 15, late: 15 };
        Self {
            refuse_read: 15,
            read_in_steps: 100,
            rows: SOME,
            records: SOME,
            tables: SOME,
            lose_hint: 200,
            cas_outlives_read: 100,
            ..Self::none()
        }
    }
}
