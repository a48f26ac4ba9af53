//! What the services need of the process they run in.

use api::token::TokenKeys;
use engine::Engine;
use env::Env;
use tokio::sync::watch;

/// Whether the process takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It does not; why, and what to do.
    NotReady(String),
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
}
