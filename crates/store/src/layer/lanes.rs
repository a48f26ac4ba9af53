//! [`LaneLayer`]: a limit on the scans that run at the same time, with lanes of their own for small ones.
//!
//! A read asks for many scans, some of them ahead of need. Without a limit a few wide reads put hundreds to work, and a small one is
//! the last among them. With one limit for all it would wait behind them. So wide and small scans have lanes apart, and inside
//! of each the first that comes is the first that runs.
//!
//! Invariant: whatever has a lane, or is next to get one, is polled whenever it can go on. A scan that is read ahead may be left
//! unpolled for a while, and would keep its lane all that time: from the others, and so also from the scan that whoever asked
//! waits for meanwhile, for ever. It runs as a task of its own. All others are polled by whoever asked until they have answered
//! (`Scan::ahead` says which is which) and run where they are: a task costs a small read two changes of threads. Whoever drops
//! a scan ends it, either way.

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
        let answer = in_lane(Arc::clone(lanes), next);
        if !call.ahead {
            return answer.await;
        }
        let (mut done, result) = oneshot::channel();
        let run = async move {
            tokio::select! {
                biased;
                () = done.closed() => {}
                answer = answer => {
                    // Whoever asked may have gone in this moment.
                    let _unwanted = done.send(answer);
                }
            }
        };
        self.spawn.task("braid-scan", Box::pin(run));
        result.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// Runs a scan once there is a lane for it.
async fn in_lane<T>(lanes: Arc<Semaphore>, next: BoxFuture<'static, Result<T>>) -> Result<T> {
    // The lanes are never closed; if they were, the answer would be that of a task that ended.
    let _lane = lanes.acquire_owned().await.map_err(|_| ended())?;
    next.await
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the scan ended without an answer; send it again")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use env::{Env, Work};
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

    /// Starts nothing.
    struct NoTasks;

    impl Spawn for NoTasks {
        fn task(&self, name: &'static str, _task: BoxFuture<'static, ()>) {
            panic!("a task `{name}` was started");
        }

        fn pooled(&self, _work: Work) {
            panic!("work was started");
        }

        fn thread(&self, name: &'static str, _work: Work) -> std::io::Result<()> {
            panic!("a thread `{name}` was started");
        }
    }

    fn layer(small: usize, wide: usize) -> LaneLayer {
        LaneLayer::new(Env::system().spawn, Lanes { small, wide })
    }

    /// A scan that somebody waits for.
    fn needed(rows: usize) -> Call {
        Call { rows_asked: rows, ..Call::new(Op::Scan, 0) }
    }

    /// A scan that somebody may look away from.
    fn ahead(rows: usize) -> Call {
        Call { ahead: true, ..needed(rows) }
    }

    /// Asks for a scan and looks once, as a read does that reads ahead.
    async fn asked<'a>(layer: &'a LaneLayer, gate: &Gate, call: Call) -> BoxFuture<'a, Result<ScanPage>> {
        let next = gate.scan();
        let mut scan: BoxFuture<'a, _> = Box::pin(layer.around(call, next));
        assert!(futures::poll!(&mut scan).is_pending());
        scan
    }

    #[tokio::test]
    async fn wide_scans_wait_for_a_lane_and_small_ones_do_not_wait_for_them() {
        for of in [needed, ahead] {
            let (layer, wide, small) = (layer(2, 1), Gate::default(), Gate::default());
            let first = asked(&layer, &wide, of(4_096)).await;
            let second = asked(&layer, &wide, of(4_096)).await;
            wide.until(1).await;
            let quick = asked(&layer, &small, of(100)).await;
            small.until(1).await;
            assert_eq!(wide.running.load(Ordering::SeqCst), 1, "the second waits");
            small.go.notify_one();
            quick.await.unwrap();
            wide.go.notify_one();
            first.await.unwrap();
            wide.go.notify_one();
            second.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_scan_that_nobody_looks_at_gives_its_lane_back_when_it_is_done() {
        let (layer, gate) = (layer(1, 1), Gate::default());
        let unwatched = asked(&layer, &gate, ahead(1)).await;
        let waiting = asked(&layer, &gate, ahead(1)).await;
        gate.until(1).await;
        gate.go.notify_one();
        // The first is never looked at again, and the second runs all the same.
        while gate.started.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        // Nor is the second, which has the lane now, and one that is needed passes it.
        let mut needed = asked(&layer, &gate, needed(1)).await;
        gate.go.notify_one();
        while futures::poll!(&mut needed).is_pending() {
            gate.go.notify_one();
            tokio::task::yield_now().await;
        }
        waiting.await.unwrap();
        unwatched.await.unwrap();
    }

    #[tokio::test]
    async fn a_scan_that_is_needed_runs_where_it_is_waited_for() {
        let layer = LaneLayer::new(Arc::new(NoTasks), Lanes { small: 1, wide: 1 });
        let gate = Gate::default();
        let running = asked(&layer, &gate, needed(1)).await;
        assert_eq!(gate.running.load(Ordering::SeqCst), 1);
        let waiting = asked(&layer, &gate, needed(1)).await;
        assert_eq!(gate.started.load(Ordering::SeqCst), 1, "there is one lane");
        gate.go.notify_one();
        running.await.unwrap();
        gate.go.notify_one();
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_scan_that_was_dropped_ends_whether_it_runs_or_waits() {
        for of in [needed, ahead] {
            let (layer, gate) = (layer(1, 1), Gate::default());
            let running = asked(&layer, &gate, of(1)).await;
            let waiting = asked(&layer, &gate, of(1)).await;
            gate.until(1).await;
            drop(waiting);
            drop(running);
            gate.until(0).await;
            let next = asked(&layer, &gate, of(1)).await;
            gate.until(1).await;
            gate.go.notify_one();
            next.await.unwrap();
        }
    }

    #[tokio::test]
    async fn other_calls_pass() {
        let layer = layer(1, 1);
        let held = asked(&layer, &Gate::default(), needed(9_999)).await;
        assert!(layer.around(Call::new(Op::Upsert, 5), Box::pin(async { Ok(()) })).await.is_ok());
        drop(held);
    }
}
