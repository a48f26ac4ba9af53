//! The durable record of a split, `wide_row`: all that is known of it. `docs/formats/splits.md` describes it.

use serde::{Deserialize, Serialize};

use crate::{ChunkCodec, Digest, Key, Packing, Profile, Reason, SplitId, State, Strategy, TargetLayout};

/// The only version there is. A reader that meets another one treats the partition as not split.
pub(crate) const VERSION: u32 = 1;

/// A split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Of this form.
    pub version: u32,
    /// The namespace.
    pub namespace: String,
    /// Which making of it.
    pub incarnation: u32,
    /// Where in its life it is.
    pub state: State,
    /// Attempts begun so far; each has targets of its own.
    pub attempt: u32,
    /// Rises whenever a worker takes it over: what an earlier one still does counts for nothing.
    pub fence: u64,
    /// The server whose worker is at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When its state asks for somebody; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// It has more bytes than its targets should have together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
    /// The targets hold everything of the origin before this time, nanoseconds since 1970.
    pub covered_until: i64,
    /// What is split.
    pub pre_split_data: PreSplit,
    /// Where it is copied to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_split_data: Option<PostSplit>,
    /// The key of the digests of this attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_key: Option<String>,
    /// The barrier behind which the origin is read: its epoch, and the wall clock when it had passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier: Option<(u64, i64)>,
    /// How far the present step has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// What the origin looks like, while it is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Attempts that failed or were interrupted, in a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Somebody asked for it, so the policy of the namespace does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
    /// How somebody asked for targets to keep events, in place of what the namespace wishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_layout: Option<TargetLayout>,
    /// Once it is retired it is made anew: its targets are right no more, or somebody wants others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Why it is in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Why>,
    /// How it came here, oldest first; the newest 32.
    pub transitions: Vec<Transition>,
    /// Comparisons after it was completed, oldest first; the newest 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rechecks: Vec<Recheck>,
    /// How many comparisons there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rechecked: u32,
    /// Rows that came to the origin late and were copied after it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stragglers: u32,
    /// Targets of attempts that came to nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub garbage: Vec<Garbage>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What is split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreSplit {
    /// The table of the slice.
    pub time_slice: String,
    /// Whose partition.
    pub time_series_id: String,
    /// Its time bucket.
    pub time_bucket: u32,
    /// Its event bucket.
    pub event_bucket: u32,
    /// What a read saw of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_read: Option<u64>,
    /// What the planner found in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What a new record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What names it.
    pub id: SplitId,
    /// Where the time of the partition ends.
    pub end: i64,
    /// What a read saw of it; none where somebody asked.
    pub bytes_read: Option<u64>,
}

/// Where it is copied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostSplit {
    /// The table of the targets.
    pub time_slice: String,
    /// How they keep events.
    pub layout: TargetLayout,
    /// Logical bytes of a chunk, where they are packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// How chunks are compressed, where they are packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<ChunkCodec>,
    /// How rows are spread, if by hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_bucket_partition_strategy: Option<EventBuckets>,
    /// How rows are spread, if by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range_partition_strategy: Option<TimeRanges>,
    /// Why they are spread so, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strategy_reason: String,
    /// What was read back from the targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The targets, as far as they were read back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<TargetPartition>,
}

/// Targets by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventBuckets {
    /// How many.
    pub target_event_buckets: u16,
    /// The event bucket of the first.
    pub start_event_bucket: u32,
}

/// Targets by time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeRanges {
    /// Where the second begins, and so on.
    pub boundaries: Vec<i64>,
    /// The event bucket of the first.
    pub start_event_bucket: u32,
}

impl PostSplit {
    /// Targets in a table, from an event bucket on.
    pub fn new(
        time_slice: String,
        packing: Option<Packing>,
        strategy: &Strategy,
        start_event_bucket: u32,
    ) -> Self {
        let (mut by_hash, mut by_time) = (None, None);
        match strategy {
            Strategy::EventBucket { target_event_buckets } => {
                let target_event_buckets = *target_event_buckets;
                by_hash = Some(EventBuckets { target_event_buckets, start_event_bucket });
            }
            Strategy::TimeRange { boundaries } => {
                by_time = Some(TimeRanges { boundaries: boundaries.clone(), start_event_bucket });
            }
        }
        Self {
            time_slice,
            layout: if packing.is_some() { TargetLayout::Packed } else { TargetLayout::Rows },
            chunk_bytes: packing.map(|packing| packing.chunk_bytes),
            codec: packing.map(|packing| packing.codec),
            event_bucket_partition_strategy: by_hash,
            time_range_partition_strategy: by_time,
            strategy_reason: String::new(),
            digest: None,
            partitions: Vec::new(),
        }
    }

    /// How chunks are made; none where targets are not packed, or the record does not say.
    pub fn packing(&self) -> Option<Packing> {
        let (chunk_bytes, codec) = self.chunk_bytes.zip(self.codec)?;
        (self.layout == TargetLayout::Packed).then_some(Packing { chunk_bytes, codec })
    }

    /// How rows are spread, and the event bucket of the first target; none if the record says neither.
    pub fn strategy(&self) -> Option<(Strategy, u32)> {
        let by_hash = self.event_bucket_partition_strategy.map(|by_hash| {
            let strategy = Strategy::EventBucket { target_event_buckets: by_hash.target_event_buckets };
            (strategy, by_hash.start_event_bucket)
        });
        let by_time = || {
            self.time_range_partition_strategy.as_ref().map(|by_time| {
                let strategy = Strategy::TimeRange { boundaries: by_time.boundaries.clone() };
                (strategy, by_time.start_event_bucket)
            })
        };
        by_hash.or_else(by_time)
    }
}

/// One target, as it was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetPartition {
    /// Its event bucket.
    pub event_bucket: u32,
    /// Rows, one per item.
    pub rows: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// Rows as handed to the store.
    pub stored_rows: u64,
    /// Their bytes.
    pub stored_bytes: u64,
}

/// How far a step has come. Only the attempt and the step that wrote it may go on from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Of which attempt.
    pub attempt: u32,
    /// Of which step.
    pub phase: Phase,
    /// Of which target, counted from 0, where the step goes from one to the next.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub target: u32,
    /// What was read so far; its oldest key is where to go on.
    pub digest: Digest,
    /// When, on the worker's clock.
    pub time: i64,
}

/// A step that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// The origin is read.
    Plan,
    /// The origin is read and the targets are written.
    Copy,
    /// The targets are read back.
    VerifyTargets,
    /// The origin is read again.
    VerifyOrigin,
}

/// Why something is as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// For programs.
    pub code: Reason,
    /// For people.
    pub message: String,
    /// The first key in which copies differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
}

impl Why {
    /// A reason in words.
    pub fn new(code: Reason, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), key: None }
    }
}

/// A step from one state to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The state that began.
    pub state: State,
    /// When, on the clock of whoever did it.
    pub time: i64,
    /// Which server did it.
    pub server: String,
    /// In which attempt.
    pub attempt: u32,
    /// Why, where that is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Why>,
}

/// A comparison of the origin with its targets after the split was completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recheck {
    /// When.
    pub time: i64,
    /// What the origin held.
    pub origin: Digest,
    /// Whether the targets held the same.
    pub equal: bool,
}

/// Targets that nobody reads and that are to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Garbage {
    /// The event bucket of the first.
    pub start_event_bucket: u32,
    /// How many.
    pub targets: u32,
    /// Not before this time.
    pub after: i64,
}
