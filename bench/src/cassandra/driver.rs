//! The driver without Braid: the statements of `store-cassandra`, prepared, in its consistency, over as many connections.
//!
//! Kept by hand beside that crate's `statements`, `profiles` and `connect`, whose types do not leave it. If the two drift
//! apart, a comparison measures statements instead of code.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use anyhow::{Context, Result, ensure};
use model::{Interval, Order, PartitionKey, Row};
use scylla::client::PoolSize;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::response::query_result::QueryResult;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchStatement, BatchType};
use scylla::statement::prepared::PreparedStatement;

use super::node;
use crate::wire;

const PARTITION: &str = "time_series_id, time_bucket, event_bucket";
const ROW: &str = "event_time, event_id, event_item_key";

/// Partition, and the times between which rows are read, as keys whose ids are empty.
type ScanValues<'a> = (&'a str, i32, i32, i64, &'a str, &'a str, i64, &'a str, &'a str);

/// Time, event id, item key, metadata, value, write time: in the order in which the store asks for them.
type RowColumns<'a> = (i64, &'a str, &'a str, &'a [u8], &'a [u8], i64);

/// A session with the statements for one table.
pub(crate) struct Driver {
    session: Session,
    upsert: PreparedStatement,
    oldest_first: PreparedStatement,
    newest_first: PreparedStatement,
    count: PreparedStatement,
}

/// A page that was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecoded {
    /// How many rows.
    pub(crate) rows: u64,
    /// Their bytes on the wire.
    pub(crate) bytes: u64,
}

impl Driver {
    /// Connects, and prepares the statements for `table`.
    pub(crate) async fn connect(table: &str) -> Result<Self> {
        Self::connect_to(node::address(), table).await
    }

    /// The same to another node, or to the cluster that it belongs to.
    pub(crate) async fn connect_to(node: SocketAddr, table: &str) -> Result<Self> {
        let connections = store_cassandra::Options::default().connections_per_node;
        let session = SessionBuilder::new()
            .known_node_addr(node)
            .pool_size(PoolSize::PerHost(NonZeroUsize::new(connections).context("no connections")?))
            .fetch_full_schema_metadata(false)
            .build()
            .await
            .context("the driver cannot connect")?;
        let columns = format!("{ROW}, value_metadata, event_item_value, WRITETIME(event_item_value)");
        let rows = format!(
            "FROM {table} WHERE time_series_id = ? AND time_bucket = ? AND event_bucket = ? \
             AND ({ROW}) >= (?, ?, ?) AND ({ROW}) < (?, ?, ?)"
        );
        let scan = format!("SELECT {columns} {rows}");
        let ascending = "ORDER BY event_time ASC, event_id ASC, event_item_key ASC";
        let upsert = format!(
            "INSERT INTO {table} ({PARTITION}, {ROW}, event_item_value, value_metadata) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"
        );
        Ok(Self {
            upsert: prepare(&session, &upsert).await?,
            oldest_first: prepare(&session, &format!("{scan} {ascending}")).await?,
            newest_first: prepare(&session, &scan).await?,
            count: prepare(&session, &format!("SELECT COUNT(*) {rows}")).await?,
            session,
        })
    }

    /// A batch for so many rows of one partition.
    pub(crate) fn batch(&self, rows: u64) -> Result<Batch> {
        let statement = BatchStatement::PreparedStatement(self.upsert.clone());
        let mut batch =
            Batch::new_with_statements(BatchType::Unlogged, vec![statement; usize::try_from(rows)?]);
        batch.set_consistency(Consistency::LocalQuorum);
        batch.set_is_idempotent(true);
        Ok(batch)
    }

    /// Writes as many rows of a partition as `batch` is for.
    pub(crate) async fn write(&self, batch: &Batch, partition: &PartitionKey, rows: &[Row]) -> Result<()> {
        let (series, time_bucket, event_bucket) = place(partition);
        let values = rows.iter().map(|row| {
            Ok((
                series,
                time_bucket,
                event_bucket,
                row.key.event_time.nanos(),
                std::str::from_utf8(row.key.event_id.as_bytes())?,
                std::str::from_utf8(row.key.item_key.as_bytes())?,
                row.value.as_ref(),
                row.metadata.as_ref(),
                row.write_time,
            ))
        });
        self.session.batch(batch, values.collect::<Result<Vec<_>>>()?).await?;
        Ok(())
    }

    /// Reads the first `rows` of a partition; returns how many there are.
    pub(crate) async fn read(&self, partition: &PartitionKey, order: Order, rows: i32) -> Result<u64> {
        let statement = self.scan(order, rows);
        let (page, _) =
            self.page(&statement, &values(partition, wire::interval()?), PagingState::start()).await?;
        look_at(page)
    }

