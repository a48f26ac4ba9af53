//! What an import reads: events one after another, each with the place it came from.
//!
//! A source decides what is an event and what is not; it never talks to a server. What cannot be read is a value
//! ([`Found::Bad`]), so that one bad line does not end an import.

use api::v1;

/// Where something was found: which input, and its line there, both as a person counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which of the inputs, from 0.
    pub(crate) input: usize,
    /// The line at which it starts, from 1.
    pub(crate) line: u64,
}

/// What stands at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// An event, not yet judged by a server.
    Event(v1::Event),
    /// Something else, and what is wrong with it.
    Bad(String),
}

/// Gives events until there are no more.
pub(crate) trait Source: Send {
    /// The next event or bad line; none at the end, and from then on.
    fn next(&mut self) -> Option<(Place, Found)>;
}
