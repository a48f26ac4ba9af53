//! Protobuf on the wire, with the parts of a message counted before it is decoded.

use std::marker::PhantomData;

use bytes::Buf;
use engine::Error;
use prost::{Message, Name};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::status::status;

/// What a call's buffer has before its message is known; then it gets what the message needs, at once.
const BUFFER_BYTES: usize = 1 << 10;
/// A stream's messages are sent together up to this.
const YIELD_BYTES: usize = 32 << 10;

/// Sends `T`, receives `U`.
pub(crate) struct LimitedCodec<T, U> {
    messages: PhantomData<(T, U)>,
}

impl<T, U> Default for LimitedCodec<T, U> {
    fn default() -> Self {
        Self { messages: PhantomData }
    }
}

impl<T, U> Codec for LimitedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ExactEncoder<T>;
    type Decoder = LimitedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ExactEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        LimitedDecoder { message: PhantomData }
    }
}

/// Encodes `T` into a buffer of its size: one that doubles would copy a page several times.
pub(crate) struct ExactEncoder<T> {
    message: PhantomData<T>,
}

impl<T> Default for ExactEncoder<T> {
    fn default() -> Self {
        Self { message: PhantomData }
    }
}

impl<T: Message> Encoder for ExactEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.reserve(message.encoded_len());
        message.encode(buf).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

/// Decodes `U` unless it has too many parts.
pub(crate) struct LimitedDecoder<U> {
    message: PhantomData<U>,
}

impl<U: Message + Name + Default> Decoder for LimitedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // One contiguous piece: the message was collected before. Bytes fields are then slices of it, not copies.
        let bytes = buf.copy_to_bytes(buf.remaining());
        api::limits::check(U::NAME, &bytes).map_err(|error| status(&error))?;
        U::decode(bytes).map(Some).map_err(|error| {
            let problem =
                format!("is not a {}: {error}; build it from the files under proto/", U::full_name());
            status(&Error::field("request", problem))
        })
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, YIELD_BYTES)
}