    /// Reads the newest `rows` of an interval and decodes none of them.
    pub(crate) async fn read_undecoded(
        &self,
        partition: &PartitionKey,
        interval: Interval,
        rows: i32,
    ) -> Result<Undecoded> {
        let statement = self.scan(Order::NewestFirst, rows);
        let (page, _) = self.page(&statement, &values(partition, interval), PagingState::start()).await?;
        let page = page.into_rows_result()?;
        Ok(Undecoded { rows: page.rows_num() as u64, bytes: page.rows_bytes_size() as u64 })
    }

    /// Has the node count the rows of a partition.
    pub(crate) async fn count(&self, partition: &PartitionKey) -> Result<u64> {
        let values = values(partition, wire::interval()?);
        let (answer, _) = self.page(&self.count, &values, PagingState::start()).await?;
        let (count,) = answer.into_rows_result()?.single_row::<(i64,)>()?;
        Ok(u64::try_from(count)?)
    }

    /// Reads a partition to its end in pages of so many rows; returns how many there are. The next page is on its way while
    /// one is looked at, as it is with the driver's own pager, whose rows are copies.
    pub(crate) async fn drain(&self, partition: &PartitionKey, order: Order, rows: i32) -> Result<u64> {
        self.drain_of(partition, wire::interval()?, order, rows).await
    }

    /// The same with an interval of it.
    pub(crate) async fn drain_of(
        &self,
        partition: &PartitionKey,
        interval: Interval,
        order: Order,
        rows: i32,
    ) -> Result<u64> {
        let (statement, values) = (self.scan(order, rows), values(partition, interval));
        let mut page = self.page(&statement, &values, PagingState::start()).await?;
        let mut count = 0;
        loop {
            let (answer, next) = page;
            let PagingStateResponse::HasMorePages { state } = next else {
                return Ok(count + look_at(answer)?);
            };
            let look = async {
                // Whoever sends the request has to come first where there is one thread.
                tokio::task::yield_now().await;
                look_at(answer)
            };
            let (ahead, looked) = tokio::join!(self.page(&statement, &values, state), look);
            count += looked?;
            page = ahead?;
        }
    }

    /// The same, but asks for the next page only when one was looked at: as a client that follows tokens has to.
    pub(crate) async fn drain_in_turn(
        &self,
        partition: &PartitionKey,
        order: Order,
        rows: i32,
    ) -> Result<u64> {
        let (statement, values) = (self.scan(order, rows), values(partition, wire::interval()?));
        let (mut count, mut place) = (0, PagingState::start());
        loop {
            let (answer, next) = self.page(&statement, &values, place).await?;
            count += look_at(answer)?;
            let PagingStateResponse::HasMorePages { state } = next else {
                return Ok(count);
            };
            place = state;
        }
    }

    fn scan(&self, order: Order, rows: i32) -> PreparedStatement {
        let mut statement = match order {
            Order::OldestFirst => self.oldest_first.clone(),
            Order::NewestFirst => self.newest_first.clone(),
        };
        statement.set_page_size(rows);
        statement
    }

    async fn page(
        &self,
        statement: &PreparedStatement,
        values: &ScanValues<'_>,
        place: PagingState,
    ) -> Result<(QueryResult, PagingStateResponse)> {
        Ok(self.session.execute_single_page(statement, values, place).await?)
    }
}

async fn prepare(session: &Session, text: &str) -> Result<PreparedStatement> {
    let mut prepared = session.prepare(text).await.with_context(|| format!("cannot prepare {text}"))?;
    prepared.set_consistency(Consistency::LocalQuorum);
    prepared.set_use_cached_result_metadata(true);
    Ok(prepared)
}

fn place(partition: &PartitionKey) -> (&str, i32, i32) {
    (partition.series.as_str(), partition.time_bucket.cast_signed(), partition.event_bucket.cast_signed())
}

fn values(partition: &PartitionKey, interval: Interval) -> ScanValues<'_> {
    let (series, time_bucket, event_bucket) = place(partition);
    (series, time_bucket, event_bucket, interval.start(), "", "", interval.end(), "", "")
}

/// Decodes every row.
fn look_at(answer: QueryResult) -> Result<u64> {
    let answer = answer.into_rows_result()?;
    let mut count = 0;
    for row in answer.rows::<RowColumns<'_>>()? {
        let (_, _, _, _, value, _) = row?;
        ensure!(!value.is_empty(), "a row has no value");
        count += 1;
    }
    Ok(count)
}
