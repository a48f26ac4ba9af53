//! The two records of the catalog, as JSON with a version. `docs/formats/catalog.md` describes them.

use std::time::Duration;

use bytes::Bytes;
use model::{Layout, NamespaceName, Segment, Shape, ShapeSpec, Slice, Timeline};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use store::{MetaKey, Storage};

use super::setting::{StorageRecord, is_default};
use crate::{Error, NamespaceSpec, Reason, Result};

const VERSION: u32 = 1;
const NAMESPACES: &str = "namespaces";

/// A namespace, also after it was deleted: its incarnation must never be used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamespaceRecord {
    pub(crate) version: u32,
    pub(crate) incarnation: u32,
    pub(crate) deleted: bool,
    pub(crate) created: i64,
    pub(crate) spec: NamespaceSpec,
    pub(crate) segments: Vec<SegmentRecord>,
    /// Of the change that made it so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) epoch: u64,
    /// No event older than this is accepted any more, but in reopened ranges.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) closed: i64,
    /// The accept limit that servers may still use without a lease, where it is wider than the one in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_accept: Option<Duration>,
    /// The same of `close_after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_close: Option<Duration>,
    /// The same of `delete_after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_delete: Option<Duration>,
    /// The narrowest and the widest future limit that somebody may still use, where these are not the one in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_future: Option<(Duration, Duration)>,
    /// Ranges of closed time that take writes again, or soon will.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reopened: Vec<ReopenedRecord>,
    /// Workers leave its wide partitions alone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) splits_paused: bool,
    /// Of the last change by which splits went out of use: whoever has seen it reads none of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) splits_retired: u64,
    /// The newest proposal of the tuner that was decided on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) tuned: u64,
    /// Since when reads have the mode that they have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) mode: ModeRecord,
    /// Incarnations that were deleted and still have tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) leaving: Vec<u32>,
}

/// How the read mode of a namespace came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModeRecord {
    /// Of the change that began it; zero since the namespace was made. What was compared before does not count.
    pub(crate) epoch: u64,
    /// When that was, nanoseconds since 1970.
    pub(crate) since: i64,
    /// It stays until somebody says otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) held: bool,
}

/// A range of time for a backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReopenedRecord {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Announced ranges take no writes yet; no split may begin inside of one.
    pub(crate) open: bool,
    /// Of the change that announced it.
    pub(crate) announced: u64,
}

/// From `from` on, slices have this shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentRecord {
    pub(crate) from: i64,
    pub(crate) shape: crate::Shape,
}

/// A slice that exists, with its frozen shape and storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SliceRecord {
    pub(crate) version: u32,
    pub(crate) start: i64,
    pub(crate) seconds_per_slice: u32,
    pub(crate) seconds_per_bucket: u32,
    pub(crate) buckets_per_id: u16,
    pub(crate) hash_version: u8,
    pub(crate) split_stride: u16,
    #[serde(default, skip_serializing_if = "is_default", with = "StorageRecord")]
    pub(crate) storage: Storage,
    /// How far it has come.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) state: SliceStage,
    /// Of the change that made it so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) epoch: u64,
}

/// How far a slice has come. It is never forgotten: what was dropped stays dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SliceStage {
    /// Its table is being made; whoever comes by finishes.
    Making,
    /// Read and written, from the barrier of this change on.
    #[default]
    Open,
    /// Its table could not be made; the next who needs it begins anew.
    Unmade,
    /// Nobody reads or writes it; its table goes once the barrier of this change has passed.
    Dropping,
    /// Gone for ever.
    Dropped,
}

impl NamespaceRecord {
    /// A namespace that is being made.
    pub(crate) fn new(incarnation: u32, created: i64, spec: NamespaceSpec) -> Self {
        let segments = vec![SegmentRecord { from: 0, shape: spec.shape }];
        Self {
            version: VERSION,
            incarnation,
            deleted: false,
            created,
            spec,
            segments,
            epoch: 0,
            closed: 0,
            base_accept: None,
            base_close: None,
            base_delete: None,
            base_future: None,
            reopened: Vec::new(),
            splits_paused: false,
            splits_retired: 0,
            tuned: 0,
            mode: ModeRecord::default(),
            leaving: Vec::new(),
        }
    }

    /// The timeline that its segments make.
    pub(crate) fn timeline(&self) -> Result<Timeline> {
        let segment = |stored: &SegmentRecord| Segment {
            from: stored.from,
            width_seconds: stored.shape.seconds_per_slice,
        };
        Ok(Timeline::from_segments(&self.segments.iter().map(segment).collect::<Vec<_>>())?)
    }

    /// The frozen shape of slices that start at `start`.
    pub(crate) fn shape_at(&self, start: i64) -> Result<Shape> {
        let segment = self.segments.iter().rev().find(|segment| segment.from <= start);
        let asked = segment.map_or(self.spec.shape, |segment| segment.shape);
        Ok(ShapeSpec::from(asked).freeze()?)
    }
}

