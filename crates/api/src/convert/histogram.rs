//! Histograms of partition sizes.

use engine::SliceHistogram;
use model::HistogramQuality;

use super::time::timestamp_to_wire;
use crate::admin::v1;

/// The histogram of a slice as it is shown.
pub fn histogram_to_wire(found: SliceHistogram) -> v1::PartitionHistogram {
    let size = |(bytes_max, partitions)| v1::PartitionSizes {
        bytes_max: number(bytes_max),
        partitions: number(partitions),
    };
    v1::PartitionHistogram {
        table: found.table,
        start: Some(timestamp_to_wire(found.slice.start())),
        p50: number(found.summary.p50),
        p75: number(found.summary.p75),
        p95: number(found.summary.p95),
        p98: number(found.summary.p98),
        p99: number(found.summary.p99),
        min: number(found.summary.min),
        max: number(found.summary.max),
        partitions: number(found.summary.partitions),
        buckets: found.sizes.buckets().map(size).collect(),
        quality: quality(found.quality).to_owned(),
        source: found.source.to_owned(),
        observed: Some(timestamp_to_wire(found.observed)),
        nodes_missing: i32::try_from(found.nodes_missing).unwrap_or(i32::MAX),
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) const fn quality(quality: HistogramQuality) -> &'static str {
    match quality {
        HistogramQuality::Exact => "EXACT",
        HistogramQuality::PerFile => "PER_FILE",
        HistogramQuality::Estimated => "ESTIMATED",
    }
}

#[cfg(test)]
mod tests {
    use model::{SizeHistogram, SizeSummary, Timeline, Timestamp};
    use prost_types::Timestamp as Wire;

    use super::*;

    #[test]
    fn a_histogram_shows_what_its_source_said() {
        let time = Timestamp::from_parts(1_774_700_000, 0).unwrap();
        let mut sizes = SizeHistogram::default();
        sizes.record_many(7, 3);
        sizes.record(1_000);
        let summary =
            SizeSummary { p50: 7, p75: 7, p95: 8, p98: 9, p99: 10, min: 6, max: u64::MAX, partitions: 4 };
        let found = SliceHistogram {
            table: "data_20260328".to_owned(),
            slice: Timeline::new(86_400).unwrap().slice_of(time),
            summary,
            sizes,
            quality: HistogramQuality::PerFile,
            source: "jolokia",
            nodes_missing: 1,
            observed: 1_500_000_000,
        };
        let expect = v1::PartitionHistogram {
            table: "data_20260328".to_owned(),
            start: Some(Wire { seconds: 1_774_656_000, nanos: 0 }),
            p50: 7,
            p75: 7,
            p95: 8,
            p98: 9,
            p99: 10,
            min: 6,
            max: i64::MAX,
            partitions: 4,
            buckets: vec![
                v1::PartitionSizes { bytes_max: 7, partitions: 3 },
                v1::PartitionSizes { bytes_max: 1_023, partitions: 1 },
            ],
            quality: "PER_FILE".to_owned(),
            source: "jolokia".to_owned(),
            observed: Some(Wire { seconds: 1, nanos: 500_000_000 }),
            nodes_missing: 1,
        };
        assert_eq!(histogram_to_wire(found), expect);
    }
}
