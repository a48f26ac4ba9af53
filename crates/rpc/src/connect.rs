//! The unary calls as JSON, by the rules of the Connect protocol: `POST /<service>/<method>` with a JSON body, the answer's
//! JSON with 200, or an HTTP error with `{"code", "message", "details"}`.
//!
//! Every call goes through the same gRPC routes, so the two cannot disagree.

use api::convert::AUTHOR_HEADER;
use api::json::Codec;
use api::limits::REQUEST_BYTES_MAX;
use axum::body::{Body, Bytes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::{Buf, BufMut, BytesMut};
use engine::{Error, Reason};
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tower::ServiceExt;

use crate::deadline::TIMEOUT_HEADER;
use crate::status::status;

/// Bytes that a JSON body may have: base64 makes four bytes of three, and names are spelt out.
const JSON_BYTES_MAX: usize = 2 * REQUEST_BYTES_MAX;
/// Bytes before a message on the wire: whether it is compressed, and its length.
const FRAME_HEADER_BYTES: usize = 5;
const JSON: &str = "application/json";

/// Whether a request means JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

/// Answers a JSON call through the gRPC routes. `method` is the full name with dots.
pub(crate) async fn call(
    codec: &Codec,
    routes: axum::Router,
    method: &str,
    request: Request<Body>,
) -> Response<Body> {
    match bridge(codec, routes, method, request).await {
        Ok(json) => respond(StatusCode::OK, json),
        Err(status) => refuse(&status),
    }
}

async fn bridge(
    codec: &Codec,
    routes: axum::Router,
    method: &str,
    request: Request<Body>,
) -> Result<Vec<u8>, Status> {
    let (parts, body) = request.into_parts();
    let json = collect(body).await?;
    let message = codec.request_from_json(method, &json).map_err(|error| status(&error))?;
    drop(json);
    let mut call = Request::new(Body::from(frame(&message)));
    *call.method_mut() = http::Method::POST;
    *call.uri_mut() = parts.uri;
    *call.version_mut() = http::Version::HTTP_2;
    call.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/grpc"));
    call.headers_mut().insert(header::TE, http::HeaderValue::from_static("trailers"));
    for name in [TIMEOUT_HEADER, AUTHOR_HEADER] {
        if let Some(value) = parts.headers.get(name) {
            call.headers_mut().insert(name, value.clone());
        }
    }
    let answer = match routes.oneshot(call).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    let message = unframe(answer).await?;
    codec.response_to_json(method, &message).map_err(|error| status(&error))
}

async fn collect(body: Body) -> Result<Bytes, Status> {
    match Limited::new(body, JSON_BYTES_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("the body has over {JSON_BYTES_MAX} bytes; send fewer events at a time");
            Err(status(&Error::new(Reason::RangeTooWide, message)))
        }
        Err(error) => {
            Err(status(&Error::field("request body", format!("did not arrive: {error}; send it again"))))
        }
    }
}

fn frame(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(FRAME_HEADER_BYTES + message.len());
    framed.put_u8(0);
    // A body has a few MiB at most; a longer length would be refused like any other over the limit.
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// The one message of an answer, or its status.
async fn unframe(answer: Response<Body>) -> Result<Bytes, Status> {
    let (parts, body) = answer.into_parts();
    if let Some(status) = Status::from_header_map(&parts.headers)
        && status.code() != Code::Ok
    {
        return Err(status);
    }
    let collected = body.collect().await.map_err(|error| Status::internal(error.to_string()))?;
    let trailers = collected.trailers().and_then(Status::from_header_map);
    if let Some(status) = trailers.filter(|status| status.code() != Code::Ok) {
        return Err(status);
    }
    let mut message = collected.to_bytes();
    if message.len() < FRAME_HEADER_BYTES {
        return Err(Status::internal("the answer has no message; report this"));
    }
    message.advance(FRAME_HEADER_BYTES);
    Ok(message)
}

/// An error as Connect shows it.
pub(crate) fn refuse(status: &Status) -> Response<Body> {
    let (code, http) = connect_code(status.code());
    let details = status.get_error_details();
    let mut shown = Vec::new();
    if let Some(info) = details.error_info() {
        let debug = json!({"reason": info.reason, "domain": info.domain});
        shown.push(detail(status, "google.rpc.ErrorInfo", debug));
    }
    if let Some(retry) = details.retry_info().and_then(|retry| retry.retry_delay) {
        let debug = json!({"retryDelay": format!("{}s", retry.as_secs_f64())});
        shown.push(detail(status, "google.rpc.RetryInfo", debug));
    }
    let mut body = json!({"code": code, "message": status.message()});
    if let (false, Some(object)) = (shown.is_empty(), body.as_object_mut()) {
        object.insert("details".to_owned(), Value::Array(shown));
    }
    respond(http, body.to_string().into_bytes())
}

/// One detail: its bytes for programs, its meaning for people.
fn detail(status: &Status, kind: &str, debug: Value) -> Value {
    let packed = <tonic_types::pb::Status as prost::Message>::decode(status.details()).unwrap_or_default();
    let found = packed.details.into_iter().find(|any| any.type_url.ends_with(kind));
    let value = found.map(|any| STANDARD_NO_PAD.encode(any.value)).unwrap_or_default();
    json!({"type": kind, "value": value, "debug": debug})
}

fn respond(code: StatusCode, json: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(json));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(JSON));
    response
}

/// The protocol's names and HTTP statuses.
fn connect_code(code: Code) -> (&'static str, StatusCode) {
    match code {
        Code::Ok => ("ok", StatusCode::OK),
        // 499, which has no name.
        Code::Cancelled => ("canceled", StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST)),
        Code::Unknown => ("unknown", StatusCode::INTERNAL_SERVER_ERROR),
        Code::InvalidArgument => ("invalid_argument", StatusCode::BAD_REQUEST),
        Code::DeadlineExceeded => ("deadline_exceeded", StatusCode::GATEWAY_TIMEOUT),
        Code::NotFound => ("not_found", StatusCode::NOT_FOUND),
        Code::AlreadyExists => ("already_exists", StatusCode::CONFLICT),
        Code::PermissionDenied => ("permission_denied", StatusCode::FORBIDDEN),
        Code::ResourceExhausted => ("resource_exhausted", StatusCode::TOO_MANY_REQUESTS),
        Code::FailedPrecondition => ("failed_precondition", StatusCode::BAD_REQUEST),
        Code::Aborted => ("aborted", StatusCode::CONFLICT),
        Code::OutOfRange => ("out_of_range", StatusCode::BAD_REQUEST),
        Code::Unimplemented => ("unimplemented", StatusCode::NOT_IMPLEMENTED),
        Code::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unavailable => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        Code::DataLoss => ("data_loss", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unauthenticated => ("unauthenticated", StatusCode::UNAUTHORIZED),
    }
}
