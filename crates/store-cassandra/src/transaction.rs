//! Lightweight transactions: one attempt, and what its answer means.
//!
//! An attempt that ends without an answer may have been done. It is never called done or not done here: the caller
//! reads the row back, serially, and sees. A serial read also ends whatever was left half done.

use scylla::errors::ExecutionError;
use scylla::serialize::row::SerializeRow;
use scylla::value::{CqlValue, Row};
use store::{Error, ErrorKind, Result};

use crate::cluster::Cluster;
use crate::failure::{self, Verdict, unreadable};
use crate::statements::Lazy;

/// Attempts of one change, each followed by a look at what is there.
pub(crate) const ATTEMPTS_MAX: u32 = 10;

/// How one attempt ended.
pub(crate) enum Turn {
    /// The condition held and the change is made.
    Applied,
    /// The condition did not hold.
    Refused,
    /// There was no clear answer.
    Unclear(Failed),
}

/// An attempt without a clear answer.
pub(crate) struct Failed {
    pub(crate) verdict: Verdict,
    error: Box<ExecutionError>,
}

impl Failed {
    /// The error for a caller who has no more patience. What one of several attempts may have done counts.
    pub(crate) fn explain(self, what: &str, maybe_done: bool) -> Error {
        let verdict = if maybe_done { Verdict::Unknown } else { self.verdict };
        failure::explain(what, verdict, *self.error, None)
    }
}

/// Runs a transaction once.
pub(crate) async fn run(
    cluster: &Cluster,
    what: &str,
    statement: &Lazy,
    values: &(impl SerializeRow + Sync),
) -> Result<Turn> {
    let statement = cluster.prepared(statement, None).await?;
    let answer = match cluster.session.execute_unpaged(statement, values).await {
        Ok(answer) => answer,
        Err(error) => {
            let verdict = failure::judge_conditional(&error);
            if verdict.is_passing() {
                tracing::debug!(%error, "Cassandra gave no clear answer when asked to {what}");
                return Ok(Turn::Unclear(Failed { verdict, error: Box::new(error) }));
            }
            return Err(failure::explain(what, verdict, error, None));
        }
    };
    let rows = answer.into_rows_result().map_err(|error| unreadable("answer to a transaction", error))?;
    let row: Row = rows.first_row().map_err(|error| unreadable("answer to a transaction", error))?;
    match row.columns.first() {
        Some(Some(CqlValue::Boolean(true))) => Ok(Turn::Applied),
        Some(Some(CqlValue::Boolean(false))) => Ok(Turn::Refused),
        _ => {
            let message =
                "Cassandra's answer to a transaction does not say whether it was applied; report this";
            Err(Error::new(ErrorKind::Corrupt, message))
        }
    }
}
