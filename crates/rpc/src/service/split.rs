//! `SplitService`: list, show, ask for, try again, compare, retire; pause and resume.

use api::admin::v1 as wire;
use api::convert::{
    SplitsAsked, layout_asked, new_split, one_or_all, split_named, split_to_wire, splits_request,
    splits_response,
};
use engine::{Engine, Result as Answer, SplitAsk};
use model::NamespaceName;
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::split_service_server::SplitService;

/// The service.
pub(crate) struct Splits {
    pub(crate) host: Host,
}

impl Splits {
    async fn list(&self, request: wire::ListSplitsRequest) -> Answer<wire::ListSplitsResponse> {
        let SplitsAsked { namespace, filter, after, splits_max } = splits_request(request)?;
        let engine = &self.host.engine;
        let page = engine.list_splits(&namespace, &filter, after.as_deref(), splits_max).await?;
        Ok(splits_response(page, &engine.split_summary(&namespace).await?))
    }

    async fn create(&self, request: Request<wire::CreateSplitRequest>) -> Answer<wire::Split> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (validate_only, reason) = (request.validate_only, request.reason.clone());
        let asked = SplitAsk { layout: layout_asked(&request.layout)?, validate_only };
        let (name, table, partition) = new_split(request)?;
        let split = Box::pin(engine.create_split(&name, &table, &partition, asked)).await?;
        told(validate_only, "asked for", &name, &split.id, &reason);
        Ok(split_to_wire(split))
    }

    async fn retry(&self, request: Request<wire::RetrySplitRequest>) -> Answer<wire::Split> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, id) = split_named(&request.namespace, &request.id)?;
        let asked = SplitAsk { layout: layout_asked(&request.layout)?, validate_only: request.validate_only };
        let split = Box::pin(engine.retry_split(&name, id, asked)).await?;
        told(request.validate_only, "to be tried again", &name, id, &request.reason);
        Ok(split_to_wire(split))
    }

    async fn verify(&self, request: Request<wire::VerifySplitRequest>) -> Answer<wire::Split> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, id) = split_named(&request.namespace, &request.id)?;
        let split = if request.validate_only {
            engine.get_split(&name, id).await?
        } else {
            engine.verify_split(&name, id).await?
        };
        told(request.validate_only, "compared", &name, id, &request.reason);
        Ok(split_to_wire(split))
    }

    async fn retire(&self, request: Request<wire::RetireSplitRequest>) -> Answer<wire::Split> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, id) = split_named(&request.namespace, &request.id)?;
        let split = Box::pin(engine.retire_split(&name, id, request.validate_only)).await?;
        told(request.validate_only, "retired", &name, id, &request.reason);
        Ok(split_to_wire(split))
    }

    async fn pause(&self, request: Request<wire::PauseSplitsRequest>) -> Answer<wire::PauseSplitsResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = one_or_all(&request.namespace)?;
        let which = if request.validate_only {
            would_be(&engine, name.as_ref())?
        } else {
            engine.pause_splits(name.as_ref()).await?
        };
        if !request.validate_only {
            tracing::info!(namespaces = which.len(), reason = request.reason, "splits paused");
        }
        Ok(wire::PauseSplitsResponse { namespaces: names(which) })
    }

    async fn resume(
        &self,
        request: Request<wire::ResumeSplitsRequest>,
    ) -> Answer<wire::ResumeSplitsResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = one_or_all(&request.namespace)?;
        let which = if request.validate_only {
            would_be(&engine, name.as_ref())?
        } else {
            engine.resume_splits(name.as_ref()).await?
        };
        if !request.validate_only {
            tracing::info!(namespaces = which.len(), reason = request.reason, "splits resumed");
        }
        Ok(wire::ResumeSplitsResponse { namespaces: names(which) })
    }
}

fn told(validate_only: bool, what: &str, name: &NamespaceName, split: &str, reason: &str) {
    if !validate_only {
        tracing::info!(namespace = name.as_str(), split, reason, "split {what}");
    }
}

/// The namespaces that a change would concern.
fn would_be(engine: &Engine, name: Option<&NamespaceName>) -> Answer<Vec<NamespaceName>> {
    Ok(match name {
        Some(name) => vec![engine.get_namespace(name)?.name],
        None => engine.list_namespaces().into_iter().map(|namespace| namespace.name).collect(),
    })
}

fn names(names: Vec<NamespaceName>) -> Vec<String> {
    names.iter().map(|name| name.as_str().to_owned()).collect()
}

#[tonic::async_trait]
impl SplitService for Splits {
    async fn list_splits(
        &self,
        request: Request<wire::ListSplitsRequest>,
    ) -> Result<Response<wire::ListSplitsResponse>, Status> {
        answer(self.list(request.into_inner())).await
    }

    async fn get_split(
        &self,
        request: Request<wire::GetSplitRequest>,
    ) -> Result<Response<wire::Split>, Status> {
        answer(async {
            let request = request.into_inner();
            let (name, id) = split_named(&request.namespace, &request.id)?;
            Ok(split_to_wire(self.host.engine.get_split(&name, id).await?))
        })
        .await
    }

    async fn create_split(
        &self,
        request: Request<wire::CreateSplitRequest>,
    ) -> Result<Response<wire::Split>, Status> {
        answer(self.create(request)).await
    }

    async fn retry_split(
        &self,
        request: Request<wire::RetrySplitRequest>,
    ) -> Result<Response<wire::Split>, Status> {
        answer(self.retry(request)).await
    }

    async fn verify_split(
        &self,
        request: Request<wire::VerifySplitRequest>,
    ) -> Result<Response<wire::Split>, Status> {
        answer(self.verify(request)).await
    }

    async fn retire_split(
        &self,
        request: Request<wire::RetireSplitRequest>,
    ) -> Result<Response<wire::Split>, Status> {
        answer(self.retire(request)).await
    }

    async fn pause_splits(
        &self,
        request: Request<wire::PauseSplitsRequest>,
    ) -> Result<Response<wire::PauseSplitsResponse>, Status> {
        answer(self.pause(request)).await
    }

    async fn resume_splits(
        &self,
        request: Request<wire::ResumeSplitsRequest>,
    ) -> Result<Response<wire::ResumeSplitsResponse>, Status> {
        answer(self.resume(request)).await
    }
}
