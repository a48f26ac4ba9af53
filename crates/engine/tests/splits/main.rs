//! Splits: found by reads, copied, proven equal, served; over one store in memory, on a clock that a test moves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

/// How targets keep events in these tests; `splits_packed` is the same with the other layout.
const LAYOUT: engine::SplitLayout = engine::SplitLayout::Rows;

mod corrupt;
mod detect;
mod doom;
mod exports;
mod lifecycle;
mod modes;
mod refuse;
mod routes;
mod takeover;
mod world;
