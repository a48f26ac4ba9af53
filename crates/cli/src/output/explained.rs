//! What a read did: slices as records, and all of it as a tree for people.

mod tree;

use api::v1;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

pub(crate) use tree::Tree;

/// A slice that was visited; in CSV its partitions.
#[derive(Debug)]
pub(crate) struct ExplainedRecord<'a>(pub &'a v1::ExplainedSlice);

impl Record for ExplainedRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["TABLE", "TIME", "SHAPE"];
    const FIELDS: &'static [&'static str] = &[
        "table",
        "time_bucket",
        "start",
        "end",
        "event_bucket",
        "filter",
        "cache",
        "route",
        "rows",
        "bytes",
        "store_calls",
        "time_taken",
        "targets",
        "fallback",
    ];

    fn row(&self) -> Vec<String> {
        let seconds = u64::try_from(self.0.seconds_per_bucket).unwrap_or(0);
        let width = value::duration(std::time::Duration::from_secs(seconds));
        vec![
            value::printable(&self.0.table).into_owned(),
            value::interval(self.0.time_interval.as_ref()),
            format!("time buckets of {width}, {} event buckets each", self.0.buckets_per_id),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let line = |bucket: &v1::ExplainedTimeBucket, partition: &v1::ExplainedPartition| {
            let interval = bucket.time_interval.unwrap_or_default();
            vec![
                self.0.table.clone(),
                bucket.time_bucket.to_string(),
                value::time(interval.start),
                value::time(interval.end),
                partition.event_bucket.to_string(),
                partition.filter.clone(),
                partition.cache.clone(),
                partition.route.clone(),
                partition.rows.to_string(),
                partition.bytes.to_string(),
                partition.store_calls.to_string(),
                value::duration(value::from_wire(partition.time_taken)),
                numbers(&partition.targets),
                partition.fallback.clone(),
            ]
        };
        let buckets = self.0.time_buckets.iter();
        buckets
            .flat_map(|bucket| bucket.event_buckets.iter().map(move |partition| line(bucket, partition)))
            .collect()
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// Numbers of event buckets.
fn numbers(buckets: &[i32]) -> String {
    buckets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::tree::tests::{bucket, slice};
    use super::*;

    #[test]
    fn csv_has_a_line_for_each_partition() {
        let slice = slice("data_1", vec![bucket(1, &[3, 0]), bucket(0, &[0, 7])]);
        let record = ExplainedRecord(&slice);
        let lines: Vec<String> = record.lines().into_iter().map(|line| line.join(",")).collect();
        assert_eq!(
            lines,
            [
                "data_1,1,1970-01-01T01:00:00Z,1970-01-01T02:00:00Z,0,NONE,NOT_ASKED,ORIGIN,3,300,1,1ms,,",
                "data_1,1,1970-01-01T01:00:00Z,1970-01-01T02:00:00Z,1,NONE,NOT_ASKED,ORIGIN,0,0,1,1ms,,",
                "data_1,0,1970-01-01T00:00:00Z,1970-01-01T01:00:00Z,0,NONE,NOT_ASKED,ORIGIN,0,0,1,1ms,,",
                "data_1,0,1970-01-01T00:00:00Z,1970-01-01T01:00:00Z,1,NONE,NOT_ASKED,ORIGIN,7,700,1,1ms,,",
            ]
        );
        assert_eq!(record.lines()[0].len(), ExplainedRecord::FIELDS.len());
        let mut routed = slice.clone();
        let partition = &mut routed.time_buckets[0].event_buckets[0];
        (partition.targets, partition.fallback) = (vec![16, 18], "NO_LEASE".to_owned());
        assert_eq!(ExplainedRecord(&routed).lines()[0][12..], ["16 18", "NO_LEASE"]);
        let row =
            "data_1 1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z time buckets of 1h, 2 event buckets each";
        assert_eq!(record.row().join(" "), row);
        assert_eq!(record.row().len(), ExplainedRecord::COLUMNS.len());
    }
}
