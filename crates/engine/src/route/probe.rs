//! Filters as operators see them, and what they say of one series.

use std::time::Duration;

use model::{Interval, NamespaceName, PartitionKey, SeriesId};
use split::State;

use super::router::{Choice, Router, Seen, id_of};
use super::way::Fallback;
use crate::{Error, Reason, Result};

/// Partitions that one probe asks about.
const PARTITIONS_MAX: usize = 1_000;

/// The filter of one slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterInfo {
    /// Whose.
    pub namespace: NamespaceName,
    /// The table of the slice.
    pub table: String,
    /// Splits in it, about.
    pub elements: u64,
    /// Memory that it takes.
    pub bytes: u64,
    /// Which version of the slice's splits it is.
    pub version: u64,
    /// How long ago it was read.
    pub age: Duration,
    /// How often it let something through that was never split.
    pub false_positives: u64,
}

/// What is known of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The table of its slice.
    pub table: String,
    /// The partition.
    pub partition: PartitionKey,
    /// Whether the filter lets it through.
    pub maybe: bool,
    /// The state of its split; none where there is none.
    pub state: Option<State>,
    /// Whether a read would be served from targets now.
    pub target: bool,
    /// Why not, where it should be.
    pub fallback: Option<Fallback>,
}

impl Router {
    /// All filters, or those of one namespace.
    pub(crate) fn list(&self, name: Option<&NamespaceName>) -> Vec<FilterInfo> {
        let (all, now) = (self.filters.all(), self.catalog.env.clock.boot());
        let wanted = all.iter().filter(|((of, _), _)| name.is_none_or(|name| name == of));
        let info = |(which, slices): (
            &super::filters::Incarnation,
            &std::sync::Arc<super::filters::SliceFilters>,
        )| {
            let namespace = which.0.clone();
            slices
                .values()
                .map(|filter| FilterInfo {
                    namespace: namespace.clone(),
                    table: filter.table.clone(),
                    elements: filter.elements() as u64,
                    bytes: filter.bytes() as u64,
                    version: filter.version,
                    age: now.since(filter.loaded),
                    false_positives: self.metrics.false_positives_of(namespace.as_str(), &filter.table),
                })
                .collect::<Vec<_>>()
        };
        wanted.flat_map(info).collect()
    }

    /// What a read of a series would meet, partition by partition.
    pub(crate) async fn probe(
        &self,
        name: &NamespaceName,
        series: &SeriesId,
        interval: Interval,
    ) -> Result<Vec<Probe>> {
        let dataset = self.catalog.find_or_look(name).await?;
        let plan = self.plan(&dataset, self.catalog.standing());
        let filters = self.filters.of(&dataset);
        let mut probes = Vec::new();
        for group in dataset.layouts.cover(interval) {
            for partition in group.partitions(series) {
                if probes.len() >= PARTITIONS_MAX {
                    let message = format!(
                        "the interval has more than {PARTITIONS_MAX} partitions of the series; ask about less time"
                    );
                    return Err(Error::new(Reason::RangeTooWide, message));
                }
                let (layout, partition) = (&group.layout, partition.key);
                let filter = filters.as_ref().and_then(|all| all.get(&layout.slice.start()));
                let maybe = filter.is_some_and(|filter| filter.may_hold(super::filter::hash_of(&partition)));
                let id = id_of(&dataset, layout, &partition);
                let record = if maybe { self.catalog.split_record(&id).await? } else { None };
                let routed = self.route(&plan, &dataset, layout, &partition).await;
                debug_assert!(maybe || routed.seen != Seen::Maybe, "filters do not shrink");
                probes.push(Probe {
                    table: id.time_slice,
                    partition,
                    maybe,
                    state: record.map(|stored| stored.record.state),
                    target: matches!(routed.choice, Choice::Targets(..)),
                    fallback: match routed.choice {
                        Choice::Back(why) => Some(why),
                        _ => None,
                    },
                });
            }
        }
        Ok(probes)
    }
}
