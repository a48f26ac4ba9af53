//! The calls about read modes and filters.

use api::admin::v1 as admin;

use super::Client;
use super::calls::Answer;

impl Client {
    /// How far reads of a namespace have moved to targets.
    pub async fn get_read_mode(&self, namespace: &str) -> Answer<admin::ReadMode> {
        let request = admin::GetReadModeRequest { namespace: namespace.to_owned() };
        Ok(self.read_modes.clone().get_read_mode(request).await?.into_inner())
    }

    /// Moves them on.
    pub async fn advance_read_mode(&self, request: admin::AdvanceReadModeRequest) -> Answer<admin::ReadMode> {
        Ok(self.read_modes.clone().advance_read_mode(self.asked(request)).await?.into_inner())
    }

    /// Keeps them where they are, or releases them.
    pub async fn hold_read_mode(&self, request: admin::HoldReadModeRequest) -> Answer<admin::ReadMode> {
        Ok(self.read_modes.clone().hold_read_mode(self.asked(request)).await?.into_inner())
    }

    /// Takes them back.
    pub async fn rollback_read_mode(
        &self,
        request: admin::RollbackReadModeRequest,
    ) -> Answer<admin::ReadMode> {
        Ok(self.read_modes.clone().rollback_read_mode(self.asked(request)).await?.into_inner())
    }

    /// Reads some completed splits both ways.
    pub async fn compare_read_mode(
        &self,
        request: admin::CompareReadModeRequest,
    ) -> Answer<admin::CompareReadModeResponse> {
        Ok(self.read_modes.clone().compare_read_mode(self.asked(request)).await?.into_inner())
    }

    /// The differences that were confirmed.
    pub async fn list_mismatches(&self, namespace: &str) -> Answer<admin::ListMismatchesResponse> {
        let request = admin::ListMismatchesRequest { namespace: namespace.to_owned() };
        Ok(self.read_modes.clone().list_mismatches(request).await?.into_inner())
    }

    /// The filters of a namespace, or of all where none is named.
    pub async fn list_filters(&self, namespace: &str) -> Answer<admin::ListFiltersResponse> {
        let request = admin::ListFiltersRequest { namespace: namespace.to_owned() };
        Ok(self.filters.clone().list_filters(request).await?.into_inner())
    }

    /// Reads all filters of the server anew.
    pub async fn reload_filters(
        &self,
        request: admin::ReloadFiltersRequest,
    ) -> Answer<admin::ReloadFiltersResponse> {
        Ok(self.filters.clone().reload_filters(self.asked(request)).await?.into_inner())
    }

    /// What a read of a series would meet.
    pub async fn probe_filter(
        &self,
        request: admin::ProbeFilterRequest,
    ) -> Answer<admin::ProbeFilterResponse> {
        Ok(self.filters.clone().probe_filter(request).await?.into_inner())
    }
}
