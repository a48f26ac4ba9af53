//! Packed chunks: many rows of one partition as one stored row (`docs/formats/chunk.md`).
//!
//! A store's work is per row, so a wide partition is read many times faster where one stored row holds some hundred events. Here
//! is the format and nothing else: no store, no async, no clock. A [`Packer`] takes rows newest first and gives [`Packed`] chunks; a
//! [`Unpacker`] takes what was stored and gives a [`Chunk`], whose columns are read when they are asked for. Whatever was stored
//! comes out exactly, or an [`Error`] says why not: no input makes it panic, or take more memory than [`Limits`] allow.

pub mod codec;
mod column;
mod encode;
mod error;
pub mod header;
mod id;
mod packer;
mod parse;
mod rows;
mod unpack;
mod varint;

pub use codec::Codec;
pub use encode::Packed;
pub use error::Error;
pub use header::{Header, RESERVED_ITEM_KEY};
pub use packer::Packer;
pub use parse::{Dictionary, Events, Ids, Values};
pub use rows::ChunkRows;
pub use unpack::{Chunk, Limits, Unpacker};

/// Logical bytes of a chunk: where pages, drains and disk were measured to be best together.
pub const CHUNK_BYTES: u64 = 64 << 10;
