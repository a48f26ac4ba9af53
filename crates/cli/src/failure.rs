//! How a command ends badly: one message on stderr, one exit code. Nothing else in this crate decides exit codes.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use rpc::client::CallError;

use crate::output::Format;

/// What was typed or written in a file is wrong.
const USAGE: u8 = 2;
/// Anything that has no number of its own.
const OTHER: u8 = 1;
/// Something else is in the way.
pub(crate) const CONFLICT: u8 = 5;
/// Something was looked for and found wanting.
pub(crate) const FINDINGS: u8 = 8;
/// Ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the message says how and what to write instead.
    Usage(String),
    /// A server refused or could not be reached.
    Call(CallError),
    /// Something on this machine is in the way.
    Other(String),
    /// Everything has been said; only the exit code is left.
    Told(u8),
    /// Whoever read stdout went away, as `head` does. Not an error.
    Closed,
}

impl Failure {
    /// A write to stdout that failed.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Other(format!("cannot write the result: {error}"))
    }

    /// An event that the server refused while it took the request.
    pub(crate) fn refused(reason: &str, message: &str) -> Self {
        let code = match reason {
            "FIELD_INVALID" | "EVENT_TOO_LARGE" | "RANGE_TOO_WIDE" | "PAGE_TOKEN_INVALID" => {
                "INVALID_ARGUMENT"
            }
            "EVENT_TOO_OLD" | "EVENT_IN_FUTURE" => "OUT_OF_RANGE",
            "NAMESPACE_NOT_FOUND" | "SLICE_NOT_FOUND" => "NOT_FOUND",
            "ID_BLOCKED" => "PERMISSION_DENIED",
            "RATE_LIMITED" => "RESOURCE_EXHAUSTED",
            "BACKEND_OVERLOADED" | "BACKEND_TIMEOUT" | "NOT_READY" => "UNAVAILABLE",
            "CHECKSUM_MISMATCH" => "DATA_LOSS",
            _ => "UNKNOWN",
        };
        Self::Call(CallError {
            code,
            reason: Some(reason.to_owned()),
            message: message.to_owned(),
            retry_after: None,
        })
    }

    /// The numbers are part of the contract.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Call(error) => error.exit_code(),
            Self::Other(_) => OTHER,
            Self::Told(code) => *code,
            Self::Closed => 0,
        }
    }

    /// What stderr gets; nothing where everything is said.
    fn text(&self, format: Format) -> Option<String> {
        let (code, reason, message) = match self {
            Self::Usage(message) => ("INVALID_ARGUMENT", None, message),
            Self::Call(error) => (error.code, error.reason.as_deref(), &error.message),
            Self::Other(message) => ("UNKNOWN", None, message),
            Self::Told(_) | Self::Closed => return None,
        };
        if format != Format::Json {
            return Some(format!("braid: {message}\n"));
        }
        #[derive(serde::Serialize)]
        struct Object<'a> {
            code: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
            message: &'a str,
        }
        let object = serde_json::to_string(&Object { code, reason, message });
        object.ok().map(|object| format!("{object}\n"))
    }
}

impl From<CallError> for Failure {
    fn from(mut error: CallError) -> Self {
        // Every failure of the service has a reason, and a server that is not there is told as such.
        if error.reason.is_none() && matches!(error.code, "UNKNOWN" | "INTERNAL" | "UNIMPLEMENTED") {
            error.message += "; if no Braid server is there, `braid doctor` says so";
        }
        Self::Call(error)
    }
}

/// The end of the process: the failure on stderr, in the form asked for, and the exit code.
pub(crate) fn end(result: Result<(), Failure>, format: Format) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(text) = failure.text(format) {
                talk(&text);
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Says something to people, on stderr. Where nobody listens there is nobody to tell.
pub(crate) fn talk(text: &str) {
    let _unheard = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(code: &'static str, reason: Option<&str>) -> Failure {
        let message = "say \"why\"".to_owned();
        Failure::Call(CallError { code, reason: reason.map(str::to_owned), message, retry_after: None })
    }

    #[test]
    fn people_get_a_line_and_programs_an_object() {
        let cases = [
            (
                call("NOT_FOUND", Some("NAMESPACE_NOT_FOUND")),
                "braid: say \"why\"\n",
                "{\"code\":\"NOT_FOUND\",\"reason\":\"NAMESPACE_NOT_FOUND\",\"message\":\"say \\\"why\\\"\"}\n",
                3,
            ),
            (
                call("UNAVAILABLE", None),
                "braid: say \"why\"\n",
                "{\"code\":\"UNAVAILABLE\",\"message\":\"say \\\"why\\\"\"}\n",
                6,
            ),
            (
                Failure::Usage("x".to_owned()),
                "braid: x\n",
                "{\"code\":\"INVALID_ARGUMENT\",\"message\":\"x\"}\n",
                2,
            ),
            (Failure::Other("x".to_owned()), "braid: x\n", "{\"code\":\"UNKNOWN\",\"message\":\"x\"}\n", 1),
        ];
        for (failure, line, object, exit) in cases {
            assert_eq!(failure.text(Format::Table).as_deref(), Some(line));
            assert_eq!(failure.text(Format::Ndjson).as_deref(), Some(line));
            assert_eq!(failure.text(Format::Json).as_deref(), Some(object));
            assert_eq!(failure.exit_code(), exit);
        }
        assert_eq!((Failure::Told(8).text(Format::Json), Failure::Told(8).exit_code()), (None, 8));
    }

    #[test]
    fn what_is_no_answer_of_the_service_leads_to_the_doctor() {
        let said = |code, reason: Option<&str>| {
            let Failure::Call(error) = call(code, reason) else { return String::new() };
            Failure::from(error).text(Format::Table).unwrap()
        };
        let hint = "braid: say \"why\"; if no Braid server is there, `braid doctor` says so\n";
        assert_eq!(said("UNKNOWN", None), hint);
        assert_eq!(said("UNIMPLEMENTED", None), hint);
        assert_eq!(said("INTERNAL", Some("NEW")), "braid: say \"why\"\n");
        assert_eq!(said("UNAVAILABLE", None), "braid: say \"why\"\n");
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        let closed = Failure::stdout(&io::Error::from(ErrorKind::BrokenPipe));
        assert_eq!((closed.text(Format::Table), closed.exit_code()), (None, 0));
        let full = Failure::stdout(&io::Error::from(ErrorKind::StorageFull));
        assert_eq!(full.exit_code(), 1);
        assert!(full.text(Format::Table).unwrap().starts_with("braid: cannot write the result: "));
    }

    #[test]
    fn a_refused_event_exits_as_its_reason_does() {
        let exit = |reason| Failure::refused(reason, "").exit_code();
        assert_eq!(["EVENT_TOO_OLD", "EVENT_TOO_LARGE", "RATE_LIMITED", "NEW"].map(exit), [2, 2, 6, 1]);
        assert_eq!(["NAMESPACE_NOT_FOUND", "ID_BLOCKED", "CHECKSUM_MISMATCH"].map(exit), [3, 4, 8]);
    }
}
