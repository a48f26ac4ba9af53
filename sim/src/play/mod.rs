//! The play: several servers over one store, clients, an administrator and a nemesis, for simulated hours, with an oracle
//! that knows what may be answered.
//!
//! [`play`] runs one seed. `stage` has what all actors share; `server`, `client`, `reader` (with `counting`), `admin` (with `change`, `operator`
//! and `steering`), `nemesis` and `corruptor` are the actors; `ledger` is what happened as a client sees it, and `judge` holds
//! answers against it. Of splits, `records` follows what is stored, `targets` looks into targets, `taint` knows which were
//! damaged, `routes` which way reads came. `ending` is the liveness phase, with `resting`, `serving` and `leaks` for splits.
//!
//! Invariant: the ledger knows only what a client can know. So what it calls wrong, a client could call wrong.

mod admin;
mod ask;
mod burst;
mod change;
mod client;
mod corruptor;
mod counting;
mod counts;
mod dice;
mod ending;
mod evidence;
mod judge;
mod leaks;
mod ledger;
mod nemesis;
mod operator;
mod plot;
mod reader;
mod records;
mod resting;
mod routes;
mod run;
mod server;
mod serving;
mod space;
mod specs;
mod stage;
mod steering;
mod taint;
mod targets;

pub use counts::Counts;
pub use plot::Plot;
pub use run::{Ended, play, play_as};
