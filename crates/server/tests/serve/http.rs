//! Plain HTTP, by hand: what curl and a gRPC client send.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ::http::HeaderMap,
    pub(crate) trailers: ::http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// From wherever the answer carries it.
    pub(crate) fn grpc_status(&self) -> String {
        let status = self.trailers.get("grpc-status").or_else(|| self.headers.get("grpc-status"));
        status.unwrap().to_str().unwrap().to_owned()
    }
}

pub(crate) async fn post(address: &str, path: &str, kind: &str, body: impl Into<Bytes>) -> Answer {
    let request =
        ::http::Request::post(path).header("content-type", kind).body(Full::new(body.into())).unwrap();
    send(address, request).await
}

pub(crate) async fn post_json(address: &str, path: &str, body: &str) -> Answer {
    post(address, path, "application/json", body.to_owned()).await
}

pub(crate) async fn get(address: &str, path: &str) -> Answer {
    send(address, ::http::Request::get(path).body(Full::new(Bytes::new())).unwrap()).await
}

/// Over HTTP/1.1.
pub(crate) async fn send(address: &str, mut request: ::http::Request<Full<Bytes>>) -> Answer {
    request.headers_mut().insert("host", address.parse().unwrap());
    let io = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    let (answer, _ended) = tokio::join!(
        async move {
            let answer = collect(sender.send_request(request).await.unwrap()).await;
            drop(sender);
            answer
        },
        connection
    );
    answer
}

/// One gRPC call of a protobuf message, over HTTP/2.
pub(crate) async fn grpc(address: &str, path: &str, message: &[u8]) -> Answer {
    let mut framed = vec![0];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend_from_slice(message);
    grpc_body(address, path, framed).await
}

/// The same with any bytes in place of a framed message.
pub(crate) async fn grpc_body(address: &str, path: &str, body: Vec<u8>) -> Answer {
    let request = ::http::Request::post(format!("http://{address}{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    let io = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let (answer, _ended) = tokio::join!(
        async move {
            let answer = collect(sender.send_request(request).await.unwrap()).await;
            drop(sender);
            answer
        },
        connection
    );
    answer
}

async fn collect(response: ::http::Response<hyper::body::Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.unwrap();
    let trailers = collected.trailers().cloned().unwrap_or_default();
    Answer { status: parts.status.as_u16(), headers: parts.headers, trailers, body: collected.to_bytes() }
}
