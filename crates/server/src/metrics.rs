//! `/metrics`: everything that is counted, in the OpenMetrics text form.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use engine::Engine;
use http::{Response, header};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the server knows of the changes of all servers, at the moment of the question.
struct View {
    engine: Engine,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

impl Collector for View {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let epoch = ConstGauge::new(self.engine.epoch());
        let leased = ConstGauge::new(u64::from(self.engine.is_leased()));
        // Until the first refresh the server is not served at all.
        let age = ConstGauge::new(self.engine.view_age().unwrap_or_default().as_secs_f64());
        let help = "The last change of configuration that this server knows";
        epoch.encode(encoder.encode_descriptor("braid_view_epoch", help, None, epoch.metric_type())?)?;
        let help = "Whether this server holds a lease: 1, or 0";
        leased.encode(encoder.encode_descriptor("braid_view_leased", help, None, leased.metric_type())?)?;
        let (help, seconds) =
            ("How long ago this server last looked for changes of others", Some(&Unit::Seconds));
        age.encode(encoder.encode_descriptor("braid_view_age", help, seconds, age.metric_type())?)
    }
}

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
        registry.register_collector(Box::new(View { engine: engine.clone() }));
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
