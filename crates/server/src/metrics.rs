//! `/metrics`: everything that is counted, in the OpenMetrics text form.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use engine::Engine;
use http::{Response, header};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is counted. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Mutex<Registry>>,
}

impl Metrics {
    /// Takes what the store's layers have registered, and adds the process and the engine.
    pub(crate) fn new(mut registry: Registry, engine: &Engine, version: &'static str) -> Self {
        registry.register("braid_build", "What runs here", Info::new(vec![("version", version)]));
        engine.register_metrics(&mut registry);
        Self { registry: Arc::new(Mutex::new(registry)) }
    }

    /// Answers `/metrics`.
    pub(crate) fn show(&self) -> Response<Body> {
        let mut text = String::new();
        let encoded = encode(&mut text, &self.registry.lock().unwrap_or_else(PoisonError::into_inner));
        let mut response = Response::new(Body::from(text));
        response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(OPEN_METRICS));
        if let Err(error) = encoded {
            tracing::error!(%error, "the metrics cannot be shown");
            *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        }
        response
    }
}
