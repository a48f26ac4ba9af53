//! [`LaneLayer`]: a limit on the scans that run at the same time, with lanes of their own for small ones.
//!
//! A read asks for many scans, some of them ahead of need. Without a limit a few wide reads put hundreds to work, and a small one is
//! the last among them. With one limit for all it would wait behind them. So wide and small scans have lanes apart, and inside
//! of each the first that comes is the first that runs.
//!
//! A scan runs as a task of its own: whoever asked may look away from it for a while (it was read ahead), and must not keep a lane
//! all that time. Whoever drops it ends it.

use std::sync::Arc;

use env::{BoxFuture, Spawn};
use tokio::sync::{Semaphore, oneshot};

use super::{Call, Layer, Op, Outcome};
use crate::{Error, ErrorKind, Result};

/// A scan that asks for at most so many rows is a small one.
pub const SMALL_SCAN_ROWS_MAX: usize = 512;

/// How many scans may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Scans of up to [`SMALL_SCAN_ROWS_MAX`] rows; at least 1.
    pub small: usize,
    /// All others, and listings of partitions; at least 1.
    pub wide: usize,
}

/// Lets scans run as there are lanes.
pub struct LaneLayer {
    spawn: Arc<dyn Spawn>,
    small: Arc<Semaphore>,
    wide: Arc<Semaphore>,
}

impl LaneLayer {
    /// With so many lanes.
    pub fn new(spawn: Arc<dyn Spawn>, lanes: Lanes) -> Self {
        let lanes_of = |count: usize| Arc::new(Semaphore::new(count.max(1)));
        Self { spawn, small: lanes_of(lanes.small), wide: lanes_of(lanes.wide) }
    }

    fn lanes_for(&self, call: Call) -> Option<&Arc<Semaphore>> {
        match call.op {
            Op::Scan if call.rows_asked <= SMALL_SCAN_ROWS_MAX => Some(&self.small),
            Op::Scan | Op::Enumerate => Some(&self.wide),
            _ => None,
        }
    }
}

impl Layer for LaneLayer {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let Some(lanes) = self.lanes_for(call) else { return next.await };
        let lanes = Arc::clone(lanes);
        let (mut done, result) = oneshot::channel();
        let run = async move {
            let answer = async {
                // The lanes are never closed; if they were, the answer would be that of a task that ended.
                let _lane = lanes.acquire_owned().await.ok()?;
                Some(next.await)
            };
            tokio::select! {
                biased;
                () = done.closed() => {}
                answer = answer => {
                    if let Some(answer) = answer {
                        // Whoever asked may have gone in this moment.
                        let _unwanted = done.send(answer);
                    }
                }
            }
        };
        self.spawn.task("braid-scan", Box::pin(run));
        result.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Unavailable, "the scan ended without an answer; send it again"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use env::Env;
    use tokio::sync::Notify;

    use super::*;
    use crate::ScanPage;

    /// Scans that run until they are let go.
    #[derive(Clone, Default)]
    struct Gate {
        started: Arc<AtomicUsize>,
        running: Arc<AtomicUsize>,
        go: Arc<Notify>,
    }

    struct Running(Arc<AtomicUsize>);

    impl Drop for Running {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Gate {
        fn scan(&self) -> BoxFuture<'static, Result<ScanPage>> {
            let gate = self.clone();
            Box::pin(async move {
                gate.started.fetch_add(1, Ordering::SeqCst);
                gate.running.fetch_add(1, Ordering::SeqCst);
                let _running = Running(Arc::clone(&gate.running));
                gate.go.notified().await;
                Ok(ScanPage::default())
            })
        }

        /// Waits until so many run.
        async fn until(&self, count: usize) {
            while self.running.load(Ordering::SeqCst) != count {
                tokio::task::yield_now().await;
            }
        }
    }

    fn layer(small: usize, wide: usize) -> Arc<LaneLayer> {
        Arc::new(LaneLayer::new(Env::system().spawn, Lanes { small, wide }))
    }

    fn call(rows: usize) -> Call {
        Call { rows_asked: rows, ..Call::new(Op::Scan, 0) }
    }

    /// Asks for a scan and looks once, as a read does that reads ahead.
    async fn asked<'a>(
        layer: &'a Arc<LaneLayer>,
        gate: &Gate,
        rows: usize,
    ) -> BoxFuture<'a, Result<ScanPage>> {
        let (layer, next) = (Arc::clone(layer), gate.scan());
        let mut scan: BoxFuture<'a, _> = Box::pin(async move { layer.around(call(rows), next).await });
        assert!(futures::poll!(&mut scan).is_pending());
        scan
    }

    #[tokio::test]
    async fn wide_scans_wait_for_a_lane_and_small_ones_do_not_wait_for_them() {
        let (layer, wide, small) = (layer(2, 1), Gate::default(), Gate::default());
        let first = asked(&layer, &wide, 4_096).await;
        let second = asked(&layer, &wide, 4_096).await;
        wide.until(1).await;
        let quick = asked(&layer, &small, 100).await;
        small.until(1).await;
        assert_eq!(wide.running.load(Ordering::SeqCst), 1, "the second waits");
        small.go.notify_one();
        quick.await.unwrap();
        wide.go.notify_one();
        first.await.unwrap();
        wide.go.notify_one();
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_scan_that_nobody_looks_at_gives_its_lane_back_when_it_is_done() {
        let (layer, gate) = (layer(1, 1), Gate::default());
        let unwatched = asked(&layer, &gate, 1).await;
        let waiting = asked(&layer, &gate, 1).await;
        gate.until(1).await;
        gate.go.notify_one();
        // The first is never looked at again, and the second runs all the same.
        while gate.started.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        gate.go.notify_one();
        waiting.await.unwrap();
        unwatched.await.unwrap();
    }

    #[tokio::test]
    async fn a_scan_that_was_dropped_ends_whether_it_runs_or_waits() {
        let (layer, gate) = (layer(1, 1), Gate::default());
        let running = asked(&layer, &gate, 1).await;
        let waiting = asked(&layer, &gate, 1).await;
        gate.until(1).await;
        drop(waiting);
        drop(running);
        gate.until(0).await;
        let next = asked(&layer, &gate, 1).await;
        gate.until(1).await;
        gate.go.notify_one();
        next.await.unwrap();
    }

    #[tokio::test]
    async fn other_calls_pass() {
        let layer = layer(1, 1);
        let held = asked(&layer, &Gate::default(), 9_999).await;
        assert!(layer.around(Call::new(Op::Upsert, 5), Box::pin(async { Ok(()) })).await.is_ok());
        drop(held);
    }
}
