//! The real binary, as users run it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aggregations;
mod audit;
mod backfill;
mod blocks;
mod commands;
mod demo;
mod doctor;
mod exports;
mod foreign;
mod full_disk;
mod kill;
mod partitions;
mod plans;
mod process;
mod read_modes;
mod readme;
mod split_kill;
mod splits;
mod tuning;
mod waiting;
mod wishes;
