//! One execution profile per purpose: how long to wait, where to ask; and how many replicas for whom.
//!
//! The driver never repeats a statement by itself: `retry` and `hedge` do, where that is safe. Every time-out lies above
//! the server's own (5 s for reads, 2 s for writes), so that the server's answer comes first and says more. The level of
//! rows is set on each statement as it is sent, as a namespace may change it: a prepared statement is a handle, and its
//! copy costs less than keeping one for every level.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::execution_profile::{ExecutionProfile, ExecutionProfileHandle};
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::{Consistency as Level, SerialConsistency};
use store::Consistency;

use crate::replicas::Voters;

const SERVING_TIMEOUT: Duration = Duration::from_secs(6);
const WRITING_TIMEOUT: Duration = Duration::from_secs(6);
const SWEEPING_TIMEOUT: Duration = Duration::from_secs(30);
const METADATA_TIMEOUT: Duration = Duration::from_secs(10);

/// How many replicas a read asks.
pub(crate) const fn read_level(consistency: Consistency) -> Level {
    match consistency {
        Consistency::LocalOne => Level::LocalOne,
        // Cassandra has no reads that ask each data centre.
        Consistency::LocalQuorum | Consistency::EachQuorum => Level::LocalQuorum,
    }
}

/// How many replicas acknowledge a write.
pub(crate) const fn write_level(consistency: Consistency) -> Level {
    match consistency {
        Consistency::LocalOne => Level::LocalOne,
        Consistency::LocalQuorum => Level::LocalQuorum,
        Consistency::EachQuorum => Level::EachQuorum,
    }
}

/// How transactions are decided, and how they are read.
const fn serial_levels(voters: Voters) -> (SerialConsistency, Level) {
    match voters {
        Voters::Local => (SerialConsistency::LocalSerial, Level::LocalSerial),
        Voters::All => (SerialConsistency::Serial, Level::Serial),
    }
}

/// The profiles of one store. Where nothing else is said, a statement asks a local quorum.
#[derive(Clone, Debug)]
pub(crate) struct Profiles {
    /// Scans of one partition, for somebody who waits or not: those of splits, of their checks and of exports too. A node gives
    /// up on such a read after 5 s, so a longer time-out for background work would wait for nothing. What does depend on who
    /// asks is on the scan itself (`hedge_after`, `ahead`), and how many run at a time is the lanes' (`store::layer`).
    pub(crate) serving: ExecutionProfileHandle,
    /// Upserts.
    pub(crate) writing: ExecutionProfileHandle,
    /// Enumerations and measurements, and questions to single nodes: whole tables, for which a node has twice as long.
    pub(crate) sweeping: ExecutionProfileHandle,
    /// Records, the list of tables and the schema.
    pub(crate) metadata: ExecutionProfileHandle,
    /// The level of reads that are linearizable with transactions.
    pub(crate) serial: Level,
    /// Which nodes are asked, in which order: the same for all.
    pub(crate) routing: Arc<dyn LoadBalancingPolicy>,
    /// The data centre whose nodes these are.
    pub(crate) datacenter: Arc<str>,
}

impl Profiles {
    /// Profiles for a process in `datacenter`, whose transactions these voters decide.
    pub(crate) fn new(datacenter: &str, voters: Voters) -> Self {
        let (serial, serial_reads) = serial_levels(voters);
        let routing = DefaultPolicy::builder()
            .prefer_datacenter(datacenter.to_owned())
            .token_aware(true)
            .permit_dc_failover(false)
            .build();
        let profile = |label: &str, timeout| {
            ExecutionProfile::builder()
                .consistency(Level::LocalQuorum)
                .serial_consistency(Some(serial))
                .request_timeout(Some(timeout))
                .load_balancing_policy(Arc::clone(&routing))
                .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
                .speculative_execution_policy(None)
                .build()
                .into_handle_with_label(label.to_owned())
        };
        Self {
            serving: profile("serving", SERVING_TIMEOUT),
            writing: profile("writing", WRITING_TIMEOUT),
            sweeping: profile("sweeping", SWEEPING_TIMEOUT),
            metadata: profile("metadata", METADATA_TIMEOUT),
            serial: serial_reads,
            datacenter: Arc::from(datacenter),
            routing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_consistency_has_its_levels() {
        let levels = |consistency| (write_level(consistency), read_level(consistency));
        assert_eq!(levels(Consistency::LocalOne), (Level::LocalOne, Level::LocalOne));
        assert_eq!(levels(Consistency::LocalQuorum), (Level::LocalQuorum, Level::LocalQuorum));
        assert_eq!(levels(Consistency::EachQuorum), (Level::EachQuorum, Level::LocalQuorum));
    }

    #[test]
    fn transactions_and_the_reads_after_them_have_the_same_voters() {
        assert_eq!(serial_levels(Voters::Local), (SerialConsistency::LocalSerial, Level::LocalSerial));
        assert_eq!(serial_levels(Voters::All), (SerialConsistency::Serial, Level::Serial));
        for voters in [Voters::Local, Voters::All] {
            assert_eq!(Profiles::new("dc1", voters).serial, serial_levels(voters).1);
        }
    }
}
