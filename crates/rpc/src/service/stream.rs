//! `StreamEventRecords`: page after page until the end of the interval.
//!
//! One page is read while the one before is on its way. A client that reads slowly stops the reading; one that goes away
//! ends it.

use api::convert::Read;
use api::v1::ReadEventRecordsResponse;
use engine::Result as Answer;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tonic::Status;

use super::Host;
use super::timeseries::read_page;
use crate::status::status;

/// Pages that wait between the reading and the sending.
const WAITING_PAGES_MAX: usize = 1;

/// The pages of a read.
pub(super) fn pages(host: Host, read: Read) -> BoxStream<'static, Result<ReadEventRecordsResponse, Status>> {
    let (send, receive) = mpsc::channel(WAITING_PAGES_MAX);
    let spawn = std::sync::Arc::clone(&host.env.spawn);
    spawn.task("braid-stream", Box::pin(produce(host, read, send)));
    stream::unfold(receive, |mut receive| async move { Some((receive.recv().await?, receive)) })
        .map(|page: Answer<ReadEventRecordsResponse>| page.map_err(|error| status(&error)))
        .boxed()
}

async fn produce(host: Host, mut read: Read, send: mpsc::Sender<Answer<ReadEventRecordsResponse>>) {
    loop {
        // Room first: a page that nobody takes yet need not be read.
        let Ok(room) = send.reserve().await else { return };
        let page = tokio::select! {
            page = read_page(&host, &read) => page,
            () = send.closed() => return,
        };
        match page {
            Ok((page, next)) => {
                room.send(Ok(page));
                read.request.resume = next;
            }
            Err(error) => return room.send(Err(error)),
        }
        if read.request.resume.is_none() {
            return;
        }
    }
}
