//! Histograms of partition sizes as rows.

use api::admin::v1::PartitionHistogram;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// The histogram of a slice in a list.
#[derive(Debug)]
pub(crate) struct HistogramRecord<'a>(pub &'a PartitionHistogram);

impl HistogramRecord<'_> {
    /// As nodetool orders them.
    fn sizes(&self) -> [i64; 7] {
        let PartitionHistogram { p50, p75, p95, p98, p99, min, max, .. } = self.0;
        [*p50, *p75, *p95, *p98, *p99, *min, *max]
    }
}

impl Record for HistogramRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["TABLE", "P50", "P75", "P95", "P98", "P99", "MIN", "MAX", "PARTITIONS", "QUALITY", "SOURCE"];
    const FIELDS: &'static [&'static str] = &[
        "table",
        "start",
        "p50",
        "p75",
        "p95",
        "p98",
        "p99",
        "min",
        "max",
        "partitions",
        "quality",
        "source",
        "observed",
        "nodes_missing",
    ];

    fn row(&self) -> Vec<String> {
        let mut row = vec![value::printable(&self.0.table).into_owned()];
        row.extend(self.sizes().map(|bytes| value::size(u64::try_from(bytes).unwrap_or(0))));
        row.push(self.0.partitions.to_string());
        row.push(value::printable(&self.0.quality).into_owned());
        let source = value::printable(&self.0.source);
        row.push(match u64::try_from(self.0.nodes_missing) {
            Ok(missing @ 1..) => format!("{source}, {} missing", value::count(missing, "node")),
            _ => source.into_owned(),
        });
        row
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let mut line = vec![self.0.table.clone(), value::time(self.0.start)];
        line.extend(self.sizes().map(|bytes| bytes.to_string()));
        line.extend([
            self.0.partitions.to_string(),
            self.0.quality.clone(),
            self.0.source.clone(),
            value::time(self.0.observed),
            self.0.nodes_missing.to_string(),
        ]);
        vec![line]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram() -> PartitionHistogram {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        PartitionHistogram {
            table: "data_20260511".to_owned(),
            start: at(1_778_457_600),
            p50: 1_024,
            p75: 2_048,
            p95: 1_955_666,
            p98: 1_955_666,
            p99: 10_090_808,
            min: 5,
            max: 129_557_750,
            partitions: 601,
            buckets: Vec::new(),
            quality: "PER_FILE".to_owned(),
            source: "jolokia".to_owned(),
            observed: at(1_778_544_000),
            nodes_missing: 0,
        }
    }

    #[test]
    fn sizes_are_readable_in_a_table_and_bytes_in_csv() {
        let found = histogram();
        let record = HistogramRecord(&found);
        assert_eq!(
            record.row(),
            [
                "data_20260511",
                "1.0 KiB",
                "2.0 KiB",
                "1.8 MiB",
                "1.8 MiB",
                "9.6 MiB",
                "5 B",
                "123.5 MiB",
                "601",
                "PER_FILE",
                "jolokia"
            ]
        );
        assert_eq!(
            record.lines().concat().join(","),
            "data_20260511,2026-05-11T00:00:00Z,1024,2048,1955666,1955666,10090808,5,129557750,601,PER_FILE,\
             jolokia,2026-05-12T00:00:00Z,0"
        );
        assert_eq!(record.lines().concat().len(), HistogramRecord::FIELDS.len());
        assert_eq!(record.row().len(), HistogramRecord::COLUMNS.len());
    }

    #[test]
    fn nodes_that_did_not_answer_are_told() {
        let found = PartitionHistogram { nodes_missing: 2, ..histogram() };
        assert_eq!(HistogramRecord(&found).row().last().unwrap(), "jolokia, 2 nodes missing");
    }
}
