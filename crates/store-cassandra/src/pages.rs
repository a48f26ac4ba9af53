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

/// Pages that are read one after the other.
pub(crate) struct Pages<'a, V> {
    cluster: &'a Cluster,
    task: Task<'a>,
    statement: PreparedStatement,
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
        statement: &Lazy,
        values: V,
    ) -> Result<Self> {
        let statement = cluster.prepared(statement, task.table).await?.clone();
        Ok(Self { cluster, task, statement, values, hedge_after: None, place: Some(PagingState::start()) })
    }

    /// The same, asking so many replicas.
    pub(crate) fn at(mut self, level: Level) -> Self {
        self.statement.set_consistency(level);
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
        let (cluster, values, hedge_after) = (self.cluster, &self.values, self.hedge_after);
        let mut asked = rows;
        let ask = || {
            let (mut statement, place) = (self.statement.clone(), place.clone());
            statement.set_page_size(asked.max(1));
            asked /= SMALLER;
            fetch(cluster, statement, values, place, hedge_after)
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
}

/// Asks for one page.
async fn fetch(
    cluster: &Cluster,
    mut statement: PreparedStatement,
    values: &(impl SerializeRow + Sync),
    place: PagingState,
    hedge_after: Option<Duration>,
) -> std::result::Result<(QueryResult, PagingStateResponse), ExecutionError> {
    let (session, profiles) = (&cluster.session, &cluster.profiles);
    let Some(wait) = hedge_after else {
        return session.execute_single_page(&statement, values, place).await;
    };
    let (route, mut again) = (Route::new(profiles), statement.clone());
    statement.set_load_balancing_policy(Some(Arc::clone(&route) as _));
    let first = Box::pin(session.execute_single_page(&statement, values, place.clone()));
    let second = || {
        let detour = route.detour(profiles, &session.get_cluster_state())?;
        again.set_load_balancing_policy(Some(detour));
        Some(Box::pin(async move { session.execute_single_page(&again, values, place).await }))
    };
    cluster.hedges.run(first, cluster.env.clock.sleep(wait), second).await
}
