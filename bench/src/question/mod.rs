//! The questions, one file each. A question knows its sides, its data and its goals; everything else is the harness's.

mod cassandra_drain;
mod cassandra_hot;
mod cassandra_packed;
mod cassandra_read;
mod cassandra_split;
mod cassandra_split_read;
mod cassandra_wide;
mod cassandra_write;
mod checks;
mod count;
mod drain;
mod fairness;
mod filter;
mod first_page;
mod grpc_ingest;
mod ingest;
mod metadata_load;
mod packed_chunk;
mod packed_embedded;
mod partial;
mod plan;
mod published;
mod route_cost;
mod scan;
mod search;
mod shadow;
mod split;
mod split_fairness;
mod split_read;
mod start;

use anyhow::Result;

use crate::harness::{Answer, Setting};

/// Something to find out by measuring.
pub(crate) struct Question {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it asks, in one line.
    pub(crate) asks: &'static str,
    /// Measures.
    pub(crate) answer: fn(&Setting) -> Result<Answer>,
}

/// All of them, in the order in which they run.
pub(crate) const ALL: &[Question] = &[
    ingest::QUESTION,
    scan::QUESTION,
    grpc_ingest::QUESTION,
    first_page::QUESTION,
    drain::QUESTION,
    search::QUESTION,
    count::QUESTION,
    fairness::QUESTION,
    partial::QUESTION,
    split::QUESTION,
    split_fairness::QUESTION,
    filter::QUESTION,
    route_cost::QUESTION,
    shadow::QUESTION,
    split_read::QUESTION,
    published::QUESTION,
    packed_chunk::QUESTION,
    packed_embedded::QUESTION,
    checks::QUESTION,
    metadata_load::QUESTION,
    plan::QUESTION,
    cassandra_write::QUESTION,
    cassandra_drain::QUESTION,
    cassandra_read::QUESTION,
    cassandra_wide::QUESTION,
    cassandra_split::QUESTION,
    cassandra_split_read::QUESTION,
    cassandra_packed::SMALL,
    cassandra_packed::LARGE,
    cassandra_packed::OTHERS,
    cassandra_hot::QUESTION,
    start::QUESTION,
];
