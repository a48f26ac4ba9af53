//! Splits as they are listed, what they come to, and the widest partitions.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Interval, NamespaceName, PartitionKey};
use split::{CoverLayout, PostSplit, SplitId, State};
use store::Enumerate;

use super::records::Stored;
use super::scan::{Pages, Part};
use super::splits::{Splits, layout_of};
use crate::catalog::Dataset;
use crate::catalog::record::decode;
use crate::request::{Split, SplitFilter, SplitPage, SplitSummary, WidePartition};
use crate::{Error, Reason, Result};

/// Splits on one page at most.
const PAGE_MAX: usize = 1_000;
/// Partitions that are asked for at once while all are measured.
const ENUMERATED: usize = 1_000;

impl Splits {
    /// Splits of a namespace, behind `after`.
    pub(crate) async fn list(
        &self,
        name: &NamespaceName,
        filter: &SplitFilter,
        after: Option<&str>,
        splits_max: usize,
    ) -> Result<SplitPage> {
        let dataset = self.catalog.find_or_look(name).await?;
        let which = (name.clone(), dataset.namespace.incarnation);
        let splits_max = splits_max.clamp(1, PAGE_MAX);
        let after = after.map(|after| self.id(&dataset, after)).transpose()?;
        let mut page = SplitPage::default();
        for (table, groups) in self.catalog.split_groups(&which).await? {
            let is_wanted = filter.table.as_ref().is_none_or(|wanted| *wanted == table);
            if !is_wanted || after.as_ref().is_some_and(|after| table < after.time_slice) {
                continue;
            }
            for group in groups {
                let place = after.as_ref().filter(|after| after.time_slice == table);
                if place.is_some_and(|after| group < after.group()) {
                    continue;
                }
                let behind = place.filter(|after| after.group() == group).map(SplitId::name);
                for stored in
                    self.catalog.range_after(group.as_bytes(), behind.as_deref().map(str::as_bytes)).await?
                {
                    let split = shown(Stored { record: decode(&stored.value)?, version: stored.version });
                    if !matches(filter, &split) {
                        continue;
                    }
                    if page.splits.len() == splits_max {
                        page.next = page.splits.last().map(|last| last.id.clone());
                        return Ok(page);
                    }
                    page.splits.push(split);
                }
            }
        }
        Ok(page)
    }

    /// What splits have done to a namespace so far.
    pub(crate) async fn summary(&self, name: &NamespaceName) -> Result<SplitSummary> {
        let dataset = self.catalog.find_or_look(name).await?;
        let mut summary = SplitSummary { paused: dataset.record.splits_paused, ..SplitSummary::default() };
        let mut states: BTreeMap<State, u64> = BTreeMap::new();
        for split in self.all(&dataset).await? {
            let record = split.record;
            *states.entry(record.state).or_default() += 1;
            let post = record.post_split_data.as_ref();
            let targets = || post.into_iter().flat_map(|post: &PostSplit| &post.partitions);
            let has_targets = matches!(record.state, State::Completed | State::Retiring);
            if has_targets || !record.garbage.is_empty() {
                summary.doubled_bytes += targets().map(|target| target.stored_bytes).sum::<u64>();
            }
            if record.state == State::Completed {
                let origin = record.pre_split_data.digest.map_or(0, |digest| digest.bytes);
                summary.origin_bytes += origin;
                summary.largest_origin_bytes = summary.largest_origin_bytes.max(origin);
                let largest = targets().map(|target| target.stored_bytes).max().unwrap_or(0);
                summary.largest_target_bytes = summary.largest_target_bytes.max(largest);
            }
        }
        summary.states = states.into_iter().collect();
        Ok(summary)
    }

    /// Counts the splits of all namespaces, for the metrics.
    pub(crate) async fn count(&self) -> Result<()> {
        let mut states: BTreeMap<State, u64> = BTreeMap::new();
        for dataset in self.catalog.all() {
            for split in self.all(&dataset).await? {
                *states.entry(split.record.state).or_default() += 1;
            }
        }
        self.metrics.counted(&states);
        Ok(())
    }

    /// Every split of a namespace.
    async fn all(&self, dataset: &Dataset) -> Result<Vec<Split>> {
        let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
        let mut all = Vec::new();
        for (_, groups) in self.catalog.split_groups(&which).await? {
            for group in groups {
                for stored in self.catalog.range(group.as_bytes()).await? {
                    all.push(shown(Stored { record: decode(&stored.value)?, version: stored.version }));
                }
            }
        }
        Ok(all)
    }

