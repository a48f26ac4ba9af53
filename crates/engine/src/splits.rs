//! Splits: what operators ask of them.

use std::time::Duration;

use model::{NamespaceName, PartitionKey};
use split::Detection;

use crate::request::{Split, SplitAsk, SplitFilter, SplitPage, SplitSummary, WidePartition};
use crate::{Engine, Result};

impl Engine {
    /// Waits until a read has found a wide partition, perhaps; then [`Engine::take_detections`] is due.
    pub async fn detection(&self) {
        self.splits.detector.news().await;
    }

    /// Makes candidates of what reads have found; gives back how many detections there were.
    pub async fn take_detections(&self) -> Result<usize> {
        self.splits.take_detections().await
    }

    /// Takes out what a read has found, to carry it elsewhere; whoever gets it there hands it to [`Engine::note_detection`].
    pub fn hand_over_detection(&self) -> Option<Detection> {
        self.splits.hand_over()
    }

    /// Makes a candidate, durably, of what some server has found so long ago. False where it names nothing that exists, or
    /// nothing that is wide by the namespace's threshold.
    pub async fn note_detection(&self, detection: &Detection, age: Duration) -> Result<bool> {
        self.splits.note(detection, age).await
    }

    /// Counts a detection that got lost on its way; a later read finds the partition again.
    pub fn drop_detection(&self) {
        self.splits.metrics.dropped();
    }

    /// How many got lost since the start.
    pub fn detections_dropped(&self) -> u64 {
        self.splits.metrics.dropped_so_far()
    }

    /// Takes up one thing that is due of any split, and brings it to its end; whether there was any. As many of these may run
    /// at once as [`Engine::splits_at_once`] says.
    pub async fn work_on_splits(&self) -> Result<bool> {
        self.splits.work_once().await
    }

    /// Counts the splits of all namespaces, for the metrics. To be called now and then.
    pub async fn count_splits(&self) -> Result<()> {
        self.splits.count().await
    }

    /// Waits until this server has made work for [`Engine::work_on_splits`]; other servers make some too.
    pub async fn split_work(&self) {
        self.splits.work.notified().await;
    }

    /// Splits that this server may work on at once.
    pub fn splits_at_once(&self) -> usize {
        self.splits.limits.at_once
    }

    /// Splits of a namespace, behind `after`, at most `splits_max`.
    pub async fn list_splits(
        &self,
        name: &NamespaceName,
        filter: &SplitFilter,
        after: Option<&str>,
        splits_max: usize,
    ) -> Result<SplitPage> {
        self.splits.list(name, filter, after, splits_max).await
    }

    /// What splits have done to a namespace so far.
    pub async fn split_summary(&self, name: &NamespaceName) -> Result<SplitSummary> {
        self.splits.summary(name).await
    }

    /// One split.
    pub async fn get_split(&self, name: &NamespaceName, id: &str) -> Result<Split> {
        self.splits.get(name, id).await
    }

    /// Asks for a partition to be split. Refused with `SPLIT_NOT_IMMUTABLE` while its time is open; what else speaks against
    /// it is found by the planner and told by the split.
    pub async fn create_split(
        &self,
        name: &NamespaceName,
        table: &str,
        partition: &PartitionKey,
        asked: SplitAsk,
    ) -> Result<Split> {
        Box::pin(self.splits.create(name, (table, partition), asked, &self.cause)).await
    }

    /// Tries a split again that failed, was rejected or retired. Where a layout is asked for, a completed one is taken out of use
    /// and made anew.
    pub async fn retry_split(&self, name: &NamespaceName, id: &str, asked: SplitAsk) -> Result<Split> {
        Box::pin(self.splits.retry(name, id, asked, &self.cause)).await
    }

    /// Compares the origin of a completed split with its targets, now.
    pub async fn verify_split(&self, name: &NamespaceName, id: &str) -> Result<Split> {
        self.splits.verify(name, id).await
    }

    /// Takes a completed split out of use; its targets are deleted later.
    pub async fn retire_split(&self, name: &NamespaceName, id: &str, validate_only: bool) -> Result<Split> {
        Box::pin(self.splits.retire(name, id, validate_only, &self.cause)).await
    }

    /// Makes workers leave a namespace alone, or all of them; gives back which.
    pub async fn pause_splits(&self, name: Option<&NamespaceName>) -> Result<Vec<NamespaceName>> {
        self.splits.set_paused(name, true, &self.cause).await
    }

    /// Lets them go on.
    pub async fn resume_splits(&self, name: Option<&NamespaceName>) -> Result<Vec<NamespaceName>> {
        self.splits.set_paused(name, false, &self.cause).await
    }

    /// The widest partitions that are known, widest first: those that reads have found and workers have read; of one slice
    /// also, if `measure` says so, all others, by reading all of it.
    pub async fn wide_partitions(
        &self,
        name: &NamespaceName,
        table: Option<&str>,
        measure: bool,
        partitions_max: usize,
    ) -> Result<Vec<WidePartition>> {
        self.splits.widest(name, table, measure, partitions_max).await
    }
}
