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
    async fn add(&self, request: wire::AddBlockRequest) -> Answer<wire::AddBlockResponse> {
        let (validate_only, reason) = (request.validate_only, request.reason.clone());
        let (name, blocks) = new_blocks(request)?;
        let blocks = if validate_only {
            self.host.engine.check_blocks(&name, blocks)?
        } else {
            let made = self.host.engine.add_blocks(&name, blocks).await?;
            tracing::info!(namespace = name.as_str(), blocks = made.len(), reason, "ids blocked");
            made
        };
        Ok(wire::AddBlockResponse { blocks: blocks.iter().map(block_to_wire).collect() })
    }

    async fn remove(&self, request: wire::RemoveBlockRequest) -> Answer<wire::RemoveBlockResponse> {
        let (name, ids) = unblocked(&request)?;
        let blocks = if request.validate_only {
            let present = self.host.engine.list_blocks(&name)?;
            present.into_iter().filter(|block| ids.contains(&block.series)).collect()
        } else {
            let removed = self.host.engine.remove_blocks(&name, ids).await?;
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
        answer(self.add(request.into_inner())).await
    }

    async fn remove_block(
        &self,
        request: Request<wire::RemoveBlockRequest>,
    ) -> Result<Response<wire::RemoveBlockResponse>, Status> {
        answer(self.remove(request.into_inner())).await
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
