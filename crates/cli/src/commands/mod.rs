//! One file a verb: what it takes, and what it does with it.

pub(crate) mod block;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod ns;
pub(crate) mod put;
mod read;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod slices;
pub(crate) mod tail;
