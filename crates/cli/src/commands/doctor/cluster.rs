//! The cluster that the settings name: whether a server could use it, and what may surprise its operator.

use server::{Examined, LAYOUT_VERSION, Layout, Node, Replicas, Rights, Standing};

use super::finding::Finding;

/// From this share of the limit on tables it is time to look.
const TABLES_WARN_PERCENT: usize = 80;
/// Missing rights that are told by name.
const RIGHTS_SHOWN: usize = 8;

/// Judges what was found, or why nothing was.
pub(crate) fn judge(found: Result<&Examined, String>) -> Vec<Finding> {
    let cluster = match found {
        Ok(cluster) => cluster,
        // The message says what to do.
        Err(message) => {
            return vec![match message.split_once("; ") {
                Some((what, todo)) => Finding::fail(what, todo),
                None => Finding::fail(message, "look at [store.cassandra] in the settings"),
            }];
        }
    };
    let mut findings = vec![nodes(cluster)];
    findings.extend(replicas(cluster));
    findings.extend(metadata(cluster));
    findings.extend(rights(cluster));
    findings.extend(cluster.layout.map(|layout| self::layout(&cluster.keyspace, layout)));
    findings.extend(cluster.tables.map(|tables| self::tables(tables, cluster.tables_max)));
    findings.push(snapshots(cluster));
    findings.extend(syncs(cluster));
    findings
}

/// Judges how the queue stands, or why nobody knows. Nothing where the store itself is the queue.
pub(crate) fn judge_queue(asked: Result<Option<Standing>, String>) -> Option<Finding> {
    match asked {
        Ok(None) => None,
        Ok(Some(Standing { lag, dead_letters: 0 })) => {
            Some(Finding::ok(format!("Kafka answers; {lag} detections wait, no dead letters")))
        }
        Ok(Some(Standing { lag, dead_letters })) => Some(Finding::warn(
            format!("Kafka answers; {lag} detections wait, {dead_letters} dead letters"),
            "somebody else writes to the topic of detections; look at the dead-letter topic, then let it expire",
        )),
        // Reads go on without it, and so do splits of what was found before.
        Err(message) => Some(match message.split_once("; ") {
            Some((what, todo)) => Finding::fail(what, todo),
            None => Finding::fail(message, "look at [queue.kafka] in the settings"),
        }),
    }
}

fn nodes(cluster: &Examined) -> Finding {
    let Examined { nodes, datacenter, .. } = cluster;
    let down: Vec<&str> =
        nodes.iter().filter(|node| node.release.is_none()).map(|node| node.address.as_str()).collect();
    let mut releases: Vec<&str> = nodes.iter().filter_map(|node| node.release.as_deref()).collect();
    releases.sort_unstable();
    releases.dedup();
    let (all, up) = (nodes.len(), nodes.len() - down.len());
    let what = format!(
        "Cassandra {} answers, {up} of {all} nodes, local data centre {datacenter}",
        releases.join(" and ")
    );
    if down.is_empty() {
        return Finding::ok(what);
    }
    let todo = "look at them with `nodetool status`";
    Finding::warn(format!("{what}; {} did not answer", shortened(&down)), todo)
}

/// Data centres with fewer nodes than replicas.
fn replicas(cluster: &Examined) -> Vec<Finding> {
    let too_few = |(datacenter, replicas): (&String, &usize)| {
        let nodes = cluster.nodes.iter().filter(|node| node.datacenter == *datacenter).count();
        (nodes < *replicas).then(|| {
            let what = format!("{replicas} replicas in {datacenter}, which has {nodes} nodes");
            Finding::warn(what, "add nodes, or set fewer replicas in store.cassandra.replication")
        })
    };
    cluster.replication.iter().filter_map(too_few).collect()
}

/// Replicas of the metadata that are not where the settings want them.
fn metadata(cluster: &Examined) -> Option<Finding> {
    let Examined { keyspace, datacenter, replication, .. } = cluster;
    let there = cluster.replicas.as_ref()?;
    if there.has_none_in(datacenter) {
        return Some(Finding::fail(
            format!("keyspace {keyspace} has no replica in the local data centre {datacenter} ({there})"),
            "stop all servers, add some with ALTER KEYSPACE and repair it, or correct store.cassandra.local_datacenter",
        ));
    }
    (!there.are(replication)).then(|| {
        let wanted = Replicas::ByDatacenter(replication.clone());
        let what = format!("keyspace {keyspace} has the replicas {there}; the settings ask for {wanted}");
        let todo = "set store.cassandra.replication to what is there, the same for every server; or stop all servers, ALTER \
                    KEYSPACE and repair it";
        Finding::warn(what, todo)
    })
}

