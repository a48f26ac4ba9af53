//! One port: takes connections, speaks HTTP/1.1 and HTTP/2 on each, and lets them end in peace.
//!
//! Limits on what a peer can hold: the number of connections, streams and bytes under way on each, and how long one may stay
//! without having asked for anything.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use env::{Clock, Env};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tower::{ServiceExt, service_fn};

use crate::Error;

/// Calls under way on one connection.
const STREAMS_PER_CONNECTION_MAX: u32 = 128;
/// Bytes of one call that a peer may send ahead of the reading.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// The same for all calls of a connection.
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// Bytes of answers that wait in a connection.
const SEND_BUFFER_BYTES: usize = 1 << 20;
/// Bytes of one piece of a request: fewer pieces than with the protocol's own 16 KiB.
const FRAME_BYTES: u32 = 256 << 10;
/// Bytes of headers.
const HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long a peer may take to ask for something, and to send the head of a request.
const FIRST_WORD_WITHIN: Duration = Duration::from_secs(10);
/// A peer that does not answer a ping in the second of these is gone.
const PING_EVERY: Duration = Duration::from_secs(30);
const PONG_WITHIN: Duration = Duration::from_secs(20);
/// After a failed accept (too many open files), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port that is being served.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    router: watch::Sender<Router>,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<GracefulShutdown>,
}

/// Begins to serve `router` at `address`.
pub(crate) async fn listen(
    address: SocketAddr,
    connections_max: usize,
    router: Router,
    env: &Env,
) -> Result<Listening, Error> {
    let failed = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopped) = watch::channel(false);
    let (end, ended) = oneshot::channel();
    let (router, routers) = watch::channel(router);
    let accepting = Accepting {
        listener,
        places: Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS))),
        routers,
        env: env.clone(),
    };
    env.spawn.task(
        "braid-accept",
        Box::pin(async move {
            // Whoever stops waits for this; if nobody does, there is nobody to tell.
            let _unheard = end.send(accepting.run(stopped).await);
        }),
    );
    Ok(Listening { address, router, stop, ended })
}

impl Listening {
    /// Answers with another router from the next request on, also on connections that are open.
    pub(crate) fn replace(&self, router: Router) {
        drop(self.router.send_replace(router));
    }

    /// Takes no more connections and calls; those under way have `grace` to end.
    pub(crate) async fn stop(self, clock: &dyn Clock, grace: Duration) {
        self.stop.send_replace(true);
        let Ok(connections) = self.ended.await else { return };
        let open = connections.count();
        tokio::select! {
            () = connections.shutdown() => {}
            () = clock.sleep(grace) => tracing::warn!(open, "connections did not end in time and are cut off"),
        }
    }
}

struct Accepting {
    listener: TcpListener,
    places: Arc<Semaphore>,
    routers: watch::Receiver<Router>,
    env: Env,
}

impl Accepting {
    async fn run(self, mut stopped: watch::Receiver<bool>) -> GracefulShutdown {
        let connections = GracefulShutdown::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.accept() => accepted,
                // The sender only goes away with whoever would stop this.
                _stop = stopped.wait_for(|stop| *stop) => return connections,
            };
            match accepted {
                Ok((stream, place)) => self.serve(stream, place, &connections),
                Err(error) => {
                    tracing::warn!(%error, "cannot take a connection; raise the limit on open files");
                    self.env.clock.sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// The next connection, once there is a place for it: more wait in the kernel's queue.
    async fn accept(&self) -> std::io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
        let closed = |_| std::io::Error::other("no more places");
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(closed)?;
        let (stream, _peer) = self.listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok((stream, place))
    }

    fn serve(
        &self,
        stream: TcpStream,
        place: tokio::sync::OwnedSemaphorePermit,
        connections: &GracefulShutdown,
    ) {
        let spoke = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&spoke);
        let routers = self.routers.clone();
        let service = service_fn(move |request: http::Request<Incoming>| {
            heard.store(true, Ordering::Relaxed);
            // A router is cheap to clone.
            let router = routers.borrow().clone();
            router.oneshot(request.map(axum::body::Body::new))
        });
        let watcher = connections.watcher();
        let clock = Arc::clone(&self.env.clock);
        let task = async move {
            let builder = builder();
            let connection =
                builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            let mut connection = std::pin::pin!(watcher.watch(connection));
            let silent = async {
                clock.sleep(FIRST_WORD_WITHIN).await;
                if spoke.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended badly");
                    }
                }
                () = silent => tracing::debug!("a connection asked for nothing and is cut off"),
            }
            drop(place);
        };
        self.env.spawn.task("braid-connection", Box::pin(task));
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(FIRST_WORD_WITHIN);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_header_list_size(HEADER_BYTES_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PONG_WITHIN);
    builder
}
