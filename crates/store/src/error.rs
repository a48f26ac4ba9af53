//! How a store fails: few kinds, each telling the caller what to do next.

use model::TableRef;

/// The result of a store call.
pub type Result<T> = std::result::Result<T, Error>;

/// What a caller can do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The request breaks a limit or a rule. Sending it again fails again.
    Invalid,
    /// The table does not exist.
    NoTable,
    /// Nothing was done. Try again, with back-off.
    Unavailable,
    /// It may have been done, now or later. Writes may be sent again as they are (they are idempotent); after a
    /// compare-and-set read the record again and obey it.
    Unknown,
    /// The store has stopped acknowledging until somebody repairs it and starts it again.
    Latched,
    /// Stored bytes are damaged, or were written by a newer version.
    Corrupt,
}

/// A failed store call. The message stands alone and ends with what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A failure of `kind`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Keeps the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// A request that breaks a limit or a rule.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// A table that does not exist.
    pub fn no_table(table: &TableRef) -> Self {
        Self::new(ErrorKind::NoTable, format!("table `{table}` does not exist; create it first"))
    }

    /// What the caller can do.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may succeed later without anybody repairing anything.
    pub const fn is_retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Unknown)
    }
}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        let kind = match error {
            model::Error::Corrupt { .. } => ErrorKind::Corrupt,
            _ => ErrorKind::Invalid,
        };
        Self::new(kind, error.to_string()).caused_by(error)
    }
}