fn rights(cluster: &Examined) -> Vec<Finding> {
    let Some(user) = &cluster.user else {
        return vec![Finding::ok("the cluster does not ask who uses it")];
    };
    match &cluster.rights {
        Rights::Enough => vec![Finding::ok(format!("{user} may make, use and drop keyspaces and tables"))],
        Rights::NotTold(why) => vec![Finding::warn(
            format!("the cluster does not tell what {user} may do ({why})"),
            "grant it what docs/operating/cassandra.md lists",
        )],
        Rights::Missing(missing) => {
            let mut findings: Vec<Finding> = missing
                .iter()
                .take(RIGHTS_SHOWN)
                .map(|right| {
                    Finding::fail(
                        format!("{user} lacks {}", right.what),
                        format!("as a superuser, run {}", right.grant),
                    )
                })
                .collect();
            if let Some(more @ 1..) = missing.len().checked_sub(RIGHTS_SHOWN) {
                findings.push(Finding::fail(format!("{user} lacks {more} more rights"), "grant these first"));
            }
            findings
        }
    }
}

fn layout(keyspace: &str, layout: Layout) -> Finding {
    match layout {
        Layout::NotMade => {
            Finding::ok(format!("keyspace {keyspace} is not there yet; `braid serve` makes it"))
        }
        Layout::Version(LAYOUT_VERSION) => {
            Finding::ok(format!("keyspace {keyspace} has layout version {LAYOUT_VERSION}"))
        }
        Layout::Version(version) => Finding::fail(
            format!("keyspace {keyspace} has layout version {version}, this braid knows {LAYOUT_VERSION}"),
            "run the version that wrote it, or set another store.cassandra.keyspace_prefix",
        ),
        Layout::Foreign => Finding::fail(
            format!("keyspace {keyspace} has tables and none of them is Braid's"),
            "set another store.cassandra.keyspace_prefix",
        ),
    }
}

fn tables(made: usize, max: usize) -> Finding {
    let what = format!("{made} of {max} tables are made");
    let todo = "shorten retention, widen slices or raise store.max_tables";
    if made >= max {
        Finding::fail(format!("{what}; new slices are refused"), todo)
    } else if made.saturating_mul(100) >= max.saturating_mul(TABLES_WARN_PERCENT) {
        Finding::warn(what, todo)
    } else {
        Finding::ok(what)
    }
}

/// Where a node keeps what is dropped, retention frees nothing.
fn snapshots(cluster: &Examined) -> Finding {
    let with = |wanted: Option<bool>| {
        let chosen = |node: &&Node| node.release.is_some() && node.auto_snapshot == wanted;
        cluster.nodes.iter().filter(chosen).map(|node| node.address.as_str()).collect::<Vec<_>>()
    };
    let (keeping, silent) = (with(Some(true)), with(None));
    if !keeping.is_empty() {
        return Finding::warn(
            format!("auto_snapshot is on at {}: a table that is dropped frees no disk", shortened(&keeping)),
            "set auto_snapshot: false in cassandra.yaml, or run nodetool clearsnapshot from time to time",
        );
    }
    if !silent.is_empty() {
        let todo = match cluster.settings_grant() {
            Some(grant) => format!("as a superuser, run {grant}"),
            None => "look into cassandra.yaml".to_owned(),
        };
        let what = format!("whether auto_snapshot is on is not known of {}", shortened(&silent));
        return Finding::warn(what, todo);
    }
    Finding::ok("auto_snapshot is off: a table that is dropped frees its disk")
}

/// Nodes that acknowledge before they sync, as they do unless they are told. Where they do not tell, `snapshots` said why.
fn syncs(cluster: &Examined) -> Option<Finding> {
    let early: Vec<&str> = cluster
        .nodes
        .iter()
        .filter(|node| node.commitlog_sync.as_deref() == Some("periodic"))
        .map(|node| node.address.as_str())
        .collect();
    (!early.is_empty()).then(|| {
        let what = format!(
            "commitlog_sync is periodic at {}: what all replicas lose at once was acknowledged and not yet on disk",
            shortened(&early)
        );
        Finding::warn(what, "set commitlog_sync: group in cassandra.yaml, at the least where there is one replica")
    })
}

/// Some names, and how many more there are.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    match names.split_at_checked(SHOWN) {
        Some((shown, rest @ [_, ..])) => format!("{} and {} more", shown.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
#[path = "cluster_tests.rs"]
mod tests;
