//! The queue that the settings choose: how detections get from the servers that read to those that split.
//!
//! The embedded one is the record of the split itself: whoever reads makes the candidate, and workers look for candidates. With
//! Kafka whoever reads sends, and workers make the candidates. Neither can hold up a read, and neither keeps a server from
//! starting.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::Engine;
use env::{Env, blocking};
use prometheus_client::registry::Registry;
use queue_kafka::{Broker, Options, QueueMetrics, Receiver, Sender, Standing, Taken, Taker};
use rpc::QueueState;
use split::Detection;
use tokio::sync::watch;

use crate::config::{Config, QueueBackend};
use crate::{Error, backend};

/// Between two attempts to make the topics.
const TRY_EVERY: Duration = Duration::from_secs(2);
/// How often brokers are asked how the queue stands.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// What was not delivered by then at a stop is lost.
const FLUSHED_WITHIN: Duration = Duration::from_secs(2);

/// How detections leave this server, and how they come.
#[derive(Clone)]
pub(crate) enum Queue {
    Embedded,
    Kafka(Arc<Kafka>),
}

/// A topic of Kafka.
pub(crate) struct Kafka {
    options: Options,
    metrics: QueueMetrics,
    broker: Broker,
    sender: Sender,
    state: watch::Sender<QueueState>,
    env: Env,
}

impl Queue {
    /// Prepares the queue that the settings choose. No broker has to be there yet.
    pub(crate) async fn open(
        config: &Config,
        engine: &Engine,
        registry: &mut Registry,
        env: &Env,
    ) -> Result<Self, Error> {
        if config.queue.backend == QueueBackend::Embedded {
            return Ok(Self::Embedded);
        }
        let options = options(config, env).await?;
        let metrics = QueueMetrics::default();
        metrics.register(registry);
        options.check().map_err(Error::Queue)?;
        let broker = Broker::new(&options, &metrics, env).map_err(Error::Queue)?;
        let dropping = engine.clone();
        let sender =
            Sender::new(&options, &metrics, move || dropping.drop_detection()).map_err(Error::Queue)?;
        let unknown = QueueState {
            backend: config.queue.backend.as_str(),
            topic: options.topic.clone(),
            group: options.group.clone(),
            problem: "not asked yet".to_owned(),
            ..QueueState::default()
        };
        let (state, _) = watch::channel(unknown);
        Ok(Self::Kafka(Arc::new(Kafka { options, metrics, broker, sender, state, env: env.clone() })))
    }

    /// What this server knows of the queue, from now on.
    pub(crate) fn state(&self) -> watch::Receiver<QueueState> {
        match self {
            Self::Embedded => {
                let embedded = QueueBackend::Embedded.as_str();
                watch::channel(QueueState { backend: embedded, ..QueueState::default() }).1
            }
            Self::Kafka(kafka) => kafka.state.subscribe(),
        }
    }

    /// Passes on what reads have found.
    pub(crate) async fn carry(&self, engine: &Engine) {
        match self {
            Self::Embedded => {
                if let Err(error) = engine.take_detections().await {
                    tracing::warn!(%error, "a wide partition could not be noted; the next read finds it again");
                }
            }
            Self::Kafka(kafka) => {
                while let Some(detection) = engine.hand_over_detection() {
                    kafka.sender.send(&detection);
                }
            }
        }
    }

    /// Delivers what was sent, for a moment.
    pub(crate) async fn close(&self, env: &Env) {
        if let Self::Kafka(kafka) = self {
            kafka.sender.flush(env, FLUSHED_WITHIN).await;
        }
    }
}

impl Kafka {
    /// Makes the topics, as soon as brokers are there; then asks now and then how the queue stands. Never ends.
    pub(crate) async fn watch(&self) {
        self.make_topics().await;
        loop {
            let asked = self.broker.standing().await;
            let problem = asked.as_ref().err().map(ToString::to_string).unwrap_or_default();
            let standing = asked.ok();
            self.state.send_modify(|state| {
                if state.problem != problem && !problem.is_empty() {
                    tracing::warn!("{problem}");
                }
                state.lag = standing.map(|standing| standing.lag);
                state.dead_letters = standing.map(|standing| standing.dead_letters);
                state.problem = problem;
            });
            self.env.clock.sleep(ASK_EVERY).await;
        }
    }

    async fn make_topics(&self) {
        while let Err(error) = self.broker.make_topics().await {
            let problem = error.to_string();
            self.state.send_if_modified(|state| {
                let changed = state.problem != problem;
                if changed {
                    tracing::warn!("{problem}; tried again every {} s, reads go on", TRY_EVERY.as_secs());
                    state.problem = problem;
                }
                changed
            });
            self.env.clock.sleep(TRY_EVERY).await;
        }
    }

    /// Takes detections as a worker, until `stopped` says so.
    pub(crate) async fn work(&self, engine: Engine, mut stopped: watch::Receiver<bool>) {
        let receiver = loop {
            let made = async {
                // A group cannot take a topic that is not there.
                self.make_topics().await;
                Receiver::new(&self.options, &self.metrics, &self.env)
            };
            let made = tokio::select! {
                made = made => made,
                _stop = stopped.wait_for(|stop| *stop) => return,
            };
            match made {
                Ok(receiver) => break receiver,
                Err(error) => tracing::error!(%error, "this worker cannot take detections; tried again"),
            }
            self.env.clock.sleep(TRY_EVERY).await;
        };
        let noting = Noting { engine };
        tokio::select! {
            () = receiver.run(&noting) => {}
            _stop = stopped.wait_for(|stop| *stop) => {}
        }
        // It says goodbye to the group, and waits for the answer.
        let left = blocking(&*self.env.spawn, move || drop(receiver)).await;
        if left.is_err() {
            tracing::debug!("the group was not left in order; others take over after a while");
        }
    }
}

/// Makes candidates of what comes from Kafka.
struct Noting {
    engine: Engine,
}

#[async_trait]
impl Taker for Noting {
    async fn take(&self, detection: &Detection, age: Duration) -> Result<Taken, String> {
        let noted = self.engine.note_detection(detection, age).await.map_err(|error| error.to_string())?;
        Ok(if noted { Taken::Noted } else { Taken::Unknown })
    }
}

/// Asks the brokers of `config` how the queue stands, and makes nothing there. Nothing where the store itself is the queue.
pub async fn examine_queue(config: &Config, env: &Env) -> Result<Option<Standing>, Error> {
    let Some(broker) = broker(config, env).await? else { return Ok(None) };
    broker.standing().await.map(Some).map_err(Error::Queue)
}

/// Removes the topics of `config`, if Kafka is its queue.
pub async fn drop_topics(config: &Config, env: &Env) -> Result<(), Error> {
    let Some(broker) = broker(config, env).await? else { return Ok(()) };
    broker.drop_topics().await.map_err(Error::Queue)
}

async fn broker(config: &Config, env: &Env) -> Result<Option<Broker>, Error> {
    if config.queue.backend == QueueBackend::Embedded {
        return Ok(None);
    }
    let options = options(config, env).await?;
    Broker::new(&options, &QueueMetrics::default(), env).map(Some).map_err(Error::Queue)
}

/// The options of Kafka, with what is in a file.
async fn options(config: &Config, env: &Env) -> Result<Options, Error> {
    let mut options = config.kafka_options();
    let path = &config.queue.kafka.password_file;
    if !path.as_os_str().is_empty() {
        let password = backend::read_password(path, env).await?;
        options.properties.insert("sasl.password".to_owned(), password);
    }
    Ok(options)
}
