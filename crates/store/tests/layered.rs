//! Layers that have nothing to say change nothing: the whole suite passes through all of them.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use env::Env;
use prometheus_client::registry::Registry;
use store::layer::{
    ByteRate, Deadlines, FaultLayer, FaultPlan, LaneLayer, Lanes, Layered, MetricsLayer, ThrottleLayer,
    TimeoutLayer,
};
use store::{MemoryStore, Store};

/// Far above what the suite needs, so that neither the rate nor a deadline is ever reached.
const BYTES_PER_SECOND: NonZeroU64 = NonZeroU64::new(1 << 50).unwrap();
const DEADLINE: Duration = Duration::from_secs(3_600);

async fn make() -> (Arc<dyn Store>, Registry) {
    let (env, mut registry) = (Env::system(), Registry::default());
    let rate = ByteRate { bytes_per_second: BYTES_PER_SECOND, burst_bytes_max: 1 << 50 };
    let faults = FaultLayer::new(env.clone(), FaultPlan::default());
    let throttle = ThrottleLayer::new(Arc::clone(&env.clock), rate);
    let timeouts = TimeoutLayer::new(Arc::clone(&env.clock), Deadlines::all(DEADLINE));
    let metrics = MetricsLayer::new(&mut registry, Arc::clone(&env.clock));
    let store = Layered::new(Arc::new(MemoryStore::new()), faults);
    let store = Layered::new(Arc::new(store), throttle);
    let lanes = LaneLayer::new(Arc::clone(&env.spawn), Lanes { small: 2, wide: 1 });
    let store = Layered::new(Arc::new(store), lanes);
    let store = Layered::new(Arc::new(store), timeouts);
    (Arc::new(Layered::new(Arc::new(store), metrics)), registry)
}

store::conformance_suite!(make);
