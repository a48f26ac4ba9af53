//! How much is under way at once. A call holds its place until the last byte of its answer is sent or dropped, so that
//! neither many calls nor slow readers make the server hold more than a known number of requests and pages.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use engine::{Error, Reason};
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many calls may be under way.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls with one answer.
    pub requests: usize,
    /// Streams.
    pub streams: usize,
}

/// The places.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    limits: Limits,
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn new(limits: Limits) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self { limits, requests: places(limits.requests), streams: places(limits.streams) }
    }

    /// A place for a call, or its refusal: to wait here would only hide the load.
    pub(crate) fn enter(&self, stream: bool) -> Result<OwnedSemaphorePermit, Error> {
        let (places, limit, what) = match stream {
            true => (&self.streams, self.limits.streams, "streams"),
            false => (&self.requests, self.limits.requests, "requests"),
        };
        Arc::clone(places).try_acquire_owned().map_err(|_| {
            let message = format!(
                "{limit} {what} are under way, which is the server's limit; try again, or raise limits.{what}"
            );
            Error::new(Reason::RateLimited, message)
        })
    }
}

/// A body that keeps a place until it ends.
pub(crate) struct HoldingBody {
    body: Body,
    _place: OwnedSemaphorePermit,
}

impl HoldingBody {
    pub(crate) fn hold(body: Body, place: OwnedSemaphorePermit) -> Body {
        Body::new(Self { body, _place: place })
    }
}

impl http_body::Body for HoldingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_once_the_answer_is_gone() {
        let gate = Gate::new(Limits { requests: 1, streams: 1 });
        let body = HoldingBody::hold(Body::empty(), gate.enter(false).unwrap());
        let refused = gate.enter(false).unwrap_err();
        assert_eq!(refused.reason(), Reason::RateLimited);
        assert_eq!(
            refused.to_string(),
            "1 requests are under way, which is the server's limit; try again, or raise limits.requests"
        );
        assert!(gate.enter(true).is_ok(), "streams have places of their own");
        drop(body);
        assert!(gate.enter(false).is_ok());
    }
}
