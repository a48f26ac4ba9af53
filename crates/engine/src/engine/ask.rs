//! What requests ask of the view, without the requests: for measuring what the checks cost, because nothing turns them off.

use model::{NamespaceName, Timestamp};

use super::Engine;
use crate::write::ask_as_write;
use crate::{ReadRequest, Result};

impl Engine {
    /// What a durable write of events of these times asks before its store calls and again behind them, for measuring: the
    /// lease, the window of every event with closed time in it, the barriers of their slices. Stores nothing; gives back how
    /// many events would be acknowledged.
    pub async fn ask_as_write(&self, name: &NamespaceName, times: &[Timestamp]) -> Result<usize> {
        ask_as_write(&self.catalog, &*self.env.clock, name, times).await
    }

    /// What a page of a read asks before its store calls, for measuring: the lease, and without one how far what is known
    /// reaches. Reads nothing; gives back whether the page would be about all that is asked for.
    pub async fn ask_as_read(&self, request: &ReadRequest) -> Result<bool> {
        self.reads.ask(request).await
    }
}
