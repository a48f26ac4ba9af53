//! The answer to a statement, page by page.
//!
//! The place of the next page is the server's own and is good for this statement only; it never leaves the call that
//! got it. A page that fails is asked for again, smaller: rows may have become so large that it cannot be answered.

use scylla::response::query_result::QueryRowsResult;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;
use store::Result;

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::retry::{self, Task};
use crate::statements::Lazy;

/// How much smaller a page is asked for after one that failed.
const SMALLER: i32 = 4;

/// Pages that are read one after the other.
pub(crate) struct Pages<'a, V> {
    cluster: &'a Cluster,
    task: Task<'a>,
    statement: PreparedStatement,
    values: V,
    /// Where the next page begins; none once there is no next.
    place: Option<PagingState>,
}

impl<'a, V: SerializeRow + Sync> Pages<'a, V> {
    /// Begins before the first page; nothing is read yet.
    pub(crate) async fn new(
        cluster: &'a Cluster,
        task: Task<'a>,
        statement: &Lazy,
        values: V,
    ) -> Result<Self> {
        let statement = cluster.prepared(statement, task.table).await?.clone();
        Ok(Self { cluster, task, statement, values, place: Some(PagingState::start()) })
    }

    /// Reads the next page, of at most `rows` rows; none behind the last one.
    pub(crate) async fn next(&mut self, rows: i32) -> Result<Option<QueryRowsResult>> {
        let Some(place) = self.place.take() else {
            return Ok(None);
        };
        let (session, values) = (&self.cluster.session, &self.values);
        let mut asked = rows;
        let ask = || {
            let (mut statement, place) = (self.statement.clone(), place.clone());
            statement.set_page_size(asked.max(1));
            asked /= SMALLER;
            async move { session.execute_single_page(&statement, values, place).await }
        };
        let (answer, next) = retry::idempotent(&self.cluster.env, self.task, ask).await?;
        if let PagingStateResponse::HasMorePages { state } = next {
            self.place = Some(state);
        }
        let what = self.task.what;
        answer.into_rows_result().map(Some).map_err(|error| unreadable(&format!("answer to {what}"), error))
    }

    /// Whether another page may follow.
    pub(crate) const fn more(&self) -> bool {
        self.place.is_some()
    }
}
