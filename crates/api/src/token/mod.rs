//! Page tokens: where the next page begins, sealed so that only this service can have written it.
//!
//! A token is a logical position: no table, no generation, no cursor of a driver. It stays right when slices are split,
//! re-tuned or moved between two pages, and any server that has the keys can open it.
//!
//! The text is URL-safe base64 without padding, at most 2,048 characters, of these bytes (numbers big-endian):
//!
//! ```text
//! offset  bytes  field
//!      0      1  version, 1
//!      1      1  id of the key that sealed it
//!      2     16  query hash
//!     18      8  expiry, seconds since 1970: 24 h after the page was answered
//!     26      8  event time of the position, nanoseconds since 1970
//!     34      1  whether the read has a total limit: 0 or 1
//!     35      8  events still wanted; only there after a 1
//!      +    2+n  event id of the position, its length first
//!      +    2+n  series of the position, its length first
//!      +    2+n  item key of the position, its length first
//!      +      1  whether the read names no series and stands in a partition: 0 or 1
//!      +      4  event bucket of that partition; only there after a 1
//!      +      1  how many numbers follow, at most 64
//!      +    1-8  each of them, seven bits a byte, the lowest first, the high bit set on all bytes but the last
//!      +     32  HMAC-SHA-256 of everything before, with the key's secret
//! ```
//!
//! The query hash is the first 16 bytes of SHA-256 over namespace, series, interval, order, total limit, query and
//! aggregation (see [`Query`]); page size and latency may change between pages. The position is the last row that was scanned, so a
//! read whose filters drop everything still moves on. It may lie before all events of its time (the event id is empty)
//! or behind all items of its event (the item key is empty or the byte `FF`).
//!
//! A read that names no series goes from partition to partition, so there the place in the order of the store is the series, the
//! time bucket in which the event time lies, and the event bucket. Where the event id is empty, that partition is done with.
//!
//! The numbers are the bytes that earlier pages have scanned of the time bucket of the position, one for each event
//! bucket; none at its beginning. They are a hint: a server that cuts the time bucket into another number begins anew.
//!
//! Invariants: a token is judged by its length, then its key, then its seal, and only then are its fields read. Two keys
//! are live, so that changing the key does not break reads that are under way.

mod format;
mod keys;
mod query;
#[cfg(test)]
mod tests;

pub use keys::{TokenKey, TokenKeys};
pub use query::Query;

/// Longest token, in characters.
pub const TOKEN_CHARS_MAX: usize = 2_048;
/// How long a token can be used.
pub const TOKEN_LIFE_SECONDS: u64 = 24 * 3_600;
