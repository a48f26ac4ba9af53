//! Settings of `braid serve`: a flag beats the environment, which beats the file, which beats the default.
//!
//! Settings are plain data. They are checked once, here, into a [`Config`] without options; whoever holds one need not
//! check again. Nothing here reads the environment or starts anything: [`load`] is given the flags and the variables and
//! reads one file, all else is a function of its arguments. Every mistake is reported, not only the first, and each
//! with its place, its key, what was given and what to do.
//!
//! A setting is a field of [`Config`] with its default (`settings`) and a line in the table of keys (`keys`). The table
//! drives the file, the environment, the flags, `config show` and the page `docs/operating/configuration.md`; there is
//! no second list.
//!
//! Reading order: `settings`, `cassandra`, `queue` and `histograms` (what there is), `keys` (the table), `value`, `units` and `forms` (what was
//! given, and how it is read), `given` (file, environment and flags become a list of what was given), `nearest` (what an unknown name may have meant),
//! `loading` (the layers put on top of each other), `error`.

mod cassandra;
mod error;
mod forms;
mod given;
mod histograms;
mod keys;
mod loading;
mod nearest;
mod queue;
mod settings;
mod units;
mod value;

pub use cassandra::{Cassandra, CassandraTls};
pub use error::ConfigError;
pub use given::Flags;
pub use histograms::Histograms;
pub use loading::{Loaded, Setting, load};
pub use queue::{Kafka, Queue, QueueBackend};
pub use settings::{Backend, Config, Embedded, Level, Limits, Log, LogFormat, Role, Server, Store};

#[cfg(test)]
mod tests;
