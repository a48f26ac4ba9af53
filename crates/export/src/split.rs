//! The record of a split, as an export has it: one line of `splits.ndjson`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SplitLine {
    /// The split as the API shows it.
    pub split: Box<RawValue>,
    /// What a comparison needs.
    pub check: SplitCheck,
}

/// All that a comparison of a split needs, in plain numbers. Times are nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitCheck {
    /// `data_20260328/7/2/profileId:123`.
    pub id: String,
    /// The attempt that made the targets.
    pub attempt: u32,
    /// The table of the origin.
    pub origin_table: String,
    /// The table of the targets.
    pub target_table: String,
    /// Whose partition.
    pub time_series_id: String,
    /// The time bucket of all of them.
    pub time_bucket: u32,
    /// The event bucket of the origin.
    pub event_bucket: u32,
    /// The event bucket of the first target.
    pub start_event_bucket: u32,
    /// How many targets there are.
    pub targets: u32,
    /// How targets keep events: `rows` or `packed`.
    pub layout: String,
    /// Of packed targets: logical bytes of a chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Of packed targets: `zstd`, `lz4` or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// `event_bucket` or `time_range`.
    pub strategy: String,
    /// Where the second target begins, and so on, if by time.
    pub boundaries: Vec<i64>,
    /// Where the slice begins.
    pub slice_start: i64,
    /// Width of a time bucket.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u32,
    /// Event buckets set aside per split.
    pub split_stride: u32,
    /// Which version of the hash places events.
    pub hash_version: u32,
    /// The targets hold everything before this time.
    pub covered_until: i64,
    /// 64 hexadecimal digits.
    pub digest_key: String,
    /// What origin and targets added up to when they were last compared.
    pub digest: CheckDigest,
    /// The targets one by one, when they were written.
    pub partitions: Vec<CheckPartition>,
}

/// What rows add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckDigest {
    /// How many.
    pub rows: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// 32 hexadecimal digits.
    pub checksum: String,
}

/// One target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPartition {
    /// Its event bucket.
    pub event_bucket: u32,
    /// How many rows.
    pub rows: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// What the store has of them: rows, or chunks where they are packed. An export that was begun before there were any lacks it.
    #[serde(default)]
    pub stored_rows: u64,
    /// Bytes of these.
    #[serde(default)]
    pub stored_bytes: u64,
}

impl SplitLine {
    /// Whether it is the same split with the same targets and the same rows: what may differ is when it was looked at.
    pub fn is_unchanged(&self, later: &Self) -> bool {
        self.check == later.check
    }
}
