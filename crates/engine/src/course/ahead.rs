//! What is read ahead of need, while what came before is used.

use env::{BoxFuture, give_way};
use futures::future::{MaybeDone, maybe_done};

/// An answer that may have come. Dropping it ends the read.
pub(crate) type Ahead<T> = MaybeDone<BoxFuture<'static, T>>;

/// Begins to read. Asked once, a store is at work once its own tasks had their turn; it is asked again when the answer is needed.
pub(crate) async fn begun<T>(read: BoxFuture<'static, T>) -> Ahead<T> {
    let mut ahead = maybe_done(read);
    if futures::poll!(&mut ahead).is_pending() {
        give_way().await;
    }
    ahead
}
