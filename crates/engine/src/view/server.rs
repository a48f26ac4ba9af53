//! The registration of a server, as it is stored, and what its reports say to others. JSON with a version;
//! `docs/formats/view.md` describes it.
//!
//! Only the server itself changes its record, and whoever removes it after a long silence. [`Watched`] is pure: what one
//! server has seen of the others, on its own clock.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use env::BootTime;
use serde::{Deserialize, Serialize};
use store::{MetaKey, MetaRecord, MetaVersion};

use super::lease::{LEASE, REPORT_COUNTS, WITHOUT_LEASE_MAX, on_any_clock};
use crate::catalog::record::{decode, encode};
use crate::{Error, Reason, Result};

const VERSION: u32 = 1;
const GROUP: &str = "servers";

/// A server that runs, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerRecord {
    pub(crate) version: u32,
    /// What it is called and where it listens, for people.
    pub(crate) address: String,
    pub(crate) program: String,
    /// What it does, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) roles: Vec<String>,
    pub(crate) started: i64,
    /// The epoch of its view.
    pub(crate) epoch: u64,
    /// Its wall clock when it reported.
    pub(crate) clock: i64,
}

impl ServerRecord {
    /// A server that registers and has seen nothing.
    pub(crate) fn new(address: String, program: String, started: i64) -> Self {
        Self { version: VERSION, address, program, roles: Vec::new(), started, epoch: 0, clock: started }
    }

    pub(crate) fn encode(&self) -> Result<Bytes> {
        encode(self)
    }

    pub(crate) fn decode(stored: &[u8]) -> Result<Self> {
        let record: Self = decode(stored)?;
        if record.version == VERSION {
            return Ok(record);
        }
        let message = format!(
            "a server registered in version {}, this program knows {VERSION}; use a newer one",
            record.version
        );
        Err(Error::new(Reason::ChecksumMismatch, message))
    }
}

/// Where the record of one server is.
pub(crate) fn server_key(id: &str) -> MetaKey {
    MetaKey::new(GROUP, id.to_owned())
}

/// Where all of them are.
pub(crate) fn servers_group() -> &'static [u8] {
    GROUP.as_bytes()
}

/// What one server has seen of a registration.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) record: ServerRecord,
    pub(crate) version: MetaVersion,
    /// When this version was seen first.
    since: BootTime,
}

impl Seen {
    /// For how long it has not reported, at least.
    pub(crate) fn silence(&self, now: BootTime) -> Duration {
        now.since(self.since)
    }

    /// It can hold no lease any more: the last refresh that counts began within a while after its last report.
    pub(crate) fn is_unleased(&self, now: BootTime) -> bool {
        self.silence(now) >= on_any_clock(REPORT_COUNTS + LEASE)
    }

    /// It takes no writes any more, not even without a lease.
    pub(crate) fn is_gone(&self, now: BootTime) -> bool {
        self.silence(now) >= on_any_clock(REPORT_COUNTS + LEASE + WITHOUT_LEASE_MAX)
    }

    /// What its wall clock shows at `now`, or more.
    fn clock(&self, now: BootTime) -> i64 {
        let passed = i64::try_from(self.silence(now).as_nanos()).unwrap_or(i64::MAX);
        self.record.clock.saturating_add(passed)
    }
}

/// All registrations, as one server has seen them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    pub(crate) servers: BTreeMap<String, Seen>,
}

impl Watched {
    /// Takes over what was read at `now`, which is behind the read.
    pub(crate) fn saw(&mut self, records: &[MetaRecord], now: BootTime) -> Result<()> {
        let mut servers = BTreeMap::new();
        for stored in records {
            let id = String::from_utf8_lossy(&stored.name).into_owned();
            let known = self.servers.remove(&id).filter(|seen| seen.version == stored.version);
            let seen = match known {
                Some(seen) => seen,
                None => {
                    Seen { record: ServerRecord::decode(&stored.value)?, version: stored.version, since: now }
                }
            };
            servers.insert(id, seen);
        }
        self.servers = servers;
        Ok(())
    }

    /// Whether no server can act on a view older than `epoch` under a lease.
    pub(crate) fn none_leased_before(&self, epoch: u64, now: BootTime) -> bool {
        self.servers.values().all(|seen| seen.record.epoch >= epoch || seen.is_unleased(now))
    }

