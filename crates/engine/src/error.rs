//! How the data plane refuses: a stable reason for programs, a message for people.

use store::ErrorKind;

/// The result of an engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// Stable reasons; their names are part of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A field of the request breaks a rule.
    FieldInvalid,
    /// An event or one of its parts is over a limit.
    EventTooLarge,
    /// The interval or the number of events asked for is over a limit.
    RangeTooWide,
    /// A page token that is damaged, expired, forged or of another query.
    PageTokenInvalid,
    /// Older than the namespace accepts.
    EventTooOld,
    /// Further in the future than the namespace accepts.
    EventInFuture,
    /// No namespace of this name.
    NamespaceNotFound,
    /// A namespace of this name exists.
    NamespaceExists,
    /// The object changed since it was read.
    EtagMismatch,
    /// A queue or a limit is full; try again later.
    RateLimited,
    /// The store cannot keep up.
    BackendOverloaded,
    /// The store did not answer in time, or its outcome is unknown.
    BackendTimeout,
    /// The server or its store takes no requests now.
    NotReady,
    /// Stored bytes are damaged.
    ChecksumMismatch,
}

impl Reason {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FieldInvalid => "FIELD_INVALID",
            Self::EventTooLarge => "EVENT_TOO_LARGE",
            Self::RangeTooWide => "RANGE_TOO_WIDE",
            Self::PageTokenInvalid => "PAGE_TOKEN_INVALID",
            Self::EventTooOld => "EVENT_TOO_OLD",
            Self::EventInFuture => "EVENT_IN_FUTURE",
            Self::NamespaceNotFound => "NAMESPACE_NOT_FOUND",
            Self::NamespaceExists => "NAMESPACE_EXISTS",
            Self::EtagMismatch => "ETAG_MISMATCH",
            Self::RateLimited => "RATE_LIMITED",
            Self::BackendOverloaded => "BACKEND_OVERLOADED",
            Self::BackendTimeout => "BACKEND_TIMEOUT",
            Self::NotReady => "NOT_READY",
            Self::ChecksumMismatch => "CHECKSUM_MISMATCH",
        }
    }
}

/// A refused request. The message stands alone and ends with what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    reason: Reason,
    message: String,
    #[source]
    source: Option<store::Error>,
}

impl Error {
    /// A refusal for `reason`.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), source: None }
    }

    /// A field that breaks a rule.
    pub fn field(field: &str, problem: impl std::fmt::Display) -> Self {
        Self::new(Reason::FieldInvalid, format!("{field}: {problem}"))
    }

    /// The reason.
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::Invalid => Reason::FieldInvalid,
            // A table that the catalog names and the store lacks is being made or dropped right now.
            ErrorKind::NoTable | ErrorKind::Unavailable => Reason::BackendOverloaded,
            ErrorKind::Unknown => Reason::BackendTimeout,
            ErrorKind::Latched => Reason::NotReady,
            ErrorKind::Corrupt => Reason::ChecksumMismatch,
        };
        Self { reason, message: error.to_string(), source: Some(error) }
    }
}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        store::Error::from(error).into()
    }
}
