//! A stored row: one item of one event.

use bytes::Bytes;

use crate::RowKey;

/// Largest value of one item, in bytes.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Largest encoded metadata of one item, in bytes.
pub const METADATA_BYTES_MAX: usize = 64 << 10;

/// One item of one event, as it is written to and read from a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Identity and order inside the partition.
    pub key: RowKey,
    /// When it was written, in microseconds since 1970: the larger one wins where two writes meet.
    pub write_time: i64,
    /// The item's value.
    pub value: Bytes,
    /// The item's encoded metadata; empty where there is none.
    pub metadata: Bytes,
}

impl Row {
    /// The row's size by which partitions, pages and throttles are measured, the same on every backend: eight bytes
    /// of time plus the lengths of everything the client sent. Keys of the engine, write times and compression do
    /// not count.
    pub fn logical_bytes(&self) -> u64 {
        logical_bytes([
            self.key.event_id.as_bytes(),
            self.key.item_key.as_bytes(),
            &self.value,
            &self.metadata,
        ])
    }

    /// Which of two writes of the same row stays: the later one; at equal write times each column keeps the greater
    /// bytes, as Cassandra does. The order in which they arrive does not matter.
    pub fn merge(self, other: Self) -> Self {
        debug_assert_eq!(self.key, other.key, "only writes of one row meet");
        match self.write_time.cmp(&other.write_time) {
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal => Self {
                value: self.value.max(other.value),
                metadata: self.metadata.max(other.metadata),
                ..self
            },
        }
    }
}

/// Logical bytes of a row with these parts.
pub(crate) fn logical_bytes(parts: [&[u8]; 4]) -> u64 {
    (size_of::<i64>() + parts.iter().map(|part| part.len()).sum::<usize>()) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    use super::*;
    use crate::{EventId, ItemKey, Timestamp};

    fn rows() -> impl Strategy<Value = Row> {
        let bytes = || proptest::collection::vec(0_u8..3, 0..3);
        (0_i64..3, bytes(), bytes(), any::<bool>()).prop_map(|(write_time, value, metadata, _)| Row {
            key: RowKey {
                event_time: Timestamp::MIN,
                event_id: EventId::new("ev").unwrap(),
                item_key: ItemKey::new("k").unwrap(),
            },
            write_time,
            value: value.into(),
            metadata: metadata.into(),
        })
    }

    proptest! {
        #[test]
        fn merging_does_not_depend_on_the_order(a in rows(), b in rows(), c in rows()) {
            prop_assert_eq!(a.clone().merge(b.clone()), b.clone().merge(a.clone()));
            let left = a.clone().merge(b.clone()).merge(c.clone());
            prop_assert_eq!(left, a.clone().merge(b.merge(c)));
            prop_assert_eq!(a.clone().merge(a.clone()), a);
        }
    }

    #[test]
    fn size_counts_what_the_client_sent() {
        let mut row = Row {
            key: RowKey {
                event_time: Timestamp::MIN,
                event_id: EventId::new("event").unwrap(),
                item_key: ItemKey::new("key").unwrap(),
            },
            write_time: 9,
            value: Bytes::from_static(b"value!"),
            metadata: Bytes::new(),
        };
        assert_eq!(row.logical_bytes(), 8 + 5 + 3 + 6);
        row.metadata = Bytes::from_static(b"m");
        assert_eq!(row.logical_bytes(), 23);
    }
}
