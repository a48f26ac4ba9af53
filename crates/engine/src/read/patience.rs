//! How long a page may take.

use std::time::Duration;

use env::{BootTime, BoxFuture, Clock};

use crate::{NamespaceSpec, ReadRequest};

const ON_THE_WAY_MIN: Duration = Duration::from_millis(10);
const ON_THE_WAY_MAX: Duration = Duration::from_secs(1);

/// How long a page may take, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimit {
    pub(crate) within: Duration,
    pub(crate) reason: &'static str,
}

impl TimeLimit {
    /// What the request allows, or else the namespace; and never so long that the client is gone before it has the answer.
    pub(crate) fn of(request: &ReadRequest, spec: &NamespaceSpec) -> Self {
        let asked = request.max_latency.map(|within| Self { within, reason: "MAX_LATENCY" });
        let allowed = asked.unwrap_or(Self { within: spec.read_max, reason: "READ_MAX" });
        let deadline = request.deadline.map(|end| Self { within: end - on_the_way(end), reason: "DEADLINE" });
        deadline.filter(|deadline| deadline.within < allowed.within).unwrap_or(allowed)
    }
}

/// What an answer needs to reach a client that waits so long: a tenth of it, but no less than 10 ms (half of a shorter wait)
/// and no more than a second.
fn on_the_way(wait: Duration) -> Duration {
    (wait / 10).clamp(ON_THE_WAY_MIN.min(wait / 2), ON_THE_WAY_MAX)
}

/// Waits for the store until the time of the page is over.
pub(super) struct Patience<'a> {
    clock: &'a dyn Clock,
    end: BootTime,
    over: BoxFuture<'static, ()>,
    /// Whose limit it is.
    pub(super) reason: &'static str,
}

impl<'a> Patience<'a> {
    /// As long as `limit` allows, counted from `started` on.
    pub(super) fn new(clock: &'a dyn Clock, started: BootTime, limit: TimeLimit) -> Self {
        let end = started + limit.within;
        Self { clock, end, over: clock.sleep(end.since(clock.boot())), reason: limit.reason }
    }

    /// What `work` gives, unless the time is over before. Work that is dropped then ends soon.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        if self.clock.boot() >= self.end {
            return None;
        }
        tokio::select! {
            // What is there counts, even at the last moment.
            biased;
            done = work => Some(done),
            () = &mut self.over => None,
        }
    }

    /// The same for half of the time that is left: the other half is for another way to do the work.
    pub(super) async fn wait_half<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let half = self.clock.sleep(self.end.since(self.clock.boot()) / 2);
        tokio::select! {
            biased;
            done = self.wait(work) => done,
            () = half => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Interval, NamespaceName, Order};

    use super::*;

    #[test]
    fn the_shorter_of_what_is_allowed_and_what_the_client_waits_counts() {
        let limit = |max_latency: Option<u64>, deadline: Option<u64>| {
            let millis = |millis: Option<u64>| millis.map(Duration::from_millis);
            let request = ReadRequest {
                namespace: NamespaceName::new("n").unwrap(),
                series: Vec::new(),
                interval: Interval::ALL,
                query: None,
                page_records: 1,
                order: Order::NewestFirst,
                resume: None,
                total_limit: None,
                max_latency: millis(max_latency),
                deadline: millis(deadline),
            };
            let limit = TimeLimit::of(&request, &NamespaceSpec::default());
            (u64::try_from(limit.within.as_millis()).unwrap(), limit.reason)
        };
        assert_eq!(limit(None, None), (10_000, "READ_MAX"));
        assert_eq!(limit(Some(20_000), None), (20_000, "MAX_LATENCY"));
        assert_eq!(limit(Some(300), Some(60_000)), (300, "MAX_LATENCY"));
        assert_eq!(limit(None, Some(60_000)), (10_000, "READ_MAX"));
        assert_eq!(limit(None, Some(5_000)), (4_500, "DEADLINE"));
        assert_eq!(limit(None, Some(10_500)), (9_500, "DEADLINE"));
        assert_eq!(limit(Some(20_000), Some(15_000)), (14_000, "DEADLINE"));
        assert_eq!(limit(None, Some(50)), (40, "DEADLINE"));
        assert_eq!(limit(None, Some(6)), (3, "DEADLINE"));
    }
}
