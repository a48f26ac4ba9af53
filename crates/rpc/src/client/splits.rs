//! The calls about splits.

use api::admin::v1 as admin;

use super::Client;
use super::calls::Answer;

impl Client {
    /// One page of the splits of a namespace.
    pub async fn list_splits(&self, request: admin::ListSplitsRequest) -> Answer<admin::ListSplitsResponse> {
        Ok(self.splits.clone().list_splits(request).await?.into_inner())
    }

    /// One split.
    pub async fn get_split(&self, namespace: &str, id: &str) -> Answer<admin::Split> {
        let request = admin::GetSplitRequest { namespace: namespace.to_owned(), id: id.to_owned() };
        Ok(self.splits.clone().get_split(request).await?.into_inner())
    }

    /// Asks for a partition to be split.
    pub async fn create_split(&self, request: admin::CreateSplitRequest) -> Answer<admin::Split> {
        Ok(self.splits.clone().create_split(self.asked(request)).await?.into_inner())
    }

    /// Tries a split again.
    pub async fn retry_split(&self, request: admin::RetrySplitRequest) -> Answer<admin::Split> {
        Ok(self.splits.clone().retry_split(self.asked(request)).await?.into_inner())
    }

    /// Compares the origin of a split with its targets.
    pub async fn verify_split(&self, request: admin::VerifySplitRequest) -> Answer<admin::Split> {
        Ok(self.splits.clone().verify_split(self.asked(request)).await?.into_inner())
    }

    /// Takes a split out of use.
    pub async fn retire_split(&self, request: admin::RetireSplitRequest) -> Answer<admin::Split> {
        Ok(self.splits.clone().retire_split(self.asked(request)).await?.into_inner())
    }

    /// Makes workers leave splits alone.
    pub async fn pause_splits(
        &self,
        request: admin::PauseSplitsRequest,
    ) -> Answer<admin::PauseSplitsResponse> {
        Ok(self.splits.clone().pause_splits(self.asked(request)).await?.into_inner())
    }

    /// Lets them go on.
    pub async fn resume_splits(
        &self,
        request: admin::ResumeSplitsRequest,
    ) -> Answer<admin::ResumeSplitsResponse> {
        Ok(self.splits.clone().resume_splits(self.asked(request)).await?.into_inner())
    }
}
