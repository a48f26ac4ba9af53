//! `grpc.health.v1`, and what answers while there is nothing to serve yet.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use api::json::Codec;
use axum::Router;
use axum::body::Body;
use engine::{Error, Reason};
use http::{Request, Response, StatusCode};
use tokio::sync::watch;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tonic_web::{GrpcWebLayer, GrpcWebService};
use tower::ServiceExt;
use tower_layer::Layer;

use crate::connect;
use crate::router::{Kind, infallible, kind_of, plain};
use crate::service::Readiness;
use crate::status::status;

/// Calls of this service are answered by whoever answers anything.
const HEALTH_PATH: &str = "/grpc.health.v1.Health/";

/// Tells `grpc.health.v1` how the process is: the same from the first moment to the last.
#[derive(Clone)]
pub struct Health {
    reporter: HealthReporter,
    routes: Routes,
    services: Arc<[String]>,
}

impl Health {
    /// No service is serving yet.
    pub async fn new() -> engine::Result<Self> {
        let codec = Codec::new(api::DESCRIPTORS)?;
        let service = |full_name: &str| full_name.rsplit_once('.').map(|(service, _)| service.to_owned());
        let services: BTreeSet<String> =
            codec.methods().filter_map(|method| service(method.full_name)).collect();
        let (reporter, health) = tonic_health::server::health_reporter();
        // The empty name stands for the process.
        let services = services.into_iter().chain([String::new()]).collect();
        let health = Self { reporter, routes: Routes::new(health), services };
        health.set(false).await;
        Ok(health)
    }

    /// Every service is serving, or none is.
    pub async fn set(&self, serving: bool) {
        let state = if serving { ServingStatus::Serving } else { ServingStatus::NotServing };
        for service in self.services.iter() {
            self.reporter.set_service_status(service, state).await;
        }
    }

    /// Routes that answer for it; other services are added to them.
    pub(crate) fn routes(&self) -> Routes {
        self.routes.clone()
    }
}

/// A router for the time before there is an engine: health answers, and every other call is refused with the reason that
/// `readiness` gives.
pub fn waiting(health: &Health, readiness: watch::Receiver<Readiness>) -> Router {
    let grpc = GrpcWebLayer::new().layer(health.routes().prepare().into_axum_router());
    let waiting = Waiting { grpc, readiness };
    Router::new().fallback(move |request: Request<Body>| waiting.clone().answer(request))
}

#[derive(Clone)]
struct Waiting {
    grpc: GrpcWebService<Router>,
    readiness: watch::Receiver<Readiness>,
}

impl Waiting {
    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let kind = kind_of(request.headers());
        if matches!(kind, Kind::Grpc { .. }) && request.uri().path().starts_with(HEALTH_PATH) {
            return Ok(infallible(self.grpc.oneshot(request).await).map(Body::new));
        }
        let reason = match &*self.readiness.borrow() {
            // Between two routers.
            Readiness::Ready => "starting; try again".to_owned(),
            Readiness::NotReady(reason) => reason.clone(),
        };
        let refusal = status(&Error::new(Reason::NotReady, reason.clone()));
        Ok(match kind {
            Kind::Grpc { .. } => refusal.into_http(),
            Kind::Json => connect::refuse(&refusal),
            Kind::Other => plain(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")),
        })
    }
}
