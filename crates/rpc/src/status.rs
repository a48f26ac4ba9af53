//! Errors as gRPC statuses: the one place where a reason gets its code.
//!
//! A status carries `google.rpc.ErrorInfo{reason, domain: "braid"}`, and `RetryInfo` where sending the same request
//! again can help. The message stands alone, because generic clients show nothing else.

use std::collections::HashMap;
use std::time::Duration;

use api::clip::clip;
use api::limits::REQUEST_BYTES_MAX;
use engine::{Error, Reason};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The domain of every reason.
pub(crate) const DOMAIN: &str = "braid";

/// A status travels twice in the headers of the answer, of which clients take about 16 KiB. No message should come near.
const MESSAGE_CHARS_MAX: usize = 1_000;
/// A full queue drains in well under this.
const RETRY_SOON: Duration = Duration::from_secs(1);
/// A server that starts or a store that has stopped taking writes needs longer.
const RETRY_LATER: Duration = Duration::from_secs(5);

/// The code of `reason`, and how long to wait before the same request is worth sending again; none where it never is.
pub(crate) const fn code(reason: Reason) -> (Code, Option<Duration>) {
    match reason {
        Reason::FieldInvalid | Reason::EventTooLarge | Reason::RangeTooWide | Reason::PageTokenInvalid => {
            (Code::InvalidArgument, None)
        }
        Reason::EventTooOld | Reason::EventInFuture => (Code::OutOfRange, None),
        Reason::NamespaceNotFound
        | Reason::SliceNotFound
        | Reason::SplitNotFound
        | Reason::ProposalNotFound => (Code::NotFound, None),
        Reason::IdBlocked => (Code::PermissionDenied, None),
        Reason::NamespaceExists => (Code::AlreadyExists, None),
        // The same request would be refused again: read the object, then send another one.
        Reason::EtagMismatch => (Code::Aborted, None),
        // Something else has to happen first: time has to pass, the split has to be in another state, more has to be compared.
        Reason::SplitNotImmutable
        | Reason::SplitRefused
        | Reason::ProposalStale
        | Reason::TimeNotClosed
        | Reason::ReadModeGateFailed => (Code::FailedPrecondition, None),
        Reason::RateLimited => (Code::ResourceExhausted, Some(RETRY_SOON)),
        // It would not fit the next time either.
        Reason::ReadBudgetExceeded => (Code::ResourceExhausted, None),
        // A time-out leaves the outcome unknown. Writes are idempotent, so sending them again is right either way.
        Reason::BackendOverloaded | Reason::BackendTimeout => (Code::Unavailable, Some(RETRY_SOON)),
        Reason::NotReady => (Code::Unavailable, Some(RETRY_LATER)),
        Reason::ChecksumMismatch | Reason::CompareMismatch => (Code::DataLoss, None),
    }
}

/// `error` as a status with its details.
pub(crate) fn status(error: &Error) -> Status {
    let (code, retry) = code(error.reason());
    let mut details = ErrorDetails::new();
    details.set_error_info(error.reason().as_str(), DOMAIN, HashMap::new());
    if retry.is_some() {
        details.set_retry_info(retry);
    }
    Status::with_error_details(code, clip(&error.to_string(), MESSAGE_CHARS_MAX), details)
}

/// A status whose code is not the one that goes with its reason.
pub(crate) fn with_reason(code: Code, reason: &str, message: &str) -> Status {
    let details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new());
    Status::with_error_details(code, message, details)
}

/// A request over the limit on its bytes.
pub(crate) fn oversized() -> Status {
    let message = format!("the request has over {REQUEST_BYTES_MAX} bytes; send fewer events at a time");
    status(&Error::new(Reason::RangeTooWide, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rendered from the status as a client decodes it, not from the table above.
    fn line(reason: Reason) -> String {
        let status = status(&Error::new(reason, "what to do"));
        assert_eq!(status.message(), "what to do");
        let details = status.get_error_details();
        let info = details.error_info().unwrap();
        assert_eq!(info.domain, "braid");
        let retry = details.retry_info().and_then(|retry| retry.retry_delay);
        let retry = retry.map_or_else(|| "-".to_owned(), |delay| format!("{}s", delay.as_secs()));
        format!("{:<22}{:<20}{retry}\n", info.reason, format!("{:?}", status.code()))
    }

    #[test]
    fn every_reason_has_its_published_code() {
        let table: String = Reason::ALL.iter().copied().map(line).collect();
        let expect = "
FIELD_INVALID         InvalidArgument     -
EVENT_TOO_LARGE       InvalidArgument     -
RANGE_TOO_WIDE        InvalidArgument     -
PAGE_TOKEN_INVALID    InvalidArgument     -
EVENT_TOO_OLD         OutOfRange          -
EVENT_IN_FUTURE       OutOfRange          -
NAMESPACE_NOT_FOUND   NotFound            -
SLICE_NOT_FOUND       NotFound            -
SPLIT_NOT_FOUND       NotFound            -
SPLIT_NOT_IMMUTABLE   FailedPrecondition  -
SPLIT_REFUSED         FailedPrecondition  -
PROPOSAL_NOT_FOUND    NotFound            -
PROPOSAL_STALE        FailedPrecondition  -
TIME_NOT_CLOSED       FailedPrecondition  -
READ_MODE_GATE_FAILED FailedPrecondition  -
COMPARE_MISMATCH      DataLoss            -
ID_BLOCKED            PermissionDenied    -
NAMESPACE_EXISTS      AlreadyExists       -
ETAG_MISMATCH         Aborted             -
RATE_LIMITED          ResourceExhausted   1s
READ_BUDGET_EXCEEDED  ResourceExhausted   -
BACKEND_OVERLOADED    Unavailable         1s
BACKEND_TIMEOUT       Unavailable         1s
NOT_READY             Unavailable         5s
CHECKSUM_MISMATCH     DataLoss            -
";
        assert_eq!(table, expect.trim_start());
    }

    #[test]
    fn a_message_fits_into_headers() {
        let status = status(&Error::new(Reason::FieldInvalid, "x".repeat(100_000)));
        assert_eq!(status.message().chars().count(), 1_001);
        assert!(status.details().len() < 2_000, "{}", status.details().len());
    }
}
