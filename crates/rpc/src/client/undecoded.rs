//! Pages as they come from the wire, for callers that pass them on or only count them: decoding is most of what a client does.

use api::v1;
use bytes::{Buf, Bytes};
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
    /// Reads one page; it is a `ReadEventRecordsResponse` that was not decoded.
    pub async fn read_undecoded(&self, request: v1::ReadEventRecordsRequest) -> Answer<Bytes> {
        let mut calls = self.calls().await?;
        let path = PathAndQuery::from_static(READ);
        Ok(calls.unary(Request::new(request), path, Undecoded).await?.into_inner())
    }

    /// Reads all pages, which are not decoded.
    pub async fn stream_undecoded(&self, request: v1::ReadEventRecordsRequest) -> Answer<UndecodedPages> {
        let mut calls = self.calls().await?;
        let path = PathAndQuery::from_static(STREAM);
        let pages = calls.server_streaming(Request::new(request), path, Undecoded).await?.into_inner();
        Ok(UndecodedPages { pages })
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

/// Pages that are being read and not decoded.
#[derive(Debug)]
pub struct UndecodedPages {
    pages: Streaming<Bytes>,
}

impl UndecodedPages {
    /// The next page; none at the end.
    pub async fn next(&mut self) -> Answer<Option<Bytes>> {
        Ok(self.pages.message().await?)
    }
}

/// Sends a request, hands over the bytes of answers.
struct Undecoded;

impl Codec for Undecoded {
    type Encode = v1::ReadEventRecordsRequest;
    type Decode = Bytes;
    type Encoder = ExactEncoder<Self::Encode>;
    type Decoder = Self;

    fn encoder(&mut self) -> Self::Encoder {
        ExactEncoder::default()
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Decoder for Undecoded {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buf.copy_to_bytes(buf.remaining())))
    }
}
