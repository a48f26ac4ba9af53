//! What answers where: gRPC, gRPC-Web and JSON calls on one port, health and reflection beside them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use api::json::Codec;
use api::limits::REQUEST_BYTES_MAX;
use axum::Router;
use axum::body::Body;
use engine::{Error, Reason};
use env::Clock;
use http::{HeaderMap, Method, Request, Response, StatusCode, Version, header};
use tonic::service::Routes;
use tonic::{Code, Status};
use tonic_web::{GrpcWebLayer, GrpcWebService};
use tower::ServiceExt;
use tower_layer::Layer;

use crate::connect;
use crate::deadline::{exceeded, time_for};
use crate::gate::{Gate, HoldingBody, Limits};
use crate::generated::server::admin::block_service_server::BlockServiceServer;
use crate::generated::server::admin::export_service_server::ExportServiceServer;
use crate::generated::server::admin::filter_service_server::FilterServiceServer;
use crate::generated::server::admin::namespace_service_server::NamespaceServiceServer;
use crate::generated::server::admin::ops_service_server::OpsServiceServer;
use crate::generated::server::admin::read_mode_service_server::ReadModeServiceServer;
use crate::generated::server::admin::split_service_server::SplitServiceServer;
use crate::generated::server::admin::tuning_service_server::TuningServiceServer;
use crate::generated::server::v1::time_series_service_server::TimeSeriesServiceServer;
use crate::health::Health;
use crate::service::{
    Blocks, Exports, Filters, Host, Namespaces, Ops, ReadModes, Splits, TimeSeries, Tuning,
};
use crate::status::status;

/// What to serve, and how much of it at once.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// Calls under way.
    pub limits: Limits,
    /// Whether clients may ask for the contract.
    pub reflection: bool,
    /// Whether all of it is served; if not, only what operators ask of the process itself.
    pub api: bool,
}

/// A router whose fallback answers every call of the contract; the server adds its own routes to it.
pub fn router(host: &Host, serving: Serving, health: &Health) -> engine::Result<Router> {
    let codec = Codec::new(api::DESCRIPTORS)?;
    let methods: BTreeMap<String, Called> = codec.methods().filter_map(|method| called(&method)).collect();
    let limit = REQUEST_BYTES_MAX;
    let mut routes = health
        .routes()
        .add_service(
            TimeSeriesServiceServer::new(TimeSeries { host: host.clone() }).max_decoding_message_size(limit),
        )
        .add_service(
            NamespaceServiceServer::new(Namespaces::new(host.clone())).max_decoding_message_size(limit),
        )
        .add_service(BlockServiceServer::new(Blocks { host: host.clone() }).max_decoding_message_size(limit))
        .add_service(SplitServiceServer::new(Splits { host: host.clone() }).max_decoding_message_size(limit))
        .add_service(
            ReadModeServiceServer::new(ReadModes { host: host.clone() }).max_decoding_message_size(limit),
        )
        .add_service(
            FilterServiceServer::new(Filters { host: host.clone() }).max_decoding_message_size(limit),
        )
        .add_service(TuningServiceServer::new(Tuning { host: host.clone() }).max_decoding_message_size(limit))
        .add_service(
            ExportServiceServer::new(Exports { host: host.clone() }).max_decoding_message_size(limit),
        )
        .add_service(OpsServiceServer::new(Ops { host: host.clone() }).max_decoding_message_size(limit));
    if serving.reflection {
        routes = reflect(routes)?;
    }
    let routes = routes.prepare().into_axum_router();
    let front = Front {
        grpc: GrpcWebLayer::new().layer(routes.clone()),
        routes,
        codec: Arc::new(codec),
        methods: Arc::new(methods),
        gate: Gate::new(serving.limits),
        api: serving.api,
        clock: Arc::clone(&host.env.clock),
    };
    Ok(Router::new().fallback(move |request: Request<Body>| front.clone().answer(request)))
}

