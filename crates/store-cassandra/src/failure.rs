//! What a failed statement means: nothing was done, or nobody knows, or it can never work.
//!
//! Pure. The kinds of [`Error`](::store::Error) are decided here and nowhere else in the crate.

use model::TableRef;
use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use store::{Error, ErrorKind};

/// What is known about a statement that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Sending it again fails again.
    Refused,
    /// Its table or keyspace does not exist.
    NoTable,
    /// It had no effect and will have none.
    NotDone,
    /// It may have been done, or may still be.
    Unknown,
}

impl Verdict {
    /// Whether the same statement may succeed later.
    pub(crate) const fn is_passing(self) -> bool {
        matches!(self, Self::NotDone | Self::Unknown)
    }
}

/// Judges a failure of a plain statement.
pub(crate) fn judge(error: &ExecutionError) -> Verdict {
    match error {
        ExecutionError::BadQuery(_) => Verdict::Refused,
        // Nothing was sent: there was nobody to send it to.
        ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => Verdict::NotDone,
        ExecutionError::PrepareError(error) => judge_prepare(error),
        ExecutionError::LastAttemptError(error) => judge_attempt(error),
        _ => Verdict::Unknown,
    }
}

/// Judges a failure of a lightweight transaction. It has several rounds, and the server names errors of the last ones
/// like those of the first: all that was sent may be done.
pub(crate) fn judge_conditional(error: &ExecutionError) -> Verdict {
    match (error, judge(error)) {
        (ExecutionError::LastAttemptError(RequestAttemptError::DbError(..)), Verdict::NotDone) => {
            Verdict::Unknown
        }
        (_, verdict) => verdict,
    }
}

fn judge_prepare(error: &PrepareError) -> Verdict {
    match error {
        // A statement that is only being prepared does nothing.
        PrepareError::AllAttemptsFailed { first_attempt } => {
            judge_attempt(first_attempt).min(Verdict::NotDone)
        }
        _ => Verdict::NotDone,
    }
}

fn judge_attempt(error: &RequestAttemptError) -> Verdict {
    match error {
        RequestAttemptError::SerializationError(_) | RequestAttemptError::CqlRequestSerialization(_) => {
            Verdict::Refused
        }
        RequestAttemptError::UnableToAllocStreamId => Verdict::NotDone,
        RequestAttemptError::DbError(error, message) => judge_answer(error, message),
        _ => Verdict::Unknown,
    }
}

fn judge_answer(error: &DbError, message: &str) -> Verdict {
    match error {
        // Cassandra tells a missing table from other mistakes only in words; 3.x has other words.
        DbError::Invalid | DbError::ConfigError
            if message.contains("does not exist") || message.contains("unconfigured table") =>
        {
            Verdict::NoTable
        }
        DbError::Invalid | DbError::ConfigError | DbError::SyntaxError | DbError::AlreadyExists { .. } => {
            Verdict::Refused
        }
        // Told before anything is sent to a replica. Rights are granted while we wait.
        DbError::Unavailable { .. }
        | DbError::Overloaded
        | DbError::IsBootstrapping
        | DbError::RateLimitReached { .. }
        | DbError::Unauthorized
        | DbError::AuthenticationError
        | DbError::ReadTimeout { .. }
        | DbError::ReadFailure { .. } => Verdict::NotDone,
        _ => Verdict::Unknown,
    }
}

/// The error for whoever called the store: `what` names what was tried.
pub(crate) fn explain(
    what: &str,
    verdict: Verdict,
    error: ExecutionError,
    table: Option<&TableRef>,
) -> Error {
    let (kind, advice) = match (verdict, table) {
        (Verdict::NoTable, Some(table)) => return Error::no_table(table).caused_by(error),
        (Verdict::NoTable, None) => (ErrorKind::Corrupt, "make the store's own tables again by starting it"),
        (Verdict::Refused, _) => (ErrorKind::Invalid, "this is a bug, or the cluster has other limits"),
        (Verdict::NotDone, _) => (ErrorKind::Unavailable, "try again, and look at the cluster if it goes on"),
        (Verdict::Unknown, _) => (ErrorKind::Unknown, "it may still take effect; try again or read it back"),
    };
    Error::new(kind, format!("Cassandra failed to {what} ({error}); {advice}")).caused_by(error)
}

/// The error for an answer that is not what this version writes.
pub(crate) fn unreadable(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let message = format!("Cassandra's {what} cannot be read ({error}); another version may have written it");
    Error::new(ErrorKind::Corrupt, message).caused_by(error)
}

#[cfg(test)]
mod tests {
    use scylla::errors::WriteType;
    use scylla::statement::Consistency;

    use super::*;

    fn answered(error: DbError, message: &str) -> ExecutionError {
        RequestAttemptError::DbError(error, message.to_owned()).into()
    }

    fn check(error: ExecutionError, plain: Verdict, conditional: Verdict) {
        assert_eq!((judge(&error), judge_conditional(&error)), (plain, conditional), "{error}");
    }

    #[test]
    fn failures_say_what_was_done() {
        let consistency = Consistency::LocalQuorum;
        let (unknown, not_done) = (Verdict::Unknown, Verdict::NotDone);
        let timeout =
            DbError::WriteTimeout { consistency, received: 1, required: 2, write_type: WriteType::Cas };
        check(answered(timeout, ""), unknown, unknown);
        check(answered(DbError::ServerError, ""), unknown, unknown);
        check(answered(DbError::Unavailable { consistency, required: 2, alive: 1 }, ""), not_done, unknown);
        check(answered(DbError::Overloaded, ""), not_done, unknown);
        check(ExecutionError::EmptyPlan, not_done, not_done);
        check(ExecutionError::RequestTimeout(std::time::Duration::ZERO), unknown, unknown);
        check(answered(DbError::SyntaxError, ""), Verdict::Refused, Verdict::Refused);
    }

    #[test]
    fn a_missing_table_is_told_apart() {
        for message in ["table t does not exist", "keyspace k does not exist", "unconfigured table t"] {
            check(answered(DbError::Invalid, message), Verdict::NoTable, Verdict::NoTable);
        }
        check(answered(DbError::Invalid, "Mutation is too large"), Verdict::Refused, Verdict::Refused);
    }

    #[test]
    fn preparing_does_nothing() {
        let first_attempt = RequestAttemptError::DbError(DbError::ServerError, String::new());
        check(PrepareError::AllAttemptsFailed { first_attempt }.into(), Verdict::NotDone, Verdict::NotDone);
    }
}
