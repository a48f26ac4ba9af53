//! Why a cluster could not be joined: nobody is there, which may pass, or we were refused, which does not. Pure.
//!
//! The driver tells the cause some layers down, and of several nodes only that of the last one it tried. It tries them
//! in any order, so whoever tries again sees the others.

use std::io;

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind as SetupError, DbError, ExecutionError, FrameHeaderParseError,
    MetadataError, NewSessionError, PrepareError, RequestAttemptError,
};
use store::{Error, ErrorKind};

use crate::tls::is_for_another_name;
use crate::{Options, rights};

/// How Cassandra's words begin where it could not look the password up, as too few nodes are up.
const NOT_LOOKED_UP: &str = "Unable to perform authentication";

/// What to do about a certificate of ours that a node does not take.
const PAIR: &str = "set tls.cert_file and tls.key_file to a pair that the nodes trust";

/// What to say to whoever wanted to join with `options`. Somebody may have `asked` for our certificate.
pub(crate) fn of_session(options: &Options, asked: bool, error: NewSessionError) -> Error {
    let place = options.contact_points.join(", ");
    let (kind, message) = match cause(&error) {
        // With TLS 1.3 it is looked at when we believe to be in. The alert then breaks the connection, and the driver
        // may only see that.
        Cause::Nobody if asked && hung_up(&error) => {
            let why = "hung up when it had seen our certificate, or that there is none";
            (ErrorKind::Invalid, format!("the cluster at {place} {why}; {PAIR}"))
        }
        Cause::Nobody => {
            // What wants TLS hangs up on those who do not; so does what is going away.
            let plain = options.tls.is_none() && hung_up(&error);
            let hint = if plain { "; if the nodes want TLS, set tls.enabled" } else { "" };
            let advice = "check the contact points, and whether the cluster runs";
            let why = connection(&error).map_or_else(|| error.to_string(), ToString::to_string);
            (ErrorKind::Unavailable, format!("no node answers at {place} ({why}); {advice}{hint}"))
        }
        Cause::Refused(why) => (ErrorKind::Invalid, format!("the cluster at {place} {why}")),
    };
    Error::new(kind, message).caused_by(error)
}

/// A failure after we were let in. What Cassandra does not allow is refused; what has no answer may be tried again.
pub(crate) fn of_joining(user: Option<&str>, error: Error) -> Error {
    let forbidden = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<ExecutionError>())
        .and_then(unauthorized);
    let kind = match (forbidden, error.kind()) {
        (Some(words), _) => {
            let grant = rights::statement_for(words, user.unwrap_or("the server's user"));
            let message = format!("Cassandra refuses: {words}; as a superuser, run {grant}");
            return Error::invalid(message).caused_by(error);
        }
        // Everything that is done while joining may be done again.
        (None, ErrorKind::Unknown) => ErrorKind::Unavailable,
        (None, _) => return error,
    };
    Error::new(kind, error.to_string()).caused_by(error)
}

/// Cassandra's words, where it does not allow a statement.
fn unauthorized(error: &ExecutionError) -> Option<&str> {
    match error {
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(DbError::Unauthorized, words))
        | ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
            first_attempt: RequestAttemptError::DbError(DbError::Unauthorized, words),
        }) => Some(words),
        _ => None,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// Nobody answers, now.
    Nobody,
    /// Somebody answers, and not as we want; with what to do.
    Refused(String),
}

fn refused(why: impl Into<String>) -> Cause {
    Cause::Refused(why.into())
}

/// How the last connection failed.
fn connection(error: &NewSessionError) -> Option<&ConnectionError> {
    match error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
            last_connection_error,
        })) => Some(last_connection_error),
        _ => None,
    }
}

/// Whether the connection was there and broke before anything was said.
fn hung_up(error: &NewSessionError) -> bool {
    match connection(error) {
        Some(ConnectionError::BrokenConnection(_)) => true,
        Some(ConnectionError::ConnectionSetupRequestError(error)) => {
            matches!(error.error, SetupError::BrokenConnection(_))
        }
        _ => false,
    }
}

fn cause(error: &NewSessionError) -> Cause {
    match connection(error) {
        Some(ConnectionError::IoError(error)) => cause_io(error),
        Some(ConnectionError::BrokenConnection(error)) => cause_broken(error),
        Some(ConnectionError::ConnectionSetupRequestError(error)) => cause_setup(&error.error),
        _ => Cause::Nobody,
    }
}

fn cause_setup(error: &SetupError) -> Cause {
    match error {
        SetupError::MissingAuthentication => refused("asks who we are; set user and password_file"),
        SetupError::DbError(DbError::AuthenticationError, words) if words.starts_with(NOT_LOOKED_UP) => {
            Cause::Nobody
        }
        SetupError::DbError(DbError::AuthenticationError | DbError::Unauthorized, words) => {
            refused(format!("does not let us in ({words}); correct user and password_file"))
        }
        SetupError::DbError(DbError::ProtocolError, words) => {
            refused(format!("does not speak version 4 of CQL ({words}); it takes Cassandra 4.0 or later"))
        }
        SetupError::BrokenConnection(error) => cause_broken(error),
        _ => Cause::Nobody,
    }
}

fn cause_broken(error: &BrokenConnectionError) -> Cause {
    match error.downcast_ref::<BrokenConnectionErrorKind>() {
        Some(BrokenConnectionErrorKind::WriteError(error)) => cause_io(error),
        Some(BrokenConnectionErrorKind::FrameHeaderParseError(error)) => match error {
            FrameHeaderParseError::HeaderIoError(error)
            | FrameHeaderParseError::BodyChunkIoError(_, error) => cause_io(error),
            FrameHeaderParseError::ConnectionClosed(..) => Cause::Nobody,
            other => refused(format!(
                "answers, but not as Cassandra does ({other}); name its CQL port in contact_points"
            )),
        },
        _ => Cause::Nobody,
    }
}

/// TLS fails as input and output do.
fn cause_io(error: &io::Error) -> Cause {
    use rustls::Error as Tls;
    let found = error.get_ref().and_then(|error| error.downcast_ref::<Tls>());
    match found {
        None => Cause::Nobody,
        Some(Tls::InvalidCertificate(error)) if is_for_another_name(error) => refused(format!(
            "has a certificate that is not for the address of its node ({error}); name the address in it, or set \
             tls.verify_hostname to false"
        )),
        Some(Tls::InvalidCertificate(error)) => refused(format!(
            "has a certificate that is not to be trusted ({error}); name the authority that signed it in tls.ca_file"
        )),
        Some(Tls::AlertReceived(alert)) => {
            refused(format!("does not take our certificate, or wants one (TLS alert {alert:?}); {PAIR}"))
        }
        Some(Tls::InvalidMessage(_)) => refused(
            "does not speak TLS there; name its TLS port in contact_points, or set tls.enabled to false",
        ),
        Some(error) => {
            refused(format!("and we find no way to encrypt ({error}); look at the TLS settings of both"))
        }
    }
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
