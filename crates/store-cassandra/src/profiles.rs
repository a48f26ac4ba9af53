//! One execution profile per purpose: how long to wait, how many replicas, where to ask.
//!
//! The driver never repeats a statement by itself: `retry` does, where that is safe. Every time-out lies above the
//! server's own (5 s for reads, 2 s for writes), so that the server's answer comes first and says more.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::execution_profile::{ExecutionProfile, ExecutionProfileHandle};
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::{Consistency as Level, SerialConsistency};

use crate::Consistency;

const SERVING_TIMEOUT: Duration = Duration::from_secs(6);
const WRITING_TIMEOUT: Duration = Duration::from_secs(6);
const SWEEPING_TIMEOUT: Duration = Duration::from_secs(30);
const METADATA_TIMEOUT: Duration = Duration::from_secs(10);

/// The profiles of one store.
#[derive(Clone, Debug)]
pub(crate) struct Profiles {
    /// Scans, for somebody who waits.
    pub(crate) serving: ExecutionProfileHandle,
    /// Upserts.
    pub(crate) writing: ExecutionProfileHandle,
    /// Enumerations and measurements: whole tables, nobody waits.
    pub(crate) sweeping: ExecutionProfileHandle,
    /// Records, the list of tables and the schema.
    pub(crate) metadata: ExecutionProfileHandle,
    /// The level of reads that are linearizable with transactions.
    pub(crate) serial: Level,
}

impl Profiles {
    /// Profiles for a process in `datacenter`. Where there are replicas in several, transactions span them all: servers
    /// in two of them must not both win.
    pub(crate) fn new(consistency: Consistency, datacenter: &str, several: bool) -> Self {
        let (serial, serial_reads) = match several {
            true => (SerialConsistency::Serial, Level::Serial),
            false => (SerialConsistency::LocalSerial, Level::LocalSerial),
        };
        let (reads, writes) = match consistency {
            Consistency::LocalOne => (Level::LocalOne, Level::LocalOne),
            Consistency::LocalQuorum => (Level::LocalQuorum, Level::LocalQuorum),
            Consistency::EachQuorum => (Level::LocalQuorum, Level::EachQuorum),
        };
        let routing = DefaultPolicy::builder()
            .prefer_datacenter(datacenter.to_owned())
            .token_aware(true)
            .permit_dc_failover(false)
            .build();
        let profile = |label: &str, level, timeout| {
            ExecutionProfile::builder()
                .consistency(level)
                .serial_consistency(Some(serial))
                .request_timeout(Some(timeout))
                .load_balancing_policy(routing.clone())
                .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
                .speculative_execution_policy(None)
                .build()
                .into_handle_with_label(label.to_owned())
        };
        Self {
            serving: profile("serving", reads, SERVING_TIMEOUT),
            writing: profile("writing", writes, WRITING_TIMEOUT),
            sweeping: profile("sweeping", reads, SWEEPING_TIMEOUT),
            metadata: profile("metadata", Level::LocalQuorum, METADATA_TIMEOUT),
            serial: serial_reads,
        }
    }
}
