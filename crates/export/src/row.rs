//! A stored row, as plain columns.

use bytes::Bytes;

/// One item of one event, and where it lies. Parts share the buffer that they arrived in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The series id.
    pub time_series_id: Bytes,
    /// Ordinal of the time bucket.
    pub time_bucket: u32,
    /// The event bucket.
    pub event_bucket: u32,
    /// Nanoseconds since 1970.
    pub event_time: i64,
    /// The event id.
    pub event_id: Bytes,
    /// The item key.
    pub event_item_key: Bytes,
    /// The value.
    pub event_item_value: Bytes,
    /// The stored bytes of the value's metadata; empty where there is none.
    pub value_metadata: Bytes,
    /// Microseconds since 1970.
    pub write_time: i64,
}

impl Row {
    /// Bytes of all columns, about what it takes in memory and in a file without compression.
    pub fn bytes(&self) -> usize {
        const FIXED: usize = 2 * size_of::<u32>() + 2 * size_of::<i64>();
        let parts = [
            &self.time_series_id,
            &self.event_id,
            &self.event_item_key,
            &self.event_item_value,
            &self.value_metadata,
        ];
        FIXED + parts.iter().map(|part| part.len()).sum::<usize>()
    }
}
