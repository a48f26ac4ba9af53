//! Pages whose records stay where they came, for callers that read many: messages of their own are most of what a client does.

use api::convert::PageReceived;
use api::v1;
use bytes::Buf;
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

use super::Client;
use super::calls::{ANSWER_BYTES_MAX, Answer};
use crate::codec::ExactEncoder;

const READ: &str = "/braid.v1.TimeSeriesService/ReadEventRecords";
const STREAM: &str = "/braid.v1.TimeSeriesService/StreamEventRecords";

impl Client {
    /// Reads one page, to be looked at in place.
    pub async fn read_in_place(&self, request: v1::ReadEventRecordsRequest) -> Answer<PageReceived> {
        let mut calls = self.calls().await?;
        let path = PathAndQuery::from_static(READ);
        Ok(calls.unary(Request::new(request), path, InPlace).await?.into_inner())
    }

    /// Reads all pages, to be looked at in place.
    pub async fn stream_in_place(&self, request: v1::ReadEventRecordsRequest) -> Answer<PagesReceived> {
        let mut calls = self.calls().await?;
        let path = PathAndQuery::from_static(STREAM);
        let pages = calls.server_streaming(Request::new(request), path, InPlace).await?.into_inner();
        Ok(PagesReceived { pages })
    }

    async fn calls(&self) -> Answer<Grpc<Channel>> {
        let mut calls = Grpc::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
        calls
            .ready()
            .await
            .map_err(|error| Status::unavailable(format!("the server is not ready: {error}")))?;
        Ok(calls)
    }
}

/// Pages that are being read, to be looked at in place.
#[derive(Debug)]
pub struct PagesReceived {
    pages: Streaming<PageReceived>,
}

impl PagesReceived {
    /// The next page; none at the end.
    pub async fn next(&mut self) -> Answer<Option<PageReceived>> {
        Ok(self.pages.message().await?)
    }
}

/// Sends a request, hands over answers as they came.
struct InPlace;

impl Codec for InPlace {
    type Encode = v1::ReadEventRecordsRequest;
    type Decode = PageReceived;
    type Encoder = ExactEncoder<Self::Encode>;
    type Decoder = Self;

    fn encoder(&mut self) -> Self::Encoder {
        ExactEncoder::default()
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Decoder for InPlace {
    type Item = PageReceived;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<PageReceived>, Status> {
        Ok(Some(PageReceived::new(buf.copy_to_bytes(buf.remaining()))))
    }
}
