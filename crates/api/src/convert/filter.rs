//! Filters: as they are listed, and what they say of one series.

use engine::{Fallback, FilterInfo, Probe, Result};
use model::{Interval, NamespaceName, SeriesId};

use super::namespace::namespace_name;
use super::read::series_from_wire;
use super::time::{duration_to_wire, interval_from_wire};
use super::write::signed;
use crate::admin::v1;

/// Where a partition is read: as it was written.
pub(super) const ORIGIN: &str = "ORIGIN";
/// In targets.
pub(super) const TARGET: &str = "TARGET";

/// The filter of one slice.
pub fn filter_to_wire(filter: FilterInfo) -> v1::Filter {
    v1::Filter {
        namespace: filter.namespace.as_str().to_owned(),
        time_slice: filter.table,
        elements: signed(filter.elements),
        size_bytes: signed(filter.bytes),
        version: filter.version,
        age: Some(duration_to_wire(filter.age)),
        false_positives: signed(filter.false_positives),
    }
}

/// The series and the time that a request asks about; all time where it names none.
pub fn probe_request(wire: &v1::ProbeFilterRequest) -> Result<(NamespaceName, SeriesId, Interval)> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let series = series_from_wire("time_series_id", &wire.time_series_id)?;
    let interval = match wire.time_interval {
        Some(interval) => interval_from_wire(Some(interval))?,
        None => Interval::ALL,
    };
    Ok((namespace, series, interval))
}

/// What is known of one partition.
pub fn probe_to_wire(probe: Probe) -> v1::ProbedPartition {
    v1::ProbedPartition {
        time_slice: probe.table,
        time_bucket: probe.partition.time_bucket,
        event_bucket: probe.partition.event_bucket,
        filter: yes_or_no(probe.maybe).to_owned(),
        state: probe.state.map(|state| state.as_str().to_owned()).unwrap_or_default(),
        route: if probe.target { TARGET } else { ORIGIN }.to_owned(),
        fallback: fallback_to_wire(probe.fallback),
    }
}

/// What a filter says of a partition.
pub(super) const fn yes_or_no(maybe: bool) -> &'static str {
    if maybe { "YES" } else { "NO" }
}

/// Why the origin was read; empty where it should have been.
pub(super) fn fallback_to_wire(fallback: Option<Fallback>) -> String {
    fallback.map(|why| why.as_str().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ::split::State;
    use model::PartitionKey;
    use prost_types::Timestamp;

    use super::*;

    #[test]
    fn a_probe_asks_about_a_series_and_about_all_time_where_none_is_named() {
        let asked = |series: &str, interval| {
            let request = v1::ProbeFilterRequest {
                namespace: "plays".to_owned(),
                time_series_id: series.to_owned(),
                time_interval: interval,
            };
            probe_request(&request).map(|(_, series, interval)| (series.as_str().to_owned(), interval))
        };
        assert_eq!(asked("s", None).unwrap(), ("s".to_owned(), Interval::ALL));
        let at = |seconds| Some(Timestamp { seconds, nanos: 0 });
        let (_, interval) = asked("s", Some(crate::v1::TimeInterval { start: at(1), end: at(2) })).unwrap();
        assert_eq!((interval.start(), interval.end()), (1_000_000_000, 2_000_000_000));
        let refused = asked("", None).unwrap_err().to_string();
        assert!(refused.starts_with("time_series_id: "), "{refused}");
        let half = asked("s", Some(crate::v1::TimeInterval { start: at(1), end: None })).unwrap_err();
        assert!(half.to_string().starts_with("time_interval.end: is missing"), "{half}");
    }

    #[test]
    fn a_filter_shows_how_large_old_and_wrong_it_is() {
        let wire = filter_to_wire(FilterInfo {
            namespace: NamespaceName::new("plays").unwrap(),
            table: "data_20260328".to_owned(),
            elements: 3,
            bytes: 64,
            version: 9,
            age: Duration::from_millis(1_500),
            false_positives: 1,
        });
        let expect = v1::Filter {
            namespace: "plays".to_owned(),
            time_slice: "data_20260328".to_owned(),
            elements: 3,
            size_bytes: 64,
            version: 9,
            age: Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }),
            false_positives: 1,
        };
        assert_eq!(wire, expect);
    }

    #[test]
    fn a_partition_shows_its_way() {
        let probe = Probe {
            table: "data_20260328".to_owned(),
            partition: PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 7, event_bucket: 2 },
            maybe: true,
            state: Some(State::Completed),
            target: true,
            fallback: None,
        };
        let wire = probe_to_wire(probe.clone());
        let expect = v1::ProbedPartition {
            time_slice: "data_20260328".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            filter: "YES".to_owned(),
            state: "COMPLETED".to_owned(),
            route: "TARGET".to_owned(),
            fallback: String::new(),
        };
        assert_eq!(wire, expect);
        let back = probe_to_wire(Probe {
            maybe: false,
            state: None,
            target: false,
            fallback: Some(Fallback::NoLease),
            ..probe
        });
        let words = [&back.filter, &back.state, &back.route, &back.fallback];
        assert_eq!(words, ["NO", "", "ORIGIN", "NO_LEASE"]);
    }
}
