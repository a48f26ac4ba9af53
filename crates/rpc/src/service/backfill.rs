//! The backfills of `NamespaceService`: begin, end, list.

use api::admin::v1 as wire;
use api::convert::{backfill_to_wire, namespace_name, new_backfill};
use engine::{Backfill, Error, Reason, Result as Answer};
use tonic::Request;

use super::Host;

pub(super) async fn begin(
    host: &Host,
    request: Request<wire::BeginBackfillRequest>,
) -> Answer<wire::Backfill> {
    let (metadata, _, request) = request.into_parts();
    let engine = host.because(&metadata, &request.reason)?;
    let (name, interval) = new_backfill(&request)?;
    if request.validate_only {
        engine.get_namespace(&name)?;
        return Ok(backfill_to_wire(Backfill { id: 0, interval, open: false }));
    }
    let begun = engine.begin_backfill(&name, interval).await?;
    tracing::info!(namespace = name.as_str(), id = begun.id, reason = request.reason, "backfill begun");
    Ok(backfill_to_wire(begun))
}

pub(super) async fn end(
    host: &Host,
    request: Request<wire::EndBackfillRequest>,
) -> Answer<wire::EndBackfillResponse> {
    let (metadata, _, request) = request.into_parts();
    let engine = host.because(&metadata, &request.reason)?;
    let (name, id) = (namespace_name("namespace", &request.namespace)?, request.id);
    if request.validate_only {
        if engine.list_backfills(&name)?.iter().all(|backfill| backfill.id != id) {
            let message = format!("namespace `{}` has no backfill {id}; it was ended before", name.as_str());
            return Err(Error::new(Reason::EtagMismatch, message));
        }
        return Ok(wire::EndBackfillResponse {});
    }
    engine.end_backfill(&name, id).await?;
    tracing::info!(namespace = name.as_str(), id, reason = request.reason, "backfill ended");
    Ok(wire::EndBackfillResponse {})
}

pub(super) fn list(host: &Host, request: &wire::ListBackfillsRequest) -> Answer<wire::ListBackfillsResponse> {
    let name = namespace_name("namespace", &request.namespace)?;
    let backfills = host.engine.list_backfills(&name)?.into_iter().map(backfill_to_wire).collect();
    Ok(wire::ListBackfillsResponse { backfills })
}
