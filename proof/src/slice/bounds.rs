//! How large a configuration of the slice model is.

use crate::Leases;

/// The bounds of one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How leases behave.
    pub leases: Leases,
    /// The slice is there at the start, known to all; else it has to be made.
    pub made: bool,
    /// Writes, each of an event of its own.
    pub writes: u8,
    /// Reads, one after the other.
    pub reads: u8,
    /// Keepers that drop what retention has let go.
    pub keepers: u8,
    /// Retention may be made longer.
    pub extends: bool,
    /// The namespace may be deleted and made again.
    pub remakes: bool,
    /// The table may be made once more by a call that was slow.
    pub late_create: bool,
}

impl Bounds {
    /// A slice that has to be made, and one write.
    pub const BASE: Self = Self {
        leases: Leases::PLAIN,
        made: false,
        writes: 1,
        reads: 0,
        keepers: 0,
        extends: false,
        remakes: false,
        late_create: false,
    };
}
