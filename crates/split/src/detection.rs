//! What a read saw: the event that every queue carries, in its published JSON form.

use serde::{Deserialize, Serialize};

/// The only version there is.
const VERSION: &str = "0";
/// Longest text of an event: a series id in which every character is escaped, and the rest.
const JSON_BYTES_MAX: usize = 8 << 10;

/// A partition that a read found wide. A hint and nothing else: the planner looks for itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Detection {
    /// Of which namespace.
    pub namespace: String,
    /// The table of the slice.
    pub time_slice: String,
    /// Whose partition.
    pub time_series_id: String,
    /// Its time bucket.
    pub time_bucket: u32,
    /// Its event bucket.
    pub event_bucket: u32,
    /// Whether nobody may write to it any more, as far as the reader knows.
    pub immutable: bool,
    /// Of this form.
    pub version: String,
    /// Logical bytes that were read of it.
    pub bytes_read: u64,
}

impl Detection {
    /// What is said of a partition of which so much was read.
    pub fn new(
        namespace: &str,
        time_slice: &str,
        partition: &model::PartitionKey,
        immutable: bool,
        bytes_read: u64,
    ) -> Self {
        Self {
            namespace: namespace.to_owned(),
            time_slice: time_slice.to_owned(),
            time_series_id: partition.series.as_str().to_owned(),
            time_bucket: partition.time_bucket,
            event_bucket: partition.event_bucket,
            immutable,
            version: VERSION.to_owned(),
            bytes_read,
        }
    }

    /// Reads an event of a queue; none if it is not one that this program understands.
    pub fn from_json(text: &[u8]) -> Option<Self> {
        let read = || serde_json::from_slice::<Self>(text).ok();
        (text.len() <= JSON_BYTES_MAX).then(read).flatten().filter(|detection| detection.version == VERSION)
    }

    /// The event as a queue carries it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use model::{PartitionKey, SeriesId};

    use super::*;

    #[test]
    fn the_event_is_the_published_one() {
        let series = SeriesId::new("profileId:123").unwrap();
        let partition = PartitionKey { series, time_bucket: 7, event_bucket: 2 };
        let seen = Detection::new("plays", "data_20260328", &partition, true, 20_000_000);
        let text = r#"{"namespace":"plays","time_slice":"data_20260328","time_series_id":"profileId:123","time_bucket":7,"event_bucket":2,"immutable":true,"version":"0","bytes_read":20000000}"#;
        assert_eq!(seen.to_json(), text);
        assert_eq!(Detection::from_json(text.as_bytes()), Some(seen));
    }

    #[test]
    fn what_is_not_one_is_nothing() {
        for bad in ["", "{}", "null", r#"{"namespace":1}"#, &"x".repeat(JSON_BYTES_MAX + 1)] {
            assert_eq!(Detection::from_json(bad.as_bytes()), None, "{bad:.40}");
        }
        let newer = r#"{"namespace":"a","time_slice":"b","time_series_id":"c","time_bucket":0,"event_bucket":0,"immutable":true,"version":"1","bytes_read":0}"#;
        assert_eq!(Detection::from_json(newer.as_bytes()), None);
    }
}
