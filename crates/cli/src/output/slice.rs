//! Slices as rows.

use api::admin::v1::Slice;

use super::list::Record;
use super::namespace::{or_choice, seconds};
use super::{Json, value};
use crate::failure::Failure;

/// A slice in a list.
#[derive(Debug)]
pub(crate) struct SliceRecord<'a>(pub &'a Slice);

impl Record for SliceRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["TABLE", "START", "END", "BUCKET", "BUCKETS/ID", "COMPACTION", "COMPRESSION", "STATE"];
    const FIELDS: &'static [&'static str] = &[
        "table",
        "start",
        "end",
        "seconds_per_slice",
        "seconds_per_bucket",
        "buckets_per_id",
        "compaction",
        "compression",
        "state",
    ];

    fn row(&self) -> Vec<String> {
        let shape = self.0.shape.unwrap_or_default();
        let storage = self.0.storage.clone().unwrap_or_default();
        vec![
            value::printable(&self.0.table).into_owned(),
            value::time(self.0.start),
            value::time(self.0.end),
            seconds(shape.seconds_per_bucket),
            shape.buckets_per_id.to_string(),
            value::printable(&or_choice(&storage.compaction)).into_owned(),
            value::printable(&or_choice(&storage.compression)).into_owned(),
            value::printable(&self.0.state).into_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let shape = self.0.shape.unwrap_or_default();
        let storage = self.0.storage.clone().unwrap_or_default();
        vec![vec![
            self.0.table.clone(),
            value::time(self.0.start),
            value::time(self.0.end),
            shape.seconds_per_slice.to_string(),
            shape.seconds_per_bucket.to_string(),
            shape.buckets_per_id.to_string(),
            storage.compaction,
            storage.compression,
            self.0.state.clone(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use api::admin::v1::{Shape, Storage};

    use super::*;

    #[test]
    fn a_slice_shows_its_time_and_shape() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let slice = Slice {
            table: "data_20260511".to_owned(),
            start: at(1_778_457_600),
            end: at(1_778_544_000),
            shape: Some(Shape { seconds_per_slice: 86_400, seconds_per_bucket: 5_400, buckets_per_id: 4 }),
            state: "OPEN".to_owned(),
            storage: Some(Storage { compaction: String::new(), compression: "zstd".to_owned() }),
        };
        let record = SliceRecord(&slice);
        let times = "2026-05-11T00:00:00Z 2026-05-12T00:00:00Z";
        assert_eq!(record.row().join(" "), format!("data_20260511 {times} 1h30m 4 default zstd OPEN"));
        assert_eq!(
            record.lines().concat().join(" "),
            format!("data_20260511 {times} 86400 5400 4  zstd OPEN")
        );
        assert_eq!(record.lines().concat().len(), SliceRecord::FIELDS.len());
        assert_eq!(record.row().len(), SliceRecord::COLUMNS.len());
    }
}
