//! What is hit, and how.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A Cassandra node.
    Node,
    /// The Kafka broker.
    Broker,
    /// The worker that is at the split.
    Worker,
    /// A server that answers calls.
    Api,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As a crash.
    Kill,
    /// It hangs.
    Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) part: Part,
    pub(crate) how: How,
}

impl How {
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "a node",
            Self::Broker => "the broker",
            Self::Worker => "the worker",
            Self::Api => "a server",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.how.verb(), self.part)
    }
}
