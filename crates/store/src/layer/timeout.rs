//! [`TimeoutLayer`]: a deadline for every call.
//!
//! Invariant: what ran out of time is called unknown if it could have changed something, so nobody takes a late
//! change for one that did not happen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use env::{BoxFuture, Clock};

use super::{Call, Layer, Op, Outcome};
use crate::{Error, ErrorKind, Result};

/// How long each operation may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    otherwise: Duration,
    by_op: BTreeMap<Op, Duration>,
}

impl Deadlines {
    /// The same for every operation.
    pub fn all(deadline: Duration) -> Self {
        Self { otherwise: deadline, by_op: BTreeMap::new() }
    }

    /// Another one for `op`.
    #[must_use]
    pub fn with(mut self, op: Op, deadline: Duration) -> Self {
        self.by_op.insert(op, deadline);
        self
    }

    /// How long `op` may take.
    pub fn of(&self, op: Op) -> Duration {
        self.by_op.get(&op).copied().unwrap_or(self.otherwise)
    }
}

/// Ends calls that take too long.
pub struct TimeoutLayer {
    clock: Arc<dyn Clock>,
    deadlines: Deadlines,
}

impl TimeoutLayer {
    /// Holds calls to `deadlines` on `clock`.
    pub fn new(clock: Arc<dyn Clock>, deadlines: Deadlines) -> Self {
        Self { clock, deadlines }
    }
}

impl Layer for TimeoutLayer {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let deadline = self.deadlines.of(call.op);
        tokio::select! {
            // An answer that is there counts, even at the last moment.
            biased;
            result = next => result,
            () = self.clock.sleep(deadline) => Err(timed_out(call, deadline)),
        }
    }
}

fn timed_out(call: Call, deadline: Duration) -> Error {
    let op = call.op.as_str();
    let (kind, what_to_do) = match call.op {
        Op::MetaCas => (ErrorKind::Unknown, "it may still be done: read the record again and obey it"),
        _ if call.changes => (ErrorKind::Unknown, "it may still be done: send it again as it is"),
        _ => (ErrorKind::Unavailable, "try again later, or raise its deadline"),
    };
    Error::new(kind, format!("store call {op} had no answer after {deadline:?}; {what_to_do}"))
}

#[cfg(test)]
mod tests {
    use env::ManualClock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn layer(clock: &ManualClock) -> TimeoutLayer {
        let deadlines = Deadlines::all(3 * SECOND).with(Op::Scan, SECOND);
        TimeoutLayer::new(Arc::new(clock.clone()), deadlines)
    }

    /// Runs a call that never answers until `passes` is over; none if it still waits then.
    async fn hang(op: Op, passes: Duration) -> Option<Error> {
        let clock = ManualClock::default();
        let layer = layer(&clock);
        let never: BoxFuture<'static, Result<()>> = Box::pin(std::future::pending());
        let mut call = Box::pin(layer.around(Call::new(op, 0), never));
        assert!(futures::poll!(&mut call).is_pending());
        clock.advance(passes);
        match futures::poll!(&mut call) {
            std::task::Poll::Ready(result) => Some(result.unwrap_err()),
            std::task::Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn a_late_read_is_unavailable_and_a_late_change_unknown() {
        let reads = [
            Op::ListTables,
            Op::Enumerate,
            Op::Histogram,
            Op::MetaGet,
            Op::MetaRange,
            Op::Ready,
            Op::DiskShare,
        ];
        for op in reads {
            assert_eq!(hang(op, 3 * SECOND).await.unwrap().kind(), ErrorKind::Unavailable, "{op:?}");
        }
        for op in [Op::CreateTable, Op::DropTable, Op::Upsert, Op::DeletePartition, Op::MetaCas] {
            assert_eq!(hang(op, 3 * SECOND).await.unwrap().kind(), ErrorKind::Unknown, "{op:?}");
        }
    }

    #[tokio::test]
    async fn each_operation_has_its_own_deadline() {
        assert!(hang(Op::Scan, SECOND).await.is_some());
        assert!(hang(Op::Upsert, SECOND).await.is_none());
    }

    #[tokio::test]
    async fn the_message_says_after_how_long_and_what_to_do() {
        let message = hang(Op::Upsert, 3 * SECOND).await.unwrap().to_string();
        assert_eq!(
            message,
            "store call upsert had no answer after 3s; it may still be done: send it again as it is"
        );
    }

    #[tokio::test]
    async fn an_answer_in_time_passes_as_it_is() {
        let clock = ManualClock::default();
        let in_time = {
            let clock = clock.clone();
            async move {
                clock.sleep(2 * SECOND).await;
                Err::<(), _>(Error::invalid("its own error"))
            }
        };
        let layer = layer(&clock);
        let mut call = Box::pin(layer.around(Call::new(Op::Upsert, 0), Box::pin(in_time)));
        assert!(futures::poll!(&mut call).is_pending());
        clock.advance(2 * SECOND);
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Invalid);
    }
}
