//! Protobuf on the wire, with the parts of a message counted before it is decoded.

use std::marker::PhantomData;

use bytes::Buf;
use engine::Error;
use prost::{Message, Name};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use crate::status::status;

/// Encoding buffers grow by this: most pages take a few steps, most small answers one.
const BUFFER_BYTES: usize = 32 << 10;
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
    type Encoder = ProstEncoder<T>;
    type Decoder = LimitedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(buffers())
    }

    fn decoder(&mut self) -> Self::Decoder {
        LimitedDecoder { message: PhantomData }
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
