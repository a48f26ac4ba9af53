//! `WriteEventRecordsSync`: the answer comes when every accepted event is durable.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use store::{Durability, Store};

use super::prepare::prepare;
use crate::catalog::Catalog;
use crate::{Cost, Result, WriteAnswer, WriteRequest};

/// Partitions that one request writes at the same time.
const FAN_OUT: usize = 64;

/// Writes events; each is accepted or refused by itself.
pub(crate) async fn write_synced(
    catalog: &Catalog,
    store: &Arc<dyn Store>,
    clock: &dyn env::Clock,
    request: WriteRequest,
) -> Result<WriteAnswer> {
    let started = clock.boot();
    let prepared = prepare(catalog, clock.wall(), Duration::ZERO, request).await?;
    let cost = Cost {
        time_taken: Duration::ZERO,
        bytes_read: 0,
        partitions: prepared.placed.len() as u64,
        slices: prepared.slices(),
    };
    let (mut refused, offered) = (prepared.refused, prepared.offered);
    let results = stream::iter(prepared.placed).map(|placed| async move {
        let written = store.upsert(placed.batch, Durability::Synced).await;
        (placed.indexes, written)
    });
    let mut accepted = 0;
    let mut results = std::pin::pin!(results.buffer_unordered(FAN_OUT));
    while let Some((indexes, written)) = results.next().await {
        match written {
            Ok(()) => accepted += indexes.len(),
            Err(error) => refused.all(&indexes, &error.into()),
        }
    }
    if accepted == 0 && offered > 0 {
        // Nothing was stored: the store's trouble is the answer, not a detail of it.
        if let Some(error) = refused.into_last() {
            return Err(error);
        }
        return Ok(WriteAnswer { refused: Vec::new(), accepted, cost });
    }
    let cost = Cost { time_taken: clock.boot().since(started), ..cost };
    Ok(WriteAnswer { refused: refused.into_refusals(), accepted, cost })
}