    /// The widest partitions that are known.
    pub(crate) async fn widest(
        &self,
        name: &NamespaceName,
        table: Option<&str>,
        measure: bool,
        partitions_max: usize,
    ) -> Result<Vec<WidePartition>> {
        let dataset = self.catalog.find_or_look(name).await?;
        let mut known: BTreeMap<(String, PartitionKey), WidePartition> = BTreeMap::new();
        for split in self.all(&dataset).await? {
            let Some(id) = split.record.id() else { continue };
            if table.is_some_and(|table| table != id.time_slice) {
                continue;
            }
            let pre = &split.record.pre_split_data;
            let bytes = pre.digest.as_ref().map(|digest| digest.bytes).or(pre.bytes_read).unwrap_or(0);
            let state = Some(split.record.state);
            let wide = WidePartition { table: id.time_slice, partition: id.partition, bytes, state };
            known.insert((wide.table.clone(), wide.partition.clone()), wide);
        }
        let mut widest: Vec<WidePartition> = known.values().cloned().collect();
        let partitions_max = partitions_max.clamp(1, PAGE_MAX);
        if let Some(table) = table.filter(|_| measure) {
            for wide in self.measure(&dataset, table, partitions_max).await? {
                if !known.contains_key(&(wide.table.clone(), wide.partition.clone())) {
                    widest.push(wide);
                }
            }
        }
        widest.sort_by_key(|wide| Reverse(wide.bytes));
        widest.truncate(partitions_max);
        Ok(widest)
    }

    /// Reads all partitions of a slice; the widest.
    async fn measure(
        &self,
        dataset: &Dataset,
        table: &str,
        partitions_max: usize,
    ) -> Result<Vec<WidePartition>> {
        let layout = layout_of(dataset, table).ok_or_else(|| no_slice(dataset, table))?;
        let consistency = dataset.namespace.spec.consistency;
        let mut request =
            Enumerate { table: dataset.table(&layout), after: None, partitions_max: ENUMERATED, consistency };
        let mut widest = Vec::new();
        loop {
            let page = self.store.enumerate(request.clone()).await?;
            request.after = page.partitions.last().cloned();
            for partition in page.partitions {
                let (from, interval) = (request.table.clone(), Interval::ALL);
                let layout = CoverLayout::Rows;
                let part = Part { table: from, partition: partition.clone(), interval, consistency, layout };
                let mut pages = Pages::all(&self.store, part);
                let mut bytes = 0;
                while let Some(page) = pages.next().await? {
                    bytes += page.bytes;
                    self.throttle.take(&*self.env.clock, page.bytes).await;
                }
                widest.push(WidePartition { table: table.to_owned(), partition, bytes, state: None });
            }
            widest.sort_by_key(|wide| Reverse(wide.bytes));
            widest.truncate(partitions_max);
            if !page.more {
                return Ok(widest);
            }
        }
    }

    /// The split that people call this.
    pub(super) fn id(&self, dataset: &Dataset, text: &str) -> Result<SplitId> {
        SplitId::parse(&dataset.namespace.name, dataset.namespace.incarnation, text).ok_or_else(|| {
            let problem =
                format!("`{text}` is not like data_20260328/7/2/profileId:123; see `braid split list`");
            Error::field("id", problem)
        })
    }
}

/// The namespace has no such slice.
pub(super) fn no_slice(dataset: &Dataset, table: &str) -> Error {
    let name = dataset.namespace.name.as_str();
    let message = format!("namespace `{name}` has no slice `{table}`; see `braid slices list -n {name}`");
    Error::new(Reason::SliceNotFound, message)
}

/// A split as it is shown.
pub(super) fn shown(stored: Stored) -> Split {
    let Stored { record, version } = stored;
    let id = record.id().map(|id| id.to_string()).unwrap_or_default();
    Split { id, record, etag: version.0.to_string() }
}

fn matches(filter: &SplitFilter, split: &Split) -> bool {
    let pre = &split.record.pre_split_data;
    (filter.states.is_empty() || filter.states.contains(&split.record.state))
        && filter.series.as_ref().is_none_or(|series| series.as_str() == pre.time_series_id)
}
