//! The answer to a statement, page by page.
//!
//! The place of the next page is the server's own and is good for this statement only; it never leaves the call that
//! got it. A page that fails is asked for again, smaller: rows may have become so large that it cannot be answered. One
//! that takes long may be asked of another node too (`hedge`): the place is good there as well.

use std::sync::Arc;
use std::time::Duration;

use scylla::errors::ExecutionError;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::serialize::row::SerializeRow;
use scylla::statement::Consistency as Level;
use scylla::statement::prepared::PreparedStatement;
use store::Result;

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::retry::{self, Task};
use crate::route::Route;
use crate::statements::Lazy;

/// How much smaller a page is asked for after one that failed.
const SMALLER: i32 = 4;

/// A page, and where the next one begins.
type Fetched = std::result::Result<(QueryResult, PagingStateResponse), ExecutionError>;

/// Pages that are read one after the other.
pub(crate) struct Pages<'a, V> {
    cluster: &'a Cluster,
    task: Task<'a>,
    statement: &'a PreparedStatement,
    /// Asks so many replicas; none: as the statement does.
    level: Option<Level>,
    values: V,
    /// After so long without an answer another node may be asked too.
    hedge_after: Option<Duration>,
    /// Where the next page begins; none once there is no next.
    place: Option<PagingState>,
}

impl<'a, V: SerializeRow + Sync> Pages<'a, V> {
    /// Begins before the first page; nothing is read yet.
    pub(crate) async fn new(
        cluster: &'a Cluster,
        task: Task<'a>,
        statement: &'a Lazy,
        values: V,
    ) -> Result<Self> {
        let statement = cluster.prepared(statement, task.table).await?;
        let place = Some(PagingState::start());
        Ok(Self { cluster, task, statement, level: None, values, hedge_after: None, place })
    }

    /// The same, asking so many replicas.
    pub(crate) fn at(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// The same, with another node asked too after so long without an answer.
    pub(crate) fn hedged(mut self, after: Option<Duration>) -> Self {
        self.hedge_after = after;
        self
    }

    /// Reads the next page, of at most `rows` rows; none behind the last one.
    pub(crate) async fn next(&mut self, rows: i32) -> Result<Option<QueryRowsResult>> {
        let Some(place) = self.place.take() else {
            return Ok(None);
        };
        let mut asked = rows;
        let ask = || {
            let rows = asked.max(1);
            asked /= SMALLER;
            self.fetch(rows, place.clone())
        };
        let (answer, next) = retry::idempotent(&self.cluster.env, self.task, ask).await?;
        self.cluster.warnings.count(answer.warnings());
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

    /// Asks for one page.
    async fn fetch(&self, rows: i32, place: PagingState) -> Fetched {
        let (session, profiles) = (&self.cluster.session, &self.cluster.profiles);
        let values = &self.values;
        let Some(wait) = self.hedge_after else {
            return session.execute_single_page(&self.asking(rows, None), values, place).await;
        };
        let route = Route::new(profiles);
        let statement = self.asking(rows, Some(Arc::clone(&route)));
        let first = Box::pin(session.execute_single_page(&statement, values, place.clone()));
        let second = || {
            let again = self.asking(rows, Some(route.detour(profiles, &session.get_cluster_state())?));
            Some(Box::pin(async move { session.execute_single_page(&again, values, place).await }))
        };
        self.cluster.hedges.run(first, self.cluster.env.clock.sleep(wait), second).await
    }

    /// The statement as it asks for so many rows.
    fn asking(&self, rows: i32, route: Option<Arc<Route>>) -> PreparedStatement {
        let mut statement = self.statement.clone();
        statement.set_page_size(rows);
        if let Some(level) = self.level {
            statement.set_consistency(level);
        }
        statement.set_load_balancing_policy(route.map(|route| route as _));
        statement
    }
}
