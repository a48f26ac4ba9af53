//! Plans for namespaces. They take a processor and nothing else: away from the async threads, and few at a time.

use std::sync::Arc;

use api::admin::v1 as wire;
use api::convert::{plan_request, plan_response, refused};
use engine::{Error, Reason, Result as Answer};
use env::Spawn;
use tokio::sync::Semaphore;

/// Plans that a server makes at a time: each keeps a core busy, for seconds where it asks for the most worlds.
const PLANS_MAX: usize = 2;

/// Where plans are made.
#[derive(Clone, Debug)]
pub(crate) struct Planner {
    places: Arc<Semaphore>,
}

impl Planner {
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(PLANS_MAX)) }
    }

    /// Makes a plan. Whoever does not wait for it any more does not free its place: it is made to its end.
    pub(crate) async fn plan(
        &self,
        spawn: &dyn Spawn,
        request: &wire::PlanNamespaceRequest,
    ) -> Answer<wire::PlanNamespaceResponse> {
        let workload = plan_request(request)?;
        workload.check().map_err(refused)?;
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let message = format!("{PLANS_MAX} plans are being made, which is the server's limit; try again");
            return Err(Error::new(Reason::RateLimited, message));
        };
        let planned = env::blocking(spawn, move || {
            let _place = place;
            provision::plan(&workload).map(|plan| plan_response(&workload, plan))
        });
        let stopped =
            |_| Error::new(Reason::NotReady, "the server is stopping; ask another one, or try again");
        planned.await.map_err(stopped)?.map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use env::{BoxFuture, Work};
    use futures::FutureExt;

    use super::*;

    /// Keeps blocking work until it is told to do it.
    #[derive(Default)]
    struct Held(Mutex<Vec<Work>>);

    impl Spawn for Held {
        fn task(&self, _: &'static str, _: BoxFuture<'static, ()>) {
            panic!("a plan is no task");
        }

        fn pooled(&self, work: Work) {
            self.0.lock().unwrap().push(work);
        }

        fn thread(&self, _: &'static str, _: Work) -> std::io::Result<()> {
            panic!("a plan needs no thread of its own");
        }
    }

    fn request() -> wire::PlanNamespaceRequest {
        let guess = |mid| Some(wire::Guess { low: None, mid, high: None });
        let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
        wire::PlanNamespaceRequest {
            events_per_second_per_id: guess(1.0),
            ids: guess(100.0),
            event_bytes: guess(100.0),
            read_interval: seconds(60),
            retention: seconds(86_400),
            worlds: 1,
            ..wire::PlanNamespaceRequest::default()
        }
    }

    #[test]
    fn a_plan_has_its_place_until_it_is_made() {
        let (planner, spawn) = (Planner::new(), Held::default());
        let request = request();
        let mut waiting: Vec<_> = (0..PLANS_MAX).map(|_| Box::pin(planner.plan(&spawn, &request))).collect();
        for plan in &mut waiting {
            assert!(plan.now_or_never().is_none(), "it is made elsewhere");
        }
        let refused = || planner.plan(&spawn, &request).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused().reason(), Reason::RateLimited);
        // Nobody waits for this one any more, and it still takes a core.
        drop(waiting.pop());
        assert_eq!(refused().reason(), Reason::RateLimited);
        for work in spawn.0.lock().unwrap().drain(..) {
            work();
        }
        let made = waiting.pop().unwrap().now_or_never().unwrap().unwrap();
        assert!(made.chosen.is_some());
        assert!(planner.plan(&spawn, &request).now_or_never().is_none());
    }

    #[test]
    fn what_cannot_be_planned_takes_no_place() {
        let (planner, spawn) = (Planner::new(), Held::default());
        let request = wire::PlanNamespaceRequest { retention: None, ..request() };
        let refused = planner.plan(&spawn, &request).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused.reason(), Reason::FieldInvalid);
        assert!(refused.to_string().starts_with("retention: is missing"), "{refused}");
        assert!(spawn.0.lock().unwrap().is_empty());
        assert_eq!(planner.places.available_permits(), PLANS_MAX);
    }

    #[test]
    fn a_server_that_stops_says_so() {
        let (planner, spawn) = (Planner::new(), Held::default());
        let request = request();
        let mut plan = Box::pin(planner.plan(&spawn, &request));
        assert!((&mut plan).now_or_never().is_none());
        spawn.0.lock().unwrap().clear();
        assert_eq!(plan.now_or_never().unwrap().unwrap_err().reason(), Reason::NotReady);
        assert_eq!(planner.places.available_permits(), PLANS_MAX);
    }
}
