//! Slices as they are listed.

use engine::SliceInfo;
use model::time::NANOS_PER_SECOND;

use super::namespace::storage_to_wire;
use super::time::timestamp_to_wire;
use crate::admin::v1;

/// A slice as it is listed.
pub fn slice_to_wire(info: SliceInfo) -> v1::Slice {
    let width = (info.slice.end() - info.slice.start()) / NANOS_PER_SECOND;
    v1::Slice {
        table: info.table,
        start: Some(timestamp_to_wire(info.slice.start())),
        end: Some(timestamp_to_wire(info.slice.end())),
        shape: Some(v1::Shape {
            seconds_per_slice: u32::try_from(width).unwrap_or(u32::MAX),
            seconds_per_bucket: info.shape.seconds_per_bucket,
            buckets_per_id: u32::from(info.shape.buckets_per_id),
        }),
        state: info.state.as_str().to_owned(),
        storage: Some(storage_to_wire(info.storage)),
    }
}

#[cfg(test)]
mod tests {
    use engine::{Compaction, Compression, SliceState, Storage};
    use model::{ShapeSpec, Timeline, Timestamp};
    use prost_types::Timestamp as Wire;

    use super::*;

    #[test]
    fn a_slice_shows_its_time_and_what_it_was_made_with() {
        let time = Timestamp::from_parts(1_774_700_000, 0).unwrap();
        let slice = Timeline::new(86_400).unwrap().slice_of(time);
        let shape = ShapeSpec { seconds_per_bucket: 600, ..ShapeSpec::default() }.freeze().unwrap();
        let storage = Storage { compaction: Compaction::Unified, compression: Compression::None };
        let (table, state) = ("data_20260328".to_owned(), SliceState::Closed);
        let info = SliceInfo { table, slice, shape, storage, state };
        let expect = v1::Slice {
            table: "data_20260328".to_owned(),
            start: Some(Wire { seconds: 1_774_656_000, nanos: 0 }),
            end: Some(Wire { seconds: 1_774_742_400, nanos: 0 }),
            shape: Some(v1::Shape { seconds_per_slice: 86_400, seconds_per_bucket: 600, buckets_per_id: 4 }),
            state: "CLOSED".to_owned(),
            storage: Some(v1::Storage { compaction: "unified".to_owned(), compression: "none".to_owned() }),
        };
        assert_eq!(slice_to_wire(info), expect);
    }
}