fn reflect(routes: Routes) -> engine::Result<Routes> {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(api::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let broken = |error: tonic_reflection::server::Error| {
        let message = format!("the descriptors do not decode: {error}; build this program again");
        Error::new(Reason::NotReady, message)
    };
    let v1 = builder().build_v1().map_err(broken)?;
    Ok(routes.add_service(v1).add_service(builder().build_v1alpha().map_err(broken)?))
}

/// A method as it is called.
#[derive(Clone, Debug)]
struct Called {
    full_name: String,
    streams: bool,
}

/// The path and the rest of a method.
fn called(method: &api::json::Method<'_>) -> Option<(String, Called)> {
    let (service, name) = method.full_name.rsplit_once('.')?;
    let called = Called { full_name: method.full_name.to_owned(), streams: method.streams };
    Some((format!("/{service}/{name}"), called))
}

/// Sorts calls by what they are. Cheap to clone.
#[derive(Clone)]
struct Front {
    grpc: GrpcWebService<Router>,
    routes: Router,
    codec: Arc<Codec>,
    methods: Arc<BTreeMap<String, Called>>,
    gate: Gate,
    api: bool,
    clock: Arc<dyn Clock>,
}

impl Front {
    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let method = self.methods.get(request.uri().path()).cloned();
        if !self.api && method.as_ref().is_some_and(|method| !method.full_name.starts_with(OPS_SERVICE)) {
            return Ok(self.refuse_role(request.headers()));
        }
        Ok(match (kind_of(request.headers()), method) {
            (Kind::Grpc { web }, method) => {
                if !web && request.version() < Version::HTTP_2 {
                    plain(StatusCode::BAD_REQUEST, "gRPC needs HTTP/2; over HTTP/1.1 send JSON or gRPC-Web\n")
                } else {
                    self.grpc(method, request).await
                }
            }
            (_, None) => plain(StatusCode::NOT_FOUND, NOT_FOUND),
            (_, Some(_)) if request.method() != Method::POST => {
                let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, "calls are sent with POST\n");
                refusal.headers_mut().insert(header::ALLOW, http::HeaderValue::from_static("POST"));
                refusal
            }
            (Kind::Other, Some(_)) => plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send the call as JSON with `content-type: application/json`, or by gRPC\n",
            ),
            (Kind::Json, Some(method)) if method.streams => {
                let message = format!(
                    "{} is a stream; call it by gRPC, or page through the unary method",
                    method.full_name
                );
                connect::refuse(&Status::unimplemented(message))
            }
            (Kind::Json, Some(method)) => self.json(&method, request).await,
        })
    }

    /// This server does other things.
    fn refuse_role(&self, headers: &HeaderMap) -> Response<Body> {
        let message = "this server answers no calls, it has other roles (server.roles); ask one that `braid workers` lists as api";
        let refusal = status(&Error::new(Reason::NotReady, message));
        match kind_of(headers) {
            Kind::Grpc { .. } => refusal.into_http(),
            Kind::Json | Kind::Other => connect::refuse(&refusal),
        }
    }

    async fn grpc(self, method: Option<Called>, request: Request<Body>) -> Response<Body> {
        // Health and reflection always answer: they are how one finds out what is wrong.
        let Some(method) = method else { return infallible(self.grpc.oneshot(request).await).map(Body::new) };
        let place = match self.gate.enter(method.streams) {
            Ok(place) => place,
            Err(error) => return status(&error).into_http(),
        };
        let deadline = time_for(request.headers());
        let grpc = self.grpc;
        let call = async { infallible(grpc.oneshot(request).await).map(Body::new) };
        let response = within(&*self.clock, deadline, call).await.unwrap_or_else(|| exceeded().into_http());
        explained(response).map(|body| HoldingBody::hold(body, place))
    }

    async fn json(self, method: &Called, request: Request<Body>) -> Response<Body> {
        let place = match self.gate.enter(false) {
            Ok(place) => place,
            Err(error) => return connect::refuse(&status(&error)),
        };
        let deadline = time_for(request.headers());
        let call = connect::call(&self.codec, self.routes, &method.full_name, request);
        let response = within(&*self.clock, deadline, call).await;
        response.unwrap_or_else(|| connect::refuse(&exceeded())).map(|body| HoldingBody::hold(body, place))
    }
}

/// What every server answers, whatever its roles.
const OPS_SERVICE: &str = "braid.admin.v1.OpsService.";

const NOT_FOUND: &str = "nothing is served here; calls are POST /<package>.<Service>/<Method>, and there are /metrics, \
                         /healthz and /readyz\n";

/// What a request speaks.
pub(crate) enum Kind {
    Grpc { web: bool },
    Json,
    Other,
}

pub(crate) fn kind_of(headers: &HeaderMap) -> Kind {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&[][..], http::HeaderValue::as_bytes);
    if kind.starts_with(b"application/grpc") {
        return Kind::Grpc { web: kind.starts_with(b"application/grpc-web") };
    }
    if connect::is_json(headers) { Kind::Json } else { Kind::Other }
}

/// The answer, unless the time runs out before.
async fn within<T>(clock: &dyn Clock, limit: Duration, call: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        answer = call => Some(answer),
        () = clock.sleep(limit) => None,
    }
}

/// A message over the size limit is refused by the transport; says so in the contract's words.
fn explained(response: Response<Body>) -> Response<Body> {
    let oversized = Status::from_header_map(response.headers()).is_some_and(|refusal| {
        refusal.code() == Code::OutOfRange
            && refusal.details().is_empty()
            && refusal.message().contains("too large")
    });
    if !oversized {
        return response;
    }
    crate::status::oversized().into_http()
}

pub(crate) fn plain(code: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

pub(crate) fn infallible<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
