//! A broker, a topic of its own for each test, and takers that write down what they were given.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use env::Env;
use model::{PartitionKey, SeriesId};
use own_cluster::OwnBroker;
use queue_kafka::{Broker, Options, QueueMetrics, Receiver, Sender, Taken, Taker};
use split::Detection;

/// Everything has to be seen by then.
pub(crate) const SEEN_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What one test needs.
pub(crate) struct Scene {
    pub(crate) env: Env,
    pub(crate) options: Options,
    pub(crate) metrics: QueueMetrics,
    pub(crate) broker: Broker,
}

impl Scene {
    /// With a topic and a group of its own.
    pub(crate) fn new(kafka: &OwnBroker, name: &str) -> Self {
        let options = Options {
            bootstrap_servers: vec![kafka.address()],
            topic: format!("{name}.detections"),
            group: name.to_owned(),
            ..Options::default()
        };
        Self::with(options)
    }

    pub(crate) fn with(options: Options) -> Self {
        let (env, metrics) = (Env::system(), QueueMetrics::default());
        let broker = Broker::new(&options, &metrics, &env).unwrap();
        Self { env, options, metrics, broker }
    }

    /// A sender, and how many detections it has dropped.
    pub(crate) fn sender(&self) -> (Sender, std::sync::Arc<AtomicUsize>) {
        let dropped = std::sync::Arc::new(AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&dropped);
        let on_drop = move || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        (Sender::new(&self.options, &self.metrics, on_drop).unwrap(), dropped)
    }

    pub(crate) fn receiver(&self) -> Receiver {
        Receiver::new(&self.options, &self.metrics, &self.env).unwrap()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        let started = self.env.clock.boot();
        while !is_so().await {
            assert!(self.env.clock.boot().since(started) < SEEN_WITHIN, "never: {what}");
            self.env.clock.sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until the queue stands so.
    pub(crate) async fn stands(&self, lag: u64, dead_letters: u64) {
        let is_so = async || {
            let standing = self.broker.standing().await;
            standing.is_ok_and(|standing| (standing.lag, standing.dead_letters) == (lag, dead_letters))
        };
        self.until(&format!("{lag} behind and {dead_letters} dead letters"), is_so).await;
    }
}

/// A detection of one of many series.
pub(crate) fn detection(number: usize) -> Detection {
    let series = SeriesId::new(&format!("profileId:{number}")).unwrap();
    let partition = PartitionKey { series, time_bucket: 7, event_bucket: 2 };
    Detection::new("plays", "data_20260328", &partition, true, 20_000_000)
}

/// Writes down which series it was told of.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) taken: Mutex<Vec<String>>,
    /// Fails so often before it goes on.
    pub(crate) failures: AtomicUsize,
}

impl Notes {
    pub(crate) fn count(&self) -> usize {
        self.taken.lock().unwrap().len()
    }

    /// Each series once, in the order of the alphabet.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut taken = self.taken.lock().unwrap().clone();
        taken.sort();
        taken
    }
}

#[async_trait]
impl Taker for Notes {
    async fn take(&self, detection: &Detection, age: Duration) -> Result<Taken, String> {
        assert!(age < SEEN_WITHIN, "{age:?}");
        let fails = |left: usize| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fails).is_ok() {
            return Err("the metadata is away".to_owned());
        }
        if detection.namespace != "plays" {
            return Ok(Taken::Unknown);
        }
        self.taken.lock().unwrap().push(detection.time_series_id.clone());
        Ok(Taken::Noted)
    }
}

/// The series of detections, in the order of the alphabet.
pub(crate) fn series(numbers: std::ops::Range<usize>) -> Vec<String> {
    let mut all: Vec<_> = numbers.map(|number| detection(number).time_series_id).collect();
    all.sort();
    all
}
