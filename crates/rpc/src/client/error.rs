//! Why a call failed, as whoever calls can use it.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A call that failed. The message stands alone and ends with what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The code's name, such as `INVALID_ARGUMENT`.
    pub code: &'static str,
    /// The stable reason, such as `EVENT_TOO_OLD`; none where the failure does not come from the service.
    pub reason: Option<String>,
    /// For people.
    pub message: String,
    /// When the same call is worth sending again; none where it is not.
    pub retry_after: Option<Duration>,
}

/// What to wait before calling again where the server could not say.
const RETRY_UNREACHED: Duration = Duration::from_secs(1);

impl CallError {
    /// Something that is wrong before anything is sent.
    pub(crate) fn usage(message: String) -> Self {
        Self { code: "INVALID_ARGUMENT", reason: None, message, retry_after: None }
    }

    /// What a command exits with: the numbers are part of the contract.
    pub fn exit_code(&self) -> u8 {
        match self.code {
            "INVALID_ARGUMENT" | "OUT_OF_RANGE" => 2,
            "NOT_FOUND" => 3,
            "UNAUTHENTICATED" | "PERMISSION_DENIED" => 4,
            "ALREADY_EXISTS" | "ABORTED" | "FAILED_PRECONDITION" => 5,
            "RESOURCE_EXHAUSTED" | "UNAVAILABLE" | "DEADLINE_EXCEEDED" => 6,
            "DATA_LOSS" => 8,
            _ => 1,
        }
    }
}

impl From<Status> for CallError {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let reason = details.error_info().map(|info| info.reason.clone());
        let mut retry_after = details.retry_info().and_then(|retry| retry.retry_delay);
        let mut message = status.message().to_owned();
        let mut code = status.code();
        if reason.is_none() && status.code() == Code::Unavailable {
            message =
                format!("the server cannot be reached ({}); is `braid serve` running there?", cause(&status));
            retry_after = Some(RETRY_UNREACHED);
        } else if reason.is_none() && std::error::Error::source(&status).is_some() {
            // The connection broke, whatever code the transport has for that.
            message = format!(
                "the connection broke before the answer came ({}); a write may be stored, sending it again is safe",
                cause(&status)
            );
            (code, retry_after) = (Code::Unavailable, Some(RETRY_UNREACHED));
        }
        Self { code: name(code), reason, message, retry_after }
    }
}

/// The innermost cause says what happened; those around it only where.
fn cause(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    text
}

/// The name of a code as the contract writes it.
const fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use engine::{Error, Reason};

    use super::*;

    #[test]
    fn what_the_service_says_arrives() {
        let sent = crate::status::status(&Error::new(Reason::RateLimited, "the queue is full; try again"));
        let error = CallError::from(sent);
        assert_eq!((error.code, error.reason.as_deref()), ("RESOURCE_EXHAUSTED", Some("RATE_LIMITED")));
        assert_eq!((error.retry_after, error.exit_code()), (Some(Duration::from_secs(1)), 6));
        assert_eq!(error.to_string(), "the queue is full; try again");
    }

    #[test]
    fn a_server_that_is_not_there_is_named_as_such() {
        let error = CallError::from(Status::unavailable("connection refused"));
        assert_eq!(
            error.to_string(),
            "the server cannot be reached (connection refused); is `braid serve` running there?"
        );
        assert_eq!((error.exit_code(), error.reason), (6, None));
    }

    #[test]
    fn a_broken_connection_can_be_tried_again() {
        let broken = std::io::Error::new(std::io::ErrorKind::BrokenPipe, "broken pipe");
        let error = CallError::from(Status::from_error(Box::new(broken)));
        assert_eq!((error.code, error.exit_code()), ("UNAVAILABLE", 6));
        assert!(error.message.contains("(broken pipe)") && error.retry_after.is_some(), "{error}");
    }

    #[test]
    fn reads_that_may_not_move_on_and_copies_that_differ_have_their_own_exits() {
        let sent = |reason| CallError::from(crate::status::status(&Error::new(reason, "why")));
        let gate = sent(Reason::ReadModeGateFailed);
        assert_eq!((gate.code, gate.exit_code(), gate.retry_after), ("FAILED_PRECONDITION", 5, None));
        assert_eq!(gate.reason.as_deref(), Some("READ_MODE_GATE_FAILED"));
        let differ = sent(Reason::CompareMismatch);
        assert_eq!((differ.code, differ.exit_code(), differ.retry_after), ("DATA_LOSS", 8, None));
        assert_eq!(differ.reason.as_deref(), Some("COMPARE_MISMATCH"));
    }

    #[test]
    fn exit_codes_are_the_published_ones() {
        let exit = |code: Code| CallError::from(Status::new(code, "")).exit_code();
        let codes = [Code::OutOfRange, Code::NotFound, Code::PermissionDenied, Code::Aborted];
        assert_eq!(codes.map(exit), [2, 3, 4, 5]);
        assert_eq!([Code::DeadlineExceeded, Code::DataLoss, Code::Internal].map(exit), [6, 8, 1]);
    }
}
