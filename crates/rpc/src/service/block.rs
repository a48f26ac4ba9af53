//! `BlockService`: block, unblock, list.

use api::admin::v1 as wire;
use api::convert::{block_page, block_to_wire, namespace_name, new_blocks, unblocked};
use engine::Result as Answer;
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::block_service_server::BlockService;

/// The service.
pub(crate) struct Blocks {
    pub(crate) host: Host,
}

impl Blocks {
    async fn add(&self, request: Request<wire::AddBlockRequest>) -> Answer<wire::AddBlockResponse> {
        let (metadata, _, request) = request.into_parts();
        let author = request.blocks.first().map_or("", |block| &block.author);
        let engine = self.host.because_or(author, &metadata, &request.reason)?;
        let (validate_only, reason) = (request.validate_only, request.reason.clone());
        let (name, blocks) = new_blocks(request)?;
        let blocks = if validate_only {
            engine.check_blocks(&name, blocks)?
        } else {
            let made = engine.add_blocks(&name, blocks).await?;
            tracing::info!(namespace = name.as_str(), blocks = made.len(), reason, "ids blocked");
            made
        };
        Ok(wire::AddBlockResponse { blocks: blocks.iter().map(block_to_wire).collect() })
    }

    async fn remove(&self, request: Request<wire::RemoveBlockRequest>) -> Answer<wire::RemoveBlockResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, ids) = unblocked(&request)?;
        let blocks = if request.validate_only {
            let present = engine.list_blocks(&name)?;
            present.into_iter().filter(|block| ids.contains(&block.series)).collect()
        } else {
            let removed = engine.remove_blocks(&name, ids).await?;
            let reason = request.reason;
            tracing::info!(namespace = name.as_str(), blocks = removed.len(), reason, "ids unblocked");
            removed
        };
        Ok(wire::RemoveBlockResponse { blocks: blocks.iter().map(block_to_wire).collect() })
    }
}

#[tonic::async_trait]
impl BlockService for Blocks {
    async fn add_block(
        &self,
        request: Request<wire::AddBlockRequest>,
    ) -> Result<Response<wire::AddBlockResponse>, Status> {
        answer(self.add(request)).await
    }

    async fn remove_block(
        &self,
        request: Request<wire::RemoveBlockRequest>,
    ) -> Result<Response<wire::RemoveBlockResponse>, Status> {
        answer(self.remove(request)).await
    }

    async fn list_blocks(
        &self,
        request: Request<wire::ListBlocksRequest>,
    ) -> Result<Response<wire::ListBlocksResponse>, Status> {
        answer(async {
            let request = request.into_inner();
            let name = namespace_name("namespace", &request.namespace)?;
            block_page(&request, &self.host.engine.list_blocks(&name)?)
        })
        .await
    }
}
