//! The pure half of splitting: what a wide partition is, how it is cut, when two copies are equal, and which step may follow
//! which. No clock, no store, no randomness: whoever acts brings them along.
//!
//! In flow order: [`Detection`] (what a read saw), [`Profile`] (what a full scan found), [`plan`] (how to cut it),
//! [`Digest`] (whether copies are equal), [`Record`] (the durable state and its changes), [`Cover`] (which targets a read asks).

mod cover;
mod detection;
mod digest;
mod id;
mod plan;
mod profile;
mod record;
mod state;
mod steps;
mod strategy;

pub use cover::{Cover, CoverLayout, Leg, Place};
pub use detection::Detection;
pub use digest::{Digest, DigestKey, Digester, Key};
pub use id::{SplitId, shard_group};
pub use plan::{LayoutWish, Plan, StrategyWish, Usage, Wish, plan};
pub use profile::Profile;
pub use record::{
    Checkpoint, Garbage, Origin, Phase, PostSplit, PreSplit, Recheck, Record, TargetPartition, Transition,
    Why,
};
pub use state::{Reason, State};
pub use steps::{CHECKPOINTS_EVERY_BYTES, Moment, TRIES_MAX};
pub use strategy::{ChunkCodec, Packing, Strategy, TargetLayout};
