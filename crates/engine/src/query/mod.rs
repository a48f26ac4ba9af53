//! Search queries: what they say, and which events match. Pure.

mod number;
mod tree;

pub(crate) use number::Number;
pub use tree::{Limit, QUERY_DEPTH_MAX, QUERY_TERMS_MAX, SearchQuery};
pub(crate) use tree::{Matcher, Seen};
