//! Why a chunk could not be made or read.

/// What was wrong. Whoever reads may go to the origin instead; the chunk itself is not to be used in part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Made by a newer Braid, or by something else.
    #[error("the chunk has {what} {found}, which this version does not know; read it with a newer one")]
    Unknown {
        /// Which field.
        what: &'static str,
        /// What it holds.
        found: u8,
    },
    /// The bytes are not those that were written.
    #[error("the checksum of the chunk's {0} does not match; restore the data")]
    Checksum(&'static str),
    /// The checksums match, but the parts do not fit together.
    #[error("the chunk is not well formed: {0}; restore the data")]
    Malformed(&'static str),
    /// More than the reader or the format allows.
    #[error("the chunk has {found} {what}, the limit is {max}")]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// The limit.
        max: u64,
    },
    /// A row that is to be packed does not come behind the one before.
    #[error("rows to pack must come newest first, each once")]
    OutOfOrder,
}
