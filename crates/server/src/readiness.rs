//! Whether the process takes requests, said in three ways: `/readyz`, `grpc.health.v1` and `GetServerInfo`.

use axum::body::Body;
use http::{Response, StatusCode, header};
use rpc::Readiness;
use tokio::sync::watch;

/// `/healthz`: the process runs, whatever it can do.
pub(crate) async fn healthz() -> Response<Body> {
    text(StatusCode::OK, "ok\n".to_owned())
}

/// `/readyz`: it takes writes and reads, or why not.
pub(crate) async fn readyz(readiness: watch::Receiver<Readiness>) -> Response<Body> {
    match &*readiness.borrow() {
        Readiness::Ready => text(StatusCode::OK, "ready\n".to_owned()),
        Readiness::NotReady(reason) => {
            text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n"))
        }
    }
}

fn text(code: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
