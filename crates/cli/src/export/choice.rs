//! Which partitions of a table are asked for, call by call. Pure.

use api::admin::v1 as admin;
use export::{Asked, Position, SplitLine, TableEntry, TableKind};

use super::wire::sent;

/// Partitions that one call may name.
const PARTITIONS_MAX: usize = 1_000;

/// What is asked for of one table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// All of it.
    All,
    /// All that series have.
    Series(Vec<String>),
    /// These partitions.
    Named(Vec<admin::ExportPartition>),
}

impl Choice {
    /// Of `table`, where `splits` are those of the export.
    pub(super) fn of(asked: &Asked, table: &TableEntry, splits: &[SplitLine]) -> Self {
        let origin = table.kind == TableKind::Origin;
        let checks = splits.iter().map(|line| &line.check);
        let ours = checks
            .filter(|check| if origin { &check.origin_table } else { &check.target_table } == &table.name);
        match (asked.splits.is_empty(), asked.series.is_empty()) {
            (true, true) => Self::All,
            (true, false) if origin => Self::Series(asked.series.clone()),
            _ => Self::Named(
                ours.flat_map(|check| {
                    let (first, count) = if origin {
                        (check.event_bucket, 1)
                    } else {
                        (check.start_event_bucket, check.targets)
                    };
                    (0..count).map(move |number| admin::ExportPartition {
                        time_series_id: check.time_series_id.clone(),
                        time_bucket: check.time_bucket,
                        event_bucket: first.saturating_add(number),
                    })
                })
                .collect(),
            ),
        }
    }

    /// The call that goes on at a position, and where the next call begins after it; none where it is the last.
    pub(super) fn call(
        &self,
        base: &admin::ExportRowsRequest,
        position: Option<&Position>,
    ) -> Option<(admin::ExportRowsRequest, Option<Position>)> {
        let mut call = base.clone();
        call.position = position.map(sent);
        let Self::Named(all) = self else {
            if let Self::Series(series) = self {
                call.time_series_ids.clone_from(series);
            }
            return Some((call, None));
        };
        let at = |position: &Position| all.iter().position(|one| *one == partition(position));
        let from = position.and_then(at).unwrap_or(0);
        let left = all.get(from..)?;
        let (named, rest) = left.split_at(left.len().min(PARTITIONS_MAX));
        call.partitions = named.to_vec();
        let last = named.last()?;
        let next = (!rest.is_empty()).then(|| Position {
            time_series_id: last.time_series_id.clone(),
            time_bucket: last.time_bucket,
            event_bucket: last.event_bucket,
            row: None,
        });
        Some((call, next))
    }
}

fn partition(position: &Position) -> admin::ExportPartition {
    admin::ExportPartition {
        time_series_id: position.time_series_id.clone(),
        time_bucket: position.time_bucket,
        event_bucket: position.event_bucket,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(count: u32) -> Choice {
        let one = |event_bucket| admin::ExportPartition {
            time_series_id: "s".to_owned(),
            time_bucket: 7,
            event_bucket,
        };
        Choice::Named((0..count).map(one).collect())
    }

    /// The partitions of every call, as ranges.
    fn calls(choice: &Choice, mut position: Option<Position>) -> Vec<(u32, u32, bool)> {
        let mut found = Vec::new();
        while let Some((call, next)) = choice.call(&admin::ExportRowsRequest::default(), position.as_ref()) {
            let edge = |one: Option<&admin::ExportPartition>| one.unwrap().event_bucket;
            found.push((
                edge(call.partitions.first()),
                edge(call.partitions.last()),
                call.position.is_some(),
            ));
            position = next;
            if position.is_none() {
                break;
            }
        }
        found
    }

    #[test]
    fn many_partitions_are_asked_for_in_several_calls_that_follow_each_other() {
        assert_eq!(calls(&named(3), None), [(0, 2, false)]);
        assert_eq!(calls(&named(1_000), None), [(0, 999, false)]);
        // Each goes on behind the last partition of the one before.
        assert_eq!(calls(&named(2_500), None), [(0, 999, false), (999, 1_998, true), (1_998, 2_499, true)]);
        let place =
            Position { time_series_id: "s".to_owned(), time_bucket: 7, event_bucket: 1_200, row: None };
        assert_eq!(calls(&named(2_500), Some(place)), [(1_200, 2_199, true), (2_199, 2_499, true)]);
        assert_eq!(calls(&named(0), None), []);
    }
}
