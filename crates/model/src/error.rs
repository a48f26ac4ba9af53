//! The one way in which pure rules refuse: the caller's value breaks a limit, and the message says which.

/// A value that the model refuses. The message stands alone and ends with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A time outside the range that Braid can place.
    #[error(
        "time {nanos} ns lies outside 1970-01-01 to 2261-01-01; send nanoseconds since 1970 in that range"
    )]
    TimeOutOfRange {
        /// The refused time, in nanoseconds since 1970 (wider than 64 bits so that nothing wraps on the way here).
        nanos: i128,
    },
    /// An interval that ends before it starts.
    #[error("interval ends before it starts ({start} > {end} ns); swap start and end")]
    IntervalReversed {
        /// Its start, nanoseconds since 1970.
        start: i64,
        /// Its end, nanoseconds since 1970.
        end: i64,
    },
    /// A name or id that is empty, too long or has characters that are not allowed.
    #[error("{what} is not valid: {problem}")]
    Name {
        /// Which kind of name.
        what: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A partition shape that cannot work.
    #[error("shape is not valid: {0}")]
    Shape(String),
    /// A segment of slice widths that does not fit the timeline.
    #[error("slice width change is not valid: {0}")]
    Segment(String),
    /// Stored bytes that do not decode.
    #[error("stored {what} does not decode: {problem}; the record was damaged or written by a newer version")]
    Corrupt {
        /// Which record.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}