impl SliceRecord {
    /// The record of a slice.
    pub(crate) fn new(layout: &Layout, storage: Storage) -> Self {
        let width = (layout.slice.end() - layout.slice.start()) / model::time::NANOS_PER_SECOND;
        Self {
            version: VERSION,
            start: layout.slice.start(),
            seconds_per_slice: u32::try_from(width).unwrap_or(u32::MAX),
            seconds_per_bucket: layout.shape.seconds_per_bucket,
            buckets_per_id: layout.shape.buckets_per_id,
            hash_version: layout.shape.hash_version,
            split_stride: layout.shape.split_stride,
            storage,
            state: SliceStage::Open,
            epoch: 0,
        }
    }

    /// The slice with its shape.
    pub(crate) fn layout(&self) -> Result<Layout> {
        Ok(Layout { slice: Slice::starting(self.start, self.seconds_per_slice)?, shape: self.shape() })
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add(i64::from(self.seconds_per_slice) * model::time::NANOS_PER_SECOND)
    }

    /// The shape that was frozen.
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            seconds_per_bucket: self.seconds_per_bucket,
            buckets_per_id: self.buckets_per_id,
            hash_version: self.hash_version,
            split_stride: self.split_stride,
        }
    }
}

/// Where the record of a namespace is.
pub(crate) fn namespace_key(name: &NamespaceName) -> MetaKey {
    MetaKey::new(NAMESPACES, name.as_str().to_owned())
}

/// Where all of them are.
pub(crate) fn namespaces_group() -> &'static [u8] {
    NAMESPACES.as_bytes()
}

/// Where the slices of one incarnation are.
pub(crate) fn slices_group(name: &NamespaceName, incarnation: u32) -> String {
    format!("slices/{}.{incarnation}", name.as_str())
}

/// Whose slices a group holds, as `name.incarnation`; none if it holds other records.
pub(crate) fn incarnation_of_slices(group: &str) -> Option<&str> {
    group.strip_prefix("slices/")
}

/// Where one slice is; names order as starts do.
pub(crate) fn slice_key(name: &NamespaceName, incarnation: u32, start: i64) -> MetaKey {
    MetaKey::new(slices_group(name, incarnation), format!("{start:020}"))
}

/// The stored form of a record.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Bytes> {
    let unwritable = |error| Error::new(Reason::FieldInvalid, format!("a record cannot be written: {error}"));
    serde_json::to_vec(record).map(Bytes::from).map_err(unwritable)
}

/// Reads a record back.
pub(crate) fn decode<T: DeserializeOwned>(stored: &[u8]) -> Result<T> {
    serde_json::from_slice(stored).map_err(|error| {
        let message =
            format!("a record of the catalog does not decode ({error}); a newer version may have written it");
        Error::new(Reason::ChecksumMismatch, message)
    })
}

#[cfg(test)]
mod tests {
    use store::{Compaction, Compression, Consistency};

    use super::*;

    const GOLDEN: &str = include_str!("../../golden/catalog.txt");
    const GOLDEN_STORAGE: &str = include_str!("../../golden/catalog-storage.txt");

    #[test]
    fn records_are_written_and_read_as_they_always_were() {
        check(NamespaceSpec::default(), GOLDEN);
        assert!(decode::<SliceRecord>(b"{}").is_err());
    }

    #[test]
    fn so_are_those_that_say_something_to_the_store() {
        let storage = Storage { compaction: Compaction::TimeWindow, compression: Compression::Zstd };
        let consistency = Consistency::EachQuorum;
        check(NamespaceSpec { consistency, storage, ..NamespaceSpec::default() }, GOLDEN_STORAGE);
        let unknown = GOLDEN_STORAGE.replace("zstd", "lzma");
        for line in unknown.lines() {
            let error = decode::<SliceRecord>(line.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("a newer version may have written it"), "{error}");
        }
    }

    fn check(spec: NamespaceSpec, golden: &str) {
        let storage = spec.storage;
        let namespace = NamespaceRecord::new(3, 1_774_656_000_000_000_000, spec);
        let slice =
            namespace.timeline().unwrap().slice_of(model::Timestamp::from_nanos(namespace.created).unwrap());
        let slice = SliceRecord::new(&Layout { slice, shape: namespace.shape_at(0).unwrap() }, storage);
        let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        let written = format!("{}\n{}\n", text(encode(&namespace).unwrap()), text(encode(&slice).unwrap()));
        assert_eq!(written, golden);
        let mut lines = golden.lines();
        assert_eq!(decode::<NamespaceRecord>(lines.next().unwrap().as_bytes()).unwrap(), namespace);
        assert_eq!(decode::<SliceRecord>(lines.next().unwrap().as_bytes()).unwrap(), slice);
    }
}
