//! `StreamEventRecords`: page after page until the end of the interval.
//!
//! One page is read while the one before is made ready, and that while one more is on its way. A client that reads slowly stops
//! the reading; one that goes away ends it.

use api::convert::{PageToSend, Read};
use engine::{ReadPage, Result as Answer, VIEW_STALE};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tonic::Status;

use super::Host;
use super::timeseries::show;
use crate::status::status;

/// Pages that wait between the reading and the sending.
const WAITING_PAGES_MAX: usize = 1;

/// The pages of a read, of which the first was read already.
pub(super) fn pages(
    host: Host,
    read: Read,
    first: ReadPage,
) -> BoxStream<'static, Result<PageToSend, Status>> {
    let (send, receive) = mpsc::channel(WAITING_PAGES_MAX);
    let spawn = std::sync::Arc::clone(&host.env.spawn);
    spawn.task("braid-stream", Box::pin(produce(host, read, first, send)));
    stream::unfold(receive, |mut receive| async move { Some((receive.recv().await?, receive)) })
        .map(|page: Answer<PageToSend>| page.map_err(|error| status(&error)))
        .boxed()
}

async fn produce(host: Host, mut read: Read, first: ReadPage, send: mpsc::Sender<Answer<PageToSend>>) {
    let pages = async {
        let mut page = Ok(first);
        loop {
            let present = match page {
                Ok(present) => present,
                Err(error) => return deliver(&send, || Err(error)).await,
            };
            read.request.resume = present.next.clone();
            // The same again is no news: the client goes on later, or at another server.
            let stale = present.partial.as_ref().is_some_and(|partial| partial.reason == VIEW_STALE);
            if stale || read.request.resume.is_none() {
                return deliver(&send, || show(&host, &read, present)).await;
            }
            // The store reads the next page while this one is made ready and sent.
            let ahead = host.engine.read(read.request.clone());
            let (next, ()) = tokio::join!(ahead, deliver(&send, || show(&host, &read, present)));
            page = next;
        }
    };
    tokio::select! {
        () = pages => {}
        () = send.closed() => {}
    }
}

/// Makes a page ready once there is room for it.
async fn deliver(send: &mpsc::Sender<Answer<PageToSend>>, page: impl FnOnce() -> Answer<PageToSend>) {
    // Without a receiver nobody wants it; whoever called notices that too.
    if let Ok(room) = send.reserve().await {
        room.send(page());
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
