//! The play: several servers over one store, clients, an administrator and a nemesis, for simulated hours, with an oracle
//! that knows what may be answered.
//!
//! [`play`] runs one seed. `stage` has what all actors share; `server`, `client`, `reader`, `admin` and `nemesis` are the actors;
//! `ledger` is what happened as a client sees it, and `judge` holds answers against it; `ending` is the liveness phase.
//!
//! Invariant: the ledger knows only what a client can know. So what it calls wrong, a client could call wrong.

mod admin;
mod ask;
mod burst;
mod change;
mod client;
mod corruptor;
mod counts;
mod dice;
mod ending;
mod judge;
mod ledger;
mod nemesis;
mod operator;
mod plot;
mod reader;
mod records;
mod resting;
mod run;
mod server;
mod space;
mod specs;
mod stage;
mod targets;

pub use counts::Counts;
pub use plot::Plot;
pub use run::{Ended, play, play_as};
