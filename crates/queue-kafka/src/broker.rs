//! What is asked of brokers beside messages: the topics, made if they are missing, and how far behind the workers are.

use std::sync::Arc;
use std::time::Duration;

use env::{Env, blocking};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::events::Told;
use crate::{Error, Options, QueueMetrics};

/// Partitions of a topic that is made here; as many workers can take from it at a time.
const PARTITIONS: i32 = 6;
/// Replicas of it, where there are as many brokers.
const REPLICAS_MAX: usize = 3;
/// How long a broker may take to answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// How the queue stands, in all of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Detections that no worker has dealt with.
    pub lag: u64,
    /// Messages that are no detections, as far as Kafka still keeps them.
    pub dead_letters: u64,
}

/// Asks brokers. Cheap to clone.
#[derive(Clone)]
pub struct Broker {
    admin: Arc<AdminClient<Told>>,
    asker: Arc<BaseConsumer<Told>>,
    options: Arc<Options>,
    metrics: QueueMetrics,
    env: Env,
}

impl Broker {
    /// Prepares to ask; nobody is asked yet.
    pub fn new(options: &Options, metrics: &QueueMetrics, env: &Env) -> Result<Self, Error> {
        let refused = |source| Error::Settings { source };
        let admin = options.asker().create_with_context(Told).map_err(refused)?;
        let asker = options.asker().create_with_context(Told).map_err(refused)?;
        Ok(Self {
            admin: Arc::new(admin),
            asker: Arc::new(asker),
            options: Arc::new(options.clone()),
            metrics: metrics.clone(),
            env: env.clone(),
        })
    }

    /// Makes the topic of detections and that of dead letters, unless they are there.
    pub async fn make_topics(&self) -> Result<(), Error> {
        let asker = Arc::clone(&self.asker);
        let asked = self.ask("say who they are", move || {
            asker.fetch_metadata(None, ANSWERED_WITHIN).map(|known| known.brokers().len())
        });
        let brokers = asked.await?;
        let replicas = brokers.clamp(1, REPLICAS_MAX);
        let copies = i32::try_from(replicas).unwrap_or(1);
        // With three replicas one may be away; with fewer nobody can say more than that it has it.
        let in_sync = if replicas == REPLICAS_MAX { "2" } else { "1" };
        let dead_letters = self.options.dead_letter_topic();
        let topics = [self.options.topic.as_str(), &dead_letters].map(|name| {
            let fixed = TopicReplication::Fixed(copies);
            NewTopic::new(name, PARTITIONS, fixed).set("min.insync.replicas", in_sync)
        });
        let within = AdminOptions::new().request_timeout(Some(ANSWERED_WITHIN));
        let made = self.admin.create_topics(&topics, &within).await;
        let made = made.map_err(|source| self.failed("make topics", source))?;
        for result in made {
            match result {
                Ok(topic) => tracing::info!(topic, replicas, "made a topic"),
                Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((topic, code)) => {
                    let (brokers, code) = (self.options.brokers(), code.to_string());
                    return Err(Error::Topic { brokers, what: "make", topic, code });
                }
            }
        }
        Ok(())
    }

    /// Removes both topics, and whatever is in them.
    pub async fn drop_topics(&self) -> Result<(), Error> {
        let dead_letters = self.options.dead_letter_topic();
        let topics = [self.options.topic.as_str(), &dead_letters];
        let within = AdminOptions::new().request_timeout(Some(ANSWERED_WITHIN));
        let dropped = self.admin.delete_topics(&topics, &within).await;
        for result in dropped.map_err(|source| self.failed("remove topics", source))? {
            match result {
                Ok(_)
                | Err((_, RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic)) => {}
                Err((topic, code)) => {
                    let (brokers, code) = (self.options.brokers(), code.to_string());
                    return Err(Error::Topic { brokers, what: "remove", topic, code });
                }
            }
        }
        Ok(())
    }

    /// How the queue stands now; the metrics show it too.
    pub async fn standing(&self) -> Result<Standing, Error> {
        let (asker, options) = (Arc::clone(&self.asker), Arc::clone(&self.options));
        let asked = self.ask("say how far it is", move || {
            Ok(Standing {
                lag: behind(&asker, &options.topic)?,
                dead_letters: ends(&asker, &options.dead_letter_topic())?
                    .iter()
                    .map(|(_, low, high)| high.abs_diff(*low))
                    .sum(),
            })
        });
        let standing = asked.await?;
        self.metrics.stands(standing);
        Ok(standing)
    }

    /// The client waits in its caller's thread.
    async fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        question: impl FnOnce() -> Result<T, KafkaError> + Send + 'static,
    ) -> Result<T, Error> {
        let asked = blocking(&*self.env.spawn, question).await;
        asked.map_err(|_ending| Error::Ending)?.map_err(|source| self.failed(what, source))
    }

    fn failed(&self, what: &'static str, source: KafkaError) -> Error {
        Error::Broker { brokers: self.options.brokers(), what, source }
    }
}

/// The partitions of a topic, each with its first offset and the one behind its last.
fn ends(asker: &BaseConsumer<Told>, topic: &str) -> Result<Vec<(i32, i64, i64)>, KafkaError> {
    let known = asker.fetch_metadata(Some(topic), ANSWERED_WITHIN)?;
    let partitions = known.topics().iter().flat_map(|topic| topic.partitions());
    let ends = partitions.map(|partition| {
        let (low, high) = asker.fetch_watermarks(topic, partition.id(), ANSWERED_WITHIN)?;
        Ok((partition.id(), low, high))
    });
    ends.collect()
}

/// Messages of a topic behind those that the group has committed.
fn behind(asker: &BaseConsumer<Told>, topic: &str) -> Result<u64, KafkaError> {
    let ends = ends(asker, topic)?;
    let mut wanted = TopicPartitionList::new();
    for (partition, ..) in &ends {
        wanted.add_partition(topic, *partition);
    }
    let committed = asker.committed_offsets(wanted, ANSWERED_WITHIN)?;
    let left = |(partition, low, high): &(i32, i64, i64)| {
        let done = match committed.find_partition(topic, *partition).map(|found| found.offset()) {
            Some(Offset::Offset(offset)) => offset.max(*low),
            _ => *low,
        };
        high.saturating_sub(done).max(0).unsigned_abs()
    };
    Ok(ends.iter().map(left).sum())
}