    /// Whether every server has said itself that it has seen `epoch`: also one without a lease acts on it.
    pub(crate) fn all_reported(&self, epoch: u64) -> bool {
        self.servers.values().all(|seen| seen.record.epoch >= epoch)
    }

    /// The earliest wall clock of all, and of `own`.
    pub(crate) fn earliest_clock(&self, own: i64, now: BootTime) -> i64 {
        self.servers.values().map(|seen| seen.clock(now)).fold(own, i64::min)
    }

    /// Registrations that can be removed.
    pub(crate) fn gone(&self, now: BootTime) -> Vec<(String, MetaVersion)> {
        let gone = self.servers.iter().filter(|(_, seen)| seen.is_gone(now));
        gone.map(|(id, seen)| (id.clone(), seen.version)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../../golden/server.txt");
    const GOLDEN_ROLES: &str = include_str!("../../golden/server-roles.txt");

    fn at(seconds: u64) -> BootTime {
        BootTime::from_boot(Duration::from_secs(seconds))
    }

    fn record(epoch: u64, clock: i64) -> ServerRecord {
        let new = ServerRecord::new("h:8080".to_owned(), "braid 0.1.0".to_owned(), 7);
        ServerRecord { epoch, clock, ..new }
    }

    fn stored(id: &str, version: u64, epoch: u64, clock: i64) -> MetaRecord {
        MetaRecord {
            name: Bytes::from(id.to_owned()),
            version: MetaVersion(version),
            value: record(epoch, clock).encode().unwrap(),
        }
    }

    #[test]
    fn a_registration_is_written_and_read_as_it_always_was() {
        let roles = ["api", "split_worker"].map(str::to_owned).to_vec();
        for (record, golden) in
            [(record(3, 9), GOLDEN), (ServerRecord { roles, ..record(3, 9) }, GOLDEN_ROLES)]
        {
            let written = String::from_utf8(record.encode().unwrap().to_vec()).unwrap();
            assert_eq!(format!("{written}\n"), golden);
            assert_eq!(ServerRecord::decode(golden.trim_end().as_bytes()).unwrap(), record);
        }
        let newer = GOLDEN.replace("\"version\":1", "\"version\":2");
        assert!(ServerRecord::decode(newer.as_bytes()).is_err());
    }

    #[test]
    fn a_barrier_waits_for_whoever_may_hold_a_lease() {
        let mut watched = Watched::default();
        watched.saw(&[stored("a", 1, 5, 0), stored("b", 1, 4, 0)], at(100)).unwrap();
        assert!(watched.none_leased_before(4, at(100)) && watched.all_reported(4));
        assert!(!watched.none_leased_before(5, at(100)) && !watched.all_reported(5));
        // Read again, the same version: it has been silent since it was seen first.
        watched.saw(&[stored("a", 1, 5, 0), stored("b", 1, 4, 0)], at(130)).unwrap();
        assert!(!watched.none_leased_before(5, at(145)));
        assert!(watched.none_leased_before(5, at(146)) && !watched.all_reported(5));
        // A report, although not of that epoch: it may hold a lease again.
        watched.saw(&[stored("a", 1, 5, 0), stored("b", 2, 4, 0)], at(150)).unwrap();
        assert!(!watched.none_leased_before(5, at(160)));
        watched.saw(&[stored("a", 1, 5, 0)], at(160)).unwrap();
        assert!(watched.none_leased_before(5, at(160)) && watched.all_reported(5));
    }

    #[test]
    fn clocks_run_on_and_the_earliest_counts() {
        let mut watched = Watched::default();
        watched
            .saw(&[stored("a", 1, 1, 10_000_000_000), stored("b", 1, 1, 30_000_000_000)], at(100))
            .unwrap();
        assert_eq!(watched.earliest_clock(25_000_000_000, at(100)), 10_000_000_000);
        assert_eq!(watched.earliest_clock(25_000_000_000, at(110)), 20_000_000_000);
        assert_eq!(watched.earliest_clock(25_000_000_000, at(120)), 25_000_000_000);
    }

    #[test]
    fn a_registration_goes_when_the_server_could_not_even_write_without_a_lease() {
        let mut watched = Watched::default();
        watched.saw(&[stored("a", 4, 1, 0)], at(0)).unwrap();
        assert!(watched.gone(at(3_600)).is_empty());
        assert_eq!(watched.gone(at(3_720)), [("a".to_owned(), MetaVersion(4))]);
    }
}
