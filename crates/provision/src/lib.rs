//! The provisioner: from a guess of a workload to a shape and a cluster. No clock, no store, no randomness but what the
//! workload's own seed decides: the same workload gives the same plan.
//!
//! In flow order: [`Workload`] (what is known, checked), worlds (what it could turn out to be), shapes and clusters
//! (what could be chosen), what each shape does in each world and what that costs, the search for the joint choice with
//! the least regret, and [`plan`], which puts it into words. [`Baseline`] is the published rule of thumb, shown beside.
//! Formulas and figures are explained in `docs/operating/provisioning.md`.

mod baseline;
mod behaviour;
mod cluster;
mod cost;
mod forecast;
mod grid;
mod guess;
mod plan;
mod random;
mod reason;
mod round;
mod search;
mod series;
mod workload;
mod world;

pub use baseline::{Baseline, Rules, rules};
pub use cluster::Cluster;
pub use forecast::{Forecast, SizeShare, Spread};
pub use guess::Guess;
pub use plan::{Choice, Plan, RunnerUp, plan};
pub use workload::{Refusal, WORLDS_DEFAULT, WORLDS_MAX, Workload};
