//! How the data plane refuses: a stable reason for programs, a message for people.

use store::ErrorKind;

/// The result of an engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// One table for the reasons, so that none is missing where all are needed.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)*) => {
        /// Stable reasons; their names are part of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$reason,)*];

            /// The name that programs see.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// A field of the request breaks a rule.
    FieldInvalid = "FIELD_INVALID",
    /// An event or one of its parts is over a limit.
    EventTooLarge = "EVENT_TOO_LARGE",
    /// The interval or the number of events asked for is over a limit.
    RangeTooWide = "RANGE_TOO_WIDE",
    /// A page token that is damaged, expired, forged or of another query.
    PageTokenInvalid = "PAGE_TOKEN_INVALID",
    /// Older than the namespace accepts.
    EventTooOld = "EVENT_TOO_OLD",
    /// Further in the future than the namespace accepts.
    EventInFuture = "EVENT_IN_FUTURE",
    /// No namespace of this name.
    NamespaceNotFound = "NAMESPACE_NOT_FOUND",
    /// The namespace has no slice of this name.
    SliceNotFound = "SLICE_NOT_FOUND",
    /// The namespace has no split of this name.
    SplitNotFound = "SPLIT_NOT_FOUND",
    /// The partition may still be written to.
    SplitNotImmutable = "SPLIT_NOT_IMMUTABLE",
    /// The split is not in a state that allows it.
    SplitRefused = "SPLIT_REFUSED",
    /// The namespace has no proposal of this number.
    ProposalNotFound = "PROPOSAL_NOT_FOUND",
    /// The proposal is decided, or what it rested on holds no more.
    ProposalStale = "PROPOSAL_STALE",
    /// The time that is asked for may still be written to.
    TimeNotClosed = "TIME_NOT_CLOSED",
    /// Reads cannot move on to targets yet.
    ReadModeGateFailed = "READ_MODE_GATE_FAILED",
    /// Copies of the same events differ.
    CompareMismatch = "COMPARE_MISMATCH",
    /// The series is blocked for what was asked.
    IdBlocked = "ID_BLOCKED",
    /// A namespace of this name exists.
    NamespaceExists = "NAMESPACE_EXISTS",
    /// The object changed since it was read.
    EtagMismatch = "ETAG_MISMATCH",
    /// A queue or a limit is full; try again later.
    RateLimited = "RATE_LIMITED",
    /// A read that cannot be answered within the limits, however often it is sent.
    ReadBudgetExceeded = "READ_BUDGET_EXCEEDED",
    /// The store cannot keep up.
    BackendOverloaded = "BACKEND_OVERLOADED",
    /// The store did not answer in time, or its outcome is unknown.
    BackendTimeout = "BACKEND_TIMEOUT",
    /// The server or its store takes no requests now.
    NotReady = "NOT_READY",
    /// Stored bytes are damaged.
    ChecksumMismatch = "CHECKSUM_MISMATCH",
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

    /// The same refusal for another reason.
    #[must_use]
    pub(crate) fn with_reason(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }

    /// Whether the same may succeed later, by itself: neither what was asked is wrong nor what is stored. Of its own errors the store
    /// knows.
    pub(crate) fn may_pass(&self) -> bool {
        let passes =
            || matches!(self.reason, Reason::BackendOverloaded | Reason::BackendTimeout | Reason::NotReady);
        self.source.as_ref().map_or_else(passes, store::Error::is_retryable)
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
