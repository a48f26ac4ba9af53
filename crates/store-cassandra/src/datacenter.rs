//! The data centre that a process is in, and the replicas of what it makes: chosen from the settings and what is there.

use std::collections::{BTreeMap, BTreeSet};

use scylla::client::session::Session;
use store::{Error, ErrorKind, Result};

use crate::Options;

/// Replicas where the settings name none and there are nodes enough.
const REPLICAS: usize = 3;

/// The data centre that this process is in.
pub(crate) struct Datacenter {
    pub(crate) name: String,
    nodes: usize,
    /// All that there are.
    all: BTreeSet<String>,
}

pub(crate) fn local_datacenter(options: &Options, session: &Session) -> Result<Datacenter> {
    let state = session.get_cluster_state();
    let of_nodes: Vec<&str> =
        state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref()).collect();
    let there: BTreeSet<&str> = of_nodes.iter().copied().collect();
    let name = choose(options.local_datacenter.as_deref(), &there)?;
    let nodes = of_nodes.iter().filter(|datacenter| **datacenter == name).count();
    Ok(Datacenter { name: name.to_owned(), nodes, all: there.into_iter().map(str::to_owned).collect() })
}

/// The one that was named, if it is there; else the only one.
fn choose<'a>(named: Option<&'a str>, there: &BTreeSet<&'a str>) -> Result<&'a str> {
    let list = || there.iter().copied().collect::<Vec<_>>().join(", ");
    match (named, there.first()) {
        // A node that let us in and then failed to answer.
        (_, None) => {
            Err(Error::new(ErrorKind::Unavailable, "the cluster does not tell its nodes; try again"))
        }
        (Some(name), _) if there.contains(name) => Ok(name),
        (None, Some(only)) if there.len() == 1 => Ok(only),
        (Some(name), _) => Err(Error::invalid(format!(
            "the cluster has no data centre `{name}`; set local_datacenter to one of: {}",
            list()
        ))),
        (None, _) => Err(Error::invalid(format!(
            "the cluster has several data centres; set local_datacenter to one of: {}",
            list()
        ))),
    }
}

/// Replicas of what is made: those that were named, if every data centre is there and the local one among them.
pub(crate) fn replication(options: &Options, local: &Datacenter) -> Result<BTreeMap<String, usize>> {
    let named = &options.replication;
    if named.is_empty() {
        return Ok([(local.name.clone(), local.nodes.clamp(1, REPLICAS))].into());
    }
    let all = || local.all.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = named.keys().find(|datacenter| !local.all.contains(*datacenter)) {
        return Err(Error::invalid(format!(
            "replication names the data centre `{unknown}`, which the cluster does not have; name some of: {}",
            all()
        )));
    }
    if !named.contains_key(&local.name) {
        return Err(Error::invalid(format!(
            "replication has no replicas in the local data centre; add `{} = 3`",
            local.name
        )));
    }
    Ok(named.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: Option<&str>, there: &[&str], expect: std::result::Result<&str, &str>) {
        let found = choose(named, &there.iter().copied().collect());
        assert_eq!(found.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
    }

    #[test]
    fn the_local_datacenter_is_the_named_or_the_only_one() {
        check(Some("a"), &["a", "b"], Ok("a"));
        check(None, &["a"], Ok("a"));
        check(
            Some("c"),
            &["b", "a"],
            Err("the cluster has no data centre `c`; set local_datacenter to one of: a, b"),
        );
        check(
            None,
            &["b", "a"],
            Err("the cluster has several data centres; set local_datacenter to one of: a, b"),
        );
    }

    #[test]
    fn a_cluster_that_tells_nothing_may_tell_later() {
        let kind = |named| choose(named, &BTreeSet::new()).unwrap_err().kind();
        assert_eq!([kind(None), kind(Some("a"))], [ErrorKind::Unavailable; 2]);
    }

    fn replicas(nodes: usize, named: &[(&str, usize)]) -> std::result::Result<Vec<usize>, String> {
        let all = ["dc1", "dc2"].map(str::to_owned).into();
        let local = Datacenter { name: "dc1".to_owned(), nodes, all };
        let named = named.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let options = Options { replication: named, ..Options::default() };
        let found = replication(&options, &local).map_err(|error| error.to_string())?;
        Ok(found.into_values().collect())
    }

    #[test]
    fn replicas_follow_the_nodes_unless_they_are_named() {
        assert_eq!([1, 3, 9].map(|nodes| replicas(nodes, &[]).unwrap()), [[1], [3], [3]]);
        assert_eq!(replicas(1, &[("dc1", 5), ("dc2", 2)]).unwrap(), [5, 2]);
    }

    #[test]
    fn replicas_where_nobody_is_are_refused() {
        let told = replicas(3, &[("dc1", 3), ("dc3", 3)]).unwrap_err();
        assert!(told.ends_with("`dc3`, which the cluster does not have; name some of: dc1, dc2"), "{told}");
        let told = replicas(3, &[("dc2", 3)]).unwrap_err();
        assert!(told.ends_with("local data centre; add `dc1 = 3`"), "{told}");
    }
}
