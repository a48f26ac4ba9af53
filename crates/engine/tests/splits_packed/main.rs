//! The tests of `splits` with packed targets, and those that only packed targets have.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

const LAYOUT: engine::SplitLayout = engine::SplitLayout::Packed;

mod ahead;
#[path = "../splits/corrupt.rs"]
mod corrupt;
mod cut;
#[path = "../splits/detect.rs"]
mod detect;
#[path = "../splits/doom.rs"]
mod doom;
mod elsewhere;
#[path = "../splits/exports.rs"]
mod exports;
#[path = "../splits/lifecycle.rs"]
mod lifecycle;
#[path = "../splits/modes.rs"]
mod modes;
mod packed;
mod planned;
#[path = "../splits/refuse.rs"]
mod refuse;
#[path = "../splits/routes.rs"]
mod routes;
mod slow_headers;
#[path = "../splits/takeover.rs"]
mod takeover;
#[path = "../splits/world.rs"]
mod world;
