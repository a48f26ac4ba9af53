//! From Kafka to the records of splits, one message after the other.
//!
//! A message is done with once its detection is noted durably, is of nothing that is known here, or lies among the dead letters.
//! Until then its offset is not stored: whoever takes the partition next gets it again. Where it cannot be noted (the metadata
//! is away) nothing is skipped: the partitions are paused, the message is put back, and all goes on from it a moment later.

use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use env::Env;
use rdkafka::consumer::{Consumer, StreamConsumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Header, Message, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::topic_partition_list::Offset;
use split::Detection;

use crate::events::Told;
use crate::{Error, Options, QueueMetrics};

/// Detections that could not be noted are tried again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Bytes of a malformed message that are kept as a dead letter; a broker may have let pass much more.
const DEAD_LETTER_BYTES_MAX: usize = 64 << 10;
/// How long a dead letter may wait for room in the client.
const ROOM_WITHIN: Duration = Duration::from_secs(5);

/// What became of a detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// There is a durable record of it, or there was one already.
    Noted,
    /// It names a namespace, slice or partition that does not exist.
    Unknown,
}

/// Whoever notes detections.
#[async_trait]
pub trait Taker: Send + Sync {
    /// Notes a detection that was sent so long ago. An error means that it could not be, now, and says why: it will be given again.
    async fn take(&self, detection: &Detection, age: Duration) -> Result<Taken, String>;
}

/// Receives detections as one worker of the group.
pub struct Receiver {
    consumer: StreamConsumer<Told>,
    dead_letters: FutureProducer<Told>,
    dead_letter_topic: String,
    metrics: QueueMetrics,
    env: Env,
}

impl Receiver {
    /// Joins the group.
    pub fn new(options: &Options, metrics: &QueueMetrics, env: &Env) -> Result<Self, Error> {
        let refused = |source| Error::Settings { source };
        let consumer: StreamConsumer<_> = options.consumer().create_with_context(Told).map_err(refused)?;
        consumer.subscribe(&[&options.topic]).map_err(refused)?;
        let dead_letters = options.producer().create_with_context(Told).map_err(refused)?;
        Ok(Self {
            consumer,
            dead_letters,
            dead_letter_topic: options.dead_letter_topic(),
            metrics: metrics.clone(),
            env: env.clone(),
        })
    }

    /// Takes messages for ever. Dropped at any point, it leaves every message that is not done with to others.
    pub async fn run(&self, taker: &dyn Taker) {
        loop {
            let message = match self.consumer.recv().await {
                Ok(message) => message,
                Err(error) => {
                    // The client goes on by itself, and has said so. The next one is taken at once: behind it waits what ends the trouble.
                    tracing::debug!(%error, "detections cannot be received");
                    continue;
                }
            };
            match self.deal_with(&message, taker).await {
                Ok(outcome) => {
                    self.metrics.received(outcome);
                    if let Err(error) = self.consumer.store_offset_from_message(&message) {
                        tracing::debug!(%error, "another worker has this partition of the topic now");
                    }
                }
                Err(why) => {
                    tracing::warn!(
                        "detections wait in Kafka: {why}; tried again in {} s",
                        AGAIN_AFTER.as_secs()
                    );
                    self.metrics.held();
                    self.hold(&message).await;
                }
            }
        }
    }

    /// What became of a message, or why nothing could become of it yet.
    async fn deal_with(
        &self,
        message: &BorrowedMessage<'_>,
        taker: &dyn Taker,
    ) -> Result<&'static str, String> {
        let payload = message.payload().unwrap_or_default();
        let Some(detection) = Detection::from_json(payload) else {
            self.bury(message, payload).await?;
            return Ok("malformed");
        };
        let sent = message.timestamp().to_millis().unwrap_or_default();
        let now = self.env.clock.wall() / 1_000_000;
        let age = Duration::from_millis(now.saturating_sub(sent).max(0).unsigned_abs());
        Ok(match taker.take(&detection, age).await? {
            Taken::Noted => "noted",
            Taken::Unknown => {
                tracing::debug!(?detection, "a detection names nothing that exists");
                "unknown"
            }
        })
    }

    /// Puts a message that is no detection among the dead letters.
    async fn bury(&self, message: &BorrowedMessage<'_>, payload: &[u8]) -> Result<(), String> {
        let (partition, offset) = (message.partition().to_string(), message.offset().to_string());
        let length = payload.len().to_string();
        let headers = [("braid-partition", &partition), ("braid-offset", &offset), ("braid-bytes", &length)]
            .into_iter()
            .fold(OwnedHeaders::new(), |headers, (key, value)| {
                headers.insert(Header { key, value: Some(value) })
            });
        let kept = payload.get(..DEAD_LETTER_BYTES_MAX).unwrap_or(payload);
        let key =
            message.key().and_then(|key| key.get(..DEAD_LETTER_BYTES_MAX).or(Some(key))).unwrap_or_default();
        let record = FutureRecord::to(&self.dead_letter_topic).key(key).payload(kept).headers(headers);
        let buried = self.dead_letters.send(record, ROOM_WITHIN).await;
        buried.map_err(|(error, _)| {
            format!("a message that is no detection could not be set aside ({error})")
        })?;
        tracing::warn!(
            partition,
            offset,
            topic = self.dead_letter_topic,
            "a message is no detection; set aside"
        );
        Ok(())
    }

    /// Puts a message back, takes nothing for a while, and lets it all come again.
    async fn hold(&self, message: &BorrowedMessage<'_>) {
        self.put_back(message);
        let mut over = pin!(self.env.clock.sleep(AGAIN_AFTER));
        loop {
            tokio::select! {
                () = &mut over => break,
                // The group has to see that this worker lives. A partition that it was given meanwhile is not paused yet.
                received = self.consumer.recv() => match received {
                    Ok(early) => self.put_back(&early),
                    Err(error) => tracing::debug!(%error, "while detections wait"),
                },
            }
        }
        let resumed = self.consumer.assignment().and_then(|assigned| self.consumer.resume(&assigned));
        if let Err(error) = resumed {
            tracing::warn!(%error, "partitions of the topic could not be taken up again; the next rebalance does");
        }
    }

    fn put_back(&self, message: &BorrowedMessage<'_>) {
        if let Err(error) = self.try_put_back(message) {
            tracing::debug!(%error, "another worker has this partition of the topic now");
        }
    }

    fn try_put_back(&self, message: &BorrowedMessage<'_>) -> Result<(), KafkaError> {
        self.consumer.pause(&self.consumer.assignment()?)?;
        let at = Offset::Offset(message.offset());
        self.consumer.seek(message.topic(), message.partition(), at, Duration::ZERO)
    }
}
