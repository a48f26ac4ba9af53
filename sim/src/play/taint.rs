//! Damage that was done to targets which may have been read back already: they may be completed, and served, until a comparison
//! takes the split out of use. So what is read from such targets is not judged, and nothing else is excused by it.

use std::collections::BTreeMap;
use std::time::Duration;

use split::{Record, State};

use super::records::name;

/// All such damage, by split and attempt.
#[derive(Default)]
pub(super) struct Taints {
    all: BTreeMap<(String, u32), Taint>,
}

struct Taint {
    space: String,
    series: String,
    /// Since when no server may read the targets; none as long as one may.
    over: Option<Duration>,
}

impl Taints {
    /// The targets of this attempt were damaged.
    pub(super) fn add(&mut self, record: &Record) {
        let (space, series) = (record.namespace.clone(), record.pre_split_data.time_series_id.clone());
        self.all.entry((name(record), record.attempt)).or_insert(Taint { space, series, over: None });
    }

    /// Whether those of this attempt were.
    pub(super) fn has(&self, record: &Record) -> bool {
        self.all.contains_key(&(name(record), record.attempt))
    }

    /// A split became this; none where nothing is left of it.
    pub(super) fn saw(&mut self, split: &str, now: Duration, record: Option<&Record>) {
        for ((_, attempt), taint) in self.all.iter_mut().filter(|((other, _), _)| other == split) {
            let may_be_read = record.is_some_and(|record| {
                record.attempt == *attempt
                    && matches!(record.state, State::Verifying | State::Completed | State::Retiring)
            });
            if !may_be_read {
                taint.over = taint.over.or(Some(now));
            }
        }
    }

    /// Whether a read of these series that began then may have met any.
    pub(super) fn may_be_met(&self, space: &str, series: &[&str], begun: Duration) -> bool {
        self.all.values().any(|taint| {
            taint.space == space
                && series.contains(&taint.series.as_str())
                && taint.over.is_none_or(|over| begun <= over)
        })
    }
}
