//! A cluster in which nothing goes wrong keeps the contract, whether its messages take time or not.

mod at_once {
    //! Messages take no time.

    use std::sync::Arc;

    use env::Env;
    use sim::cluster::{Lag, Options};
    use sim::{Cluster, Trace};
    use store::Store;

    async fn make() -> (Arc<dyn Store>, ()) {
        let (env, options) = (Env::system(), Options { lag: Lag::NONE, ..Options::default() });
        (Arc::new(Cluster::new(env.clock, env.random, Trace::default(), options)), ())
    }

    store::conformance_suite!(make);
}

mod with_lag {
    //! Messages take time, each its own, so replicas differ for a while. The time is simulated.

    use std::sync::Arc;

    use env::SeededRandom;
    use sim::cluster::Options;
    use sim::world::TrueClock;
    use sim::{Cluster, Trace};
    use store::{Consistency, Store};

    async fn make() -> (Arc<dyn Store>, ()) {
        // Weak calls are made as strong as the suite takes them to be.
        let consistency_least = Consistency::LocalQuorum;
        let options = Options { consistency_least, ..Options::default() };
        let (clock, random) = (Arc::new(TrueClock::start()), Arc::new(SeededRandom::new(1)));
        (Arc::new(Cluster::new(clock, random, Trace::default(), options)), ())
    }

    store::conformance_suite!(make, flavor = "current_thread", start_paused = true);
}
