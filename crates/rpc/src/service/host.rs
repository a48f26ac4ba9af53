//! What the services need of the process they run in.

use api::convert::{AUTHOR_CHARS_MAX, AUTHOR_HEADER, cause};
use api::token::TokenKeys;
use engine::{Engine, Result as Answer};
use env::Env;
use tokio::sync::watch;
use tonic::metadata::MetadataMap;

/// Whether the process takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It does not; why, and what to do.
    NotReady(String),
}

/// How detections travel, as far as this server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// embedded or kafka.
    pub backend: &'static str,
    /// The topic of Kafka.
    pub topic: String,
    /// The consumer group of the workers.
    pub group: String,
    /// Detections that no worker has dealt with.
    pub lag: Option<u64>,
    /// Messages that were no detections.
    pub dead_letters: Option<u64>,
    /// Why those are not known; empty if they are.
    pub problem: String,
}

/// The process that serves. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    /// What answers.
    pub engine: Engine,
    /// What seals page tokens.
    pub keys: TokenKeys,
    /// Clock and tasks.
    pub env: Env,
    /// The version of the program.
    pub version: &'static str,
    /// What keeps the data: `embedded`.
    pub backend: &'static str,
    /// When it started, nanoseconds since 1970.
    pub started: i64,
    /// Whether it takes requests.
    pub readiness: watch::Receiver<Readiness>,
    /// How detections travel.
    pub queue: watch::Receiver<QueueState>,
}

impl Host {
    /// The engine, for changes that whoever called asks for.
    pub(crate) fn because(&self, metadata: &MetadataMap, reason: &str) -> Answer<Engine> {
        self.because_or("", metadata, reason)
    }

    /// The same; where the call names no author, `author` asks.
    pub(crate) fn because_or(&self, author: &str, metadata: &MetadataMap, reason: &str) -> Answer<Engine> {
        let named = metadata.get(AUTHOR_HEADER).map(|value| value.as_encoded_bytes());
        let mut cause = cause(named, reason)?;
        if cause.author.is_empty() {
            cause.author = author.chars().filter(|c| !c.is_control()).take(AUTHOR_CHARS_MAX).collect();
        }
        Ok(self.engine.because(cause))
    }
}
