//! One file a verb: what it takes, and what it does with it.

pub(crate) mod agg;
pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod completions;
pub(crate) mod config;
mod cost;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod filters;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod ns;
pub(crate) mod partitions;
pub(crate) mod put;
mod read;
pub(crate) mod readmode;
mod scope;
pub(crate) mod search;
mod series;
pub(crate) mod serve;
pub(crate) mod slices;
pub(crate) mod split;
pub(crate) mod tail;
pub(crate) mod tune;
pub(crate) mod workers;
