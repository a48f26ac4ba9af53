//! Events as they come in.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Items that one event may have in a request.
pub const ITEMS_MAX: usize = 64;
/// Events that one request may have.
pub const EVENTS_MAX: usize = 1_000;

/// An event as a client sent it; nothing about it was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventInput {
    /// Whose event.
    pub series: String,
    /// Seconds and nanoseconds since 1970; none if the client sent none.
    pub time: Option<(i64, i32)>,
    /// Which event.
    pub event_id: String,
    /// Its items.
    pub items: Vec<ItemInput>,
}

/// An item as a client sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemInput {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Bytes,
    /// Facts about the value.
    pub metadata: BTreeMap<String, String>,
}

/// Why one event of a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its place in the request.
    pub index: usize,
    /// The stable reason.
    pub reason: crate::Reason,
    /// What is wrong and what to do.
    pub message: String,
}
