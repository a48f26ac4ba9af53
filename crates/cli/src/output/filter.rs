//! Filters as rows, and what they say of partitions.

use std::time::Duration;

use api::admin::v1::{Filter, ProbedPartition};

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A filter in a list.
#[derive(Debug)]
pub(crate) struct FilterRecord<'a>(pub &'a Filter);

impl Record for FilterRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["NAMESPACE", "SLICE", "SPLITS", "SIZE", "VERSION", "AGE", "WRONG"];
    const FIELDS: &'static [&'static str] =
        &["namespace", "time_slice", "elements", "size_bytes", "version", "age", "false_positives"];

    fn row(&self) -> Vec<String> {
        let whole = Duration::from_secs(value::from_wire(self.0.age).as_secs());
        vec![
            value::printable(&self.0.namespace).into_owned(),
            value::printable(&self.0.time_slice).into_owned(),
            self.0.elements.to_string(),
            value::size(u64::try_from(self.0.size_bytes).unwrap_or(0)),
            self.0.version.to_string(),
            value::duration(whole),
            self.0.false_positives.to_string(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![vec![
            self.0.namespace.clone(),
            self.0.time_slice.clone(),
            self.0.elements.to_string(),
            self.0.size_bytes.to_string(),
            self.0.version.to_string(),
            value::duration(value::from_wire(self.0.age)),
            self.0.false_positives.to_string(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// A partition that was probed.
#[derive(Debug)]
pub(crate) struct ProbeRecord<'a>(pub &'a ProbedPartition);

impl ProbeRecord<'_> {
    /// Whether the filter lets it through.
    pub(crate) fn may_be_split(&self) -> bool {
        self.0.filter == "YES"
    }

    /// Whether it would be read from targets.
    pub(crate) fn is_target(&self) -> bool {
        self.0.route == "TARGET"
    }
}

impl Record for ProbeRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SLICE", "TIME BUCKET", "EVENT BUCKET", "FILTER", "STATE", "ROUTE", "FALLBACK"];
    const FIELDS: &'static [&'static str] =
        &["time_slice", "time_bucket", "event_bucket", "filter", "state", "route", "fallback"];

    fn row(&self) -> Vec<String> {
        self.lines().concat().iter().map(|cell| value::printable(cell).into_owned()).collect()
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let ProbedPartition { time_slice, time_bucket, event_bucket, filter, state, route, fallback } =
            self.0;
        vec![vec![
            time_slice.clone(),
            time_bucket.to_string(),
            event_bucket.to_string(),
            filter.clone(),
            state.clone(),
            route.clone(),
            fallback.clone(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_shows_how_large_old_and_wrong_it_is() {
        let filter = Filter {
            namespace: "plays".to_owned(),
            time_slice: "data_20260328".to_owned(),
            elements: 3,
            size_bytes: 2_048,
            version: 9,
            age: Some(prost_types::Duration { seconds: 4, nanos: 5 }),
            false_positives: 1,
        };
        let record = FilterRecord(&filter);
        assert_eq!(record.row().join(" "), "plays data_20260328 3 2.0 KiB 9 4s 1");
        assert_eq!(record.lines().concat().join(","), "plays,data_20260328,3,2048,9,4s5ns,1");
        assert_eq!(record.lines().concat().len(), FilterRecord::FIELDS.len());
        assert_eq!(record.row().len(), FilterRecord::COLUMNS.len());
    }

    #[test]
    fn a_partition_shows_its_way() {
        let partition = ProbedPartition {
            time_slice: "data_20260328".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            filter: "YES".to_owned(),
            state: "COMPLETED".to_owned(),
            route: "ORIGIN".to_owned(),
            fallback: "NO_LEASE".to_owned(),
        };
        let record = ProbeRecord(&partition);
        assert_eq!(record.row().join(" "), "data_20260328 7 2 YES COMPLETED ORIGIN NO_LEASE");
        assert_eq!(record.lines().concat().len(), ProbeRecord::FIELDS.len());
        assert_eq!(record.row().len(), ProbeRecord::COLUMNS.len());
        assert!(record.may_be_split() && !record.is_target());
    }
}
