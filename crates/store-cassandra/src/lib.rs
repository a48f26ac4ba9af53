//! The store on an Apache Cassandra cluster, for those who outgrow one machine.
//!
//! The only home of CQL and of the driver (scylla); no type of it leaves this crate. Servers keep nothing that the
//! cluster does not have, so any number of them run over one. A namespace is a keyspace, a slice is a table, a
//! partition is a partition; a batch is one mutation, or several of whole events; metadata records change by
//! lightweight transactions. Where a cluster gives less than one machine, the contract of
//! [`Store`](::store::Store) says so.
//!
//! Reading order: [`CassandraStore`] (`store`), `options`, `tls`, `connect`, `datacenter`, `replicas`, `refusal`, `look`, `rights`,
//! `cluster` and `profiles` (joining one), [`examine`] (looking only), `names`, `schema` and `storage` (what is made there),
//! `registry` and `lifecycle` (tables, one maker each), `statements` (prepared, per table), `write`, `delete`, `scan`, `cells`, `edge`,
//! `pages`, `page_rows`, `hedge` and `route` (a second attempt elsewhere), `enumerate`, `measure` (rows), `histogram`
//! (sizes as the nodes know them), `one_node`, `signals` and `warnings` (how the nodes are), `transaction`, `records` and `read_back`
//! (metadata), `removal` (all of it gone), `failure` and `retry`.
//! Invariant: a statement is sent again only if sending it twice is the same as sending it once.

mod cells;
mod cluster;
mod connect;
mod datacenter;
mod delete;
mod edge;
mod enumerate;
mod examine;
mod failure;
mod hedge;
mod histogram;
mod lifecycle;
mod look;
mod measure;
mod names;
mod one_node;
mod options;
mod page_rows;
mod pages;
mod profiles;
mod read_back;
mod records;
mod refusal;
mod registry;
mod removal;
mod replicas;
mod retry;
mod rights;
mod route;
mod scan;
mod schema;
mod signals;
mod statements;
mod storage;
mod store;
mod tls;
mod transaction;
mod warnings;
mod write;

pub use examine::{Examined, Node, examine};
pub use histogram::{HistogramOptions, SourceChoice};
pub use look::{Layout, Rights};
pub use options::{Credentials, Options};
pub use removal::drop_keyspaces;
pub use replicas::Replicas;
pub use rights::MissingRight;
pub use schema::LAYOUT_VERSION;
pub use store::CassandraStore;
pub use tls::{Identity, Pem, Tls};
