//! Read modes and filters: what operators ask of them, and what has to be done now and then.

use model::{Interval, NamespaceName, SeriesId};

use super::Engine;
use crate::namespace::ReadMode;
use crate::readmode::{Mismatch, ReadModeInfo, Swept};
use crate::route::{FilterInfo, Probe};
use crate::{Error, Reason, Result};

impl Engine {
    /// Reads filters that have changed; gives back how many. To be called every few seconds: so long it takes until reads of
    /// this server know what another one has split.
    pub async fn refresh_filters(&self) -> Result<usize> {
        self.router.load_filters(false).await
    }

    /// Reads all filters anew; gives back those of one namespace, or all.
    pub async fn reload_filters(&self, name: Option<&NamespaceName>) -> Result<Vec<FilterInfo>> {
        self.router.load_filters(true).await?;
        self.list_filters(name)
    }

    /// The filters of all slices that have splits, or those of one namespace.
    pub fn list_filters(&self, name: Option<&NamespaceName>) -> Result<Vec<FilterInfo>> {
        if let Some(name) = name {
            self.catalog.find(name)?;
        }
        Ok(self.router.list(name))
    }

    /// What a read of a series would meet: filter, split and route of each partition.
    pub async fn probe_filter(
        &self,
        name: &NamespaceName,
        series: &SeriesId,
        interval: Interval,
    ) -> Result<Vec<Probe>> {
        self.router.probe(name, series, interval).await
    }

    /// How far reads of a namespace have moved to targets, and what the next step needs.
    pub async fn read_mode(&self, name: &NamespaceName) -> Result<ReadModeInfo> {
        self.comparer.info(name).await
    }

    /// The next step, if its gates let reads through.
    pub async fn advance_read_mode(&self, name: &NamespaceName, validate_only: bool) -> Result<ReadModeInfo> {
        self.comparer.advance(name, validate_only, &self.cause).await
    }

    /// Keeps reads in their mode, or lets them go on by themselves again.
    pub async fn hold_read_mode(
        &self,
        name: &NamespaceName,
        held: bool,
        validate_only: bool,
    ) -> Result<ReadModeInfo> {
        self.comparer.hold(name, held, validate_only, &self.cause).await
    }

    /// Goes back: to shadow unless another mode is named, and from there to off. What was compared counts no more.
    pub async fn roll_back_read_mode(
        &self,
        name: &NamespaceName,
        to: Option<ReadMode>,
        validate_only: bool,
    ) -> Result<ReadModeInfo> {
        self.comparer.roll_back(name, to, validate_only, &self.cause).await
    }

    /// Reads completed splits both ways, behind `after`, so many at most. Counts as evidence.
    pub async fn compare_splits(
        &self,
        name: &NamespaceName,
        after: Option<&str>,
        splits_max: usize,
    ) -> Result<Swept> {
        if !self.is_leased() {
            let message =
                "this server has lost touch with the others, so it cannot read targets; ask another one";
            return Err(Error::new(Reason::NotReady, message));
        }
        Box::pin(self.comparer.sweep(name, after, splits_max)).await
    }

    /// Differences that a second look has confirmed, newest first.
    pub async fn mismatches(&self, name: &NamespaceName) -> Result<Vec<Mismatch>> {
        self.comparer.mismatches(name).await
    }

    /// Writes down what was compared, and moves namespaces on whose gates are passed; gives back how many moved. To be called
    /// every few seconds.
    pub async fn advance_read_modes(&self) -> Result<usize> {
        self.comparer.advance_due().await
    }
}
