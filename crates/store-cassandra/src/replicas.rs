//! The replicas that a keyspace really has, and how many of them decide a transaction. Pure.
//!
//! What counts is what the cluster says, never the settings: an operator may have altered the keyspace, and another server may
//! have made it with settings of its own. All servers read the same replicas, so all of them vote at the same level. If they
//! did not, two of them could both win the same change.

use std::collections::BTreeMap;

use store::{Error, Result};

/// The strategy that has replicas by data centre.
const BY_DATACENTER: &str = "NetworkTopologyStrategy";

/// The replicas of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replicas {
    /// So many in each of these data centres.
    ByDatacenter(BTreeMap<String, usize>),
    /// Wherever a strategy of this name puts them.
    Elsewhere(String),
}

/// Which replicas decide a transaction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voters {
    /// Those of the local data centre, where there are no others.
    Local,
    /// Those of every data centre.
    All,
}

impl Replicas {
    /// The replicas that `system_schema.keyspaces` tells.
    pub(crate) fn told(replication: &BTreeMap<String, String>) -> Self {
        let class = replication.get("class").map_or("", String::as_str);
        let name = class.rsplit('.').next().unwrap_or(class);
        let others = replication.iter().filter(|(key, _)| *key != "class");
        let counted: Option<BTreeMap<String, usize>> =
            others.map(|(datacenter, told)| Some((datacenter.clone(), count(told)?))).collect();
        match counted {
            Some(mut counted) if name == BY_DATACENTER => {
                counted.retain(|_, replicas| *replicas > 0);
                Self::ByDatacenter(counted)
            }
            _ => Self::Elsewhere(name.to_owned()),
        }
    }

    /// Whether there can be none in this data centre.
    pub fn has_none_in(&self, datacenter: &str) -> bool {
        match self {
            Self::ByDatacenter(replicas) => !replicas.contains_key(datacenter),
            Self::Elsewhere(_) => false,
        }
    }

    /// Whether these are the ones that `wanted` names.
    pub fn are(&self, wanted: &BTreeMap<String, usize>) -> bool {
        matches!(self, Self::ByDatacenter(found) if found == wanted)
    }

    /// Who decides transactions of a server in data centre `local`. Refused where nobody there could ever answer it.
    pub(crate) fn voters(&self, keyspace: &str, local: &str) -> Result<Voters> {
        if self.has_none_in(local) {
            return Err(Error::invalid(format!(
                "keyspace {keyspace} has no replica in the local data centre `{local}` ({self}); stop all servers, add some with \
                 ALTER KEYSPACE and repair it, or correct local_datacenter"
            )));
        }
        match self {
            Self::ByDatacenter(replicas) if replicas.len() == 1 => Ok(Voters::Local),
            // Where they are is not known, so all are asked: at the least those of the local data centre are among them.
            Self::ByDatacenter(_) | Self::Elsewhere(_) => Ok(Voters::All),
        }
    }
}

/// Of three replicas of which one is transient Cassandra says `3/1`.
fn count(told: &str) -> Option<usize> {
    told.split('/').next()?.parse().ok()
}

impl std::fmt::Display for Replicas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ByDatacenter(replicas) if replicas.is_empty() => f.write_str("it has none anywhere"),
            Self::ByDatacenter(replicas) => {
                let each = replicas.iter().map(|(datacenter, count)| format!("{datacenter} = {count}"));
                f.write_str(&each.collect::<Vec<_>>().join(", "))
            }
            Self::Elsewhere(strategy) => f.write_str(strategy),
        }
    }
}

#[cfg(test)]
mod tests {
    use store::ErrorKind;

    use super::*;

    const NETWORK: &str = "org.apache.cassandra.locator.NetworkTopologyStrategy";

    fn told(class: &str, others: &[(&str, &str)]) -> Replicas {
        let all = [("class", class)].into_iter().chain(others.iter().copied());
        Replicas::told(&all.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn who_votes_follows_from_the_replicas_that_are_there() {
        for (class, others, expect) in [
            (NETWORK, &[("dc1", "3")][..], Voters::Local),
            (NETWORK, &[("dc1", "3"), ("dc2", "3")], Voters::All),
            // Written out by somebody who took the replicas of a data centre away.
            (NETWORK, &[("dc1", "3"), ("dc2", "0")], Voters::Local),
            (NETWORK, &[("dc1", "3/1"), ("dc2", "1")], Voters::All),
            // Nobody knows where these are: better too many than too few.
            ("org.apache.cassandra.locator.SimpleStrategy", &[("replication_factor", "3")], Voters::All),
            (NETWORK, &[("dc1", "many")], Voters::All),
            ("", &[], Voters::All),
        ] {
            assert_eq!(
                told(class, others).voters("braid_meta", "dc1").unwrap(),
                expect,
                "{class} {others:?}"
            );
        }
    }

    #[test]
    fn two_servers_over_one_keyspace_ask_the_same_voters() {
        let both = told(NETWORK, &[("dc1", "3"), ("dc2", "3")]);
        let voters = ["dc1", "dc2"].map(|local| both.voters("braid_meta", local).unwrap());
        assert_eq!(voters, [Voters::All; 2]);
    }

    #[test]
    fn a_data_centre_without_a_replica_is_refused_with_what_is_there() {
        let refused =
            |others: &[(&str, &str)]| told(NETWORK, others).voters("braid_meta", "dc2").unwrap_err();
        let error = refused(&[("dc1", "3")]);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let told = error.to_string();
        assert!(
            told.contains("braid_meta has no replica in the local data centre `dc2` (dc1 = 3); ")
                && told.contains("local_datacenter"),
            "{told}"
        );
        let told = refused(&[("dc2", "0")]).to_string();
        assert!(told.contains("(it has none anywhere); "), "{told}");
    }
}
