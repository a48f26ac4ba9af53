//! Which workspace crate may depend on which, and which crate may name a storage engine or its driver. The one table
//! of the architecture's edges; ARCHITECTURE.md explains it, this file holds it.

use super::Rule;
use super::finding::Finding;
use super::tree::{File, Tree};

/// What a crate may depend on inside the workspace, in any kind of dependency. A crate may always name itself: that is
/// how it turns on its own features for its tests.
enum May {
    Only(&'static [&'static str]),
    Anything,
}

const EDGES: &[(&str, May)] = &[
    // The seams to the outside stand alone, so that anything can use them.
    ("env", May::Only(&[])),
    // Pure rules: without a clock to reach for, they cannot read one.
    ("model", May::Only(&[])),
    // The seam names no backend.
    ("store", May::Only(&["env", "model"])),
    ("store-embedded", May::Only(&["env", "model", "store"])),
    ("store-cassandra", May::Only(&["env", "model", "own-cluster", "store"])),
    // For suites only; no product crate names it but in its tests.
    ("own-cluster", May::Only(&["env"])),
    // Pure as `model` is, and only about splits.
    ("split", May::Only(&["model"])),
    // Pure too: a format over rows.
    ("chunk", May::Only(&["model"])),
    // Messages about splits; its suite runs a broker of its own.
    ("queue-kafka", May::Only(&["env", "model", "own-cluster", "split"])),
    // Pure too: from the sizes of partitions to a shape.
    ("tune", May::Only(&["model"])),
    // Plans for shapes that do not exist yet: it needs no more than what a shape is.
    ("provision", May::Only(&["model"])),
    ("engine", May::Only(&["chunk", "env", "model", "split", "store", "tune"])),
    // A split or a proposal is shown as its record has it, a plan as it was made.
    ("api", May::Only(&["engine", "model", "provision", "split", "tune"])),
    // Services over the engine, plans without it; tests run them on the memory backend.
    ("rpc", May::Only(&["api", "engine", "env", "model", "provision", "store"])),
    // Files for other tools: knows no server and no store, so nothing that verifies them depends on Braid either.
    ("export", May::Only(&[])),
    // Chooses and wires, so it sees every part but the command.
    (
        "server",
        May::Only(&[
            "api",
            "engine",
            "env",
            "model",
            "own-cluster",
            "queue-kafka",
            "rpc",
            "split",
            "store",
            "store-cassandra",
            "store-embedded",
        ]),
    ),
    // Talks to a server by the client, or runs one; the parts behind are none of its business.
    // Its suites run clusters and brokers of their own, and tell workers of partitions by the queue.
    ("cli", May::Only(&["api", "env", "export", "own-cluster", "queue-kafka", "rpc", "server"])),
    // Runs the real engine in a world of its own, and looks into what it stored; nothing depends on it.
    ("sim", May::Only(&["chunk", "engine", "env", "model", "split", "store"])),
    // Measures whatever there is; nothing depends on it.
    ("bench", May::Anything),
    // Models of the protocol call no product code; a clock says how long they took.
    ("proof", May::Only(&["env"])),
    // Builds even when nothing else does.
    ("xtask", May::Only(&[])),
];

/// Crates from outside that have one home, and where that is.
const HOMES: &[(&str, &[&str])] = &[
    // The engine's types must not reach the store seam, or the seam is the engine.
    ("fjall", &["store-embedded", "bench"]),
    // CQL has one home too: who can name the driver can write a statement. The bench compares against it raw.
    ("scylla", &["store-cassandra", "bench"]),
    ("scylla-cql", &["store-cassandra"]),
    // Kafka's client is C underneath, and detections are all that goes through it.
    ("rdkafka", &["queue-kafka"]),
    // TLS to the cluster is part of the driver's settings.
    ("rustls", &["store-cassandra"]),
    // The model checker: a state of the product is not a state of a model.
    ("stateright", &["proof"]),
    // Files are written in one place, and never by a server.
    ("parquet", &["export"]),
    // The body of a chunk is compressed there and nowhere else.
    ("lz4_flex", &["chunk"]),
    ("zstd", &["chunk"]),
    // To be replaced one day: that day costs one crate.
    ("tonic", &["rpc"]),
    ("tonic-health", &["rpc"]),
    ("tonic-prost", &["rpc"]),
    ("tonic-prost-build", &["rpc"]),
    ("tonic-reflection", &["rpc"]),
    ("tonic-types", &["rpc"]),
    ("tonic-web", &["rpc"]),
];

const THIS: &str = "xtask/src/tidy/edges.rs";

pub(crate) const RULE: Rule = Rule {
    name: "edges",
    reason: "dependencies point one way; each edge is a decision, and the table is where it is made",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let manifests: Vec<(&str, &File)> =
        tree.files().iter().filter_map(|file| Some((member(&file.path)?, file))).collect();
    let members: Vec<&str> = manifests.iter().map(|(name, _)| *name).collect();
    manifests.iter().flat_map(|(name, file)| judge(name, file, &members)).collect()
}

/// The crate whose manifest this is; directory name = crate name.
fn member(path: &str) -> Option<&str> {
    let dir = path.strip_suffix("/Cargo.toml")?;
    match dir.strip_prefix("crates/") {
        Some(name) => Some(name),
        None => ["bench", "proof", "sim", "xtask"].into_iter().find(|top| *top == dir),
    }
}

fn judge(name: &str, file: &File, members: &[&str]) -> Vec<Finding> {
    let Some((_, may)) = EDGES.iter().find(|(from, _)| *from == name) else {
        let what = format!("{name} is not in the table of edges");
        return vec![Finding::new(&file.path, 0, what, format!("add a row with its reason to {THIS}"))];
    };
    let allowed = |to: &str| match may {
        May::Only(list) => list.contains(&to),
        May::Anything => true,
    };
    let mut findings = Vec::new();
    for (at, to) in dependencies(file) {
        if members.contains(&to) && to != name && !allowed(to) {
            let cure = format!("turn the dependency round, or change the table in {THIS} with a reason");
            findings.push(Finding::new(&file.path, at, format!("{name} may not depend on {to}"), cure));
        }
        if let Some((_, homes)) =
            HOMES.iter().find(|(outside, homes)| *outside == to && !homes.contains(&name))
        {
            let cure = format!("go through its home: {to} lives in {}", homes.join(" and "));
            findings.push(Finding::new(&file.path, at, format!("{name} may not depend on {to}"), cure));
        }
    }
    findings
}

/// The names in every dependency table of a manifest, renamed ones by their real name. Knows the two shapes in use:
/// a line in `[dependencies]` (also dev-, build- and target-), and a table `[dependencies.name]`.
fn dependencies(file: &File) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in file.lines() {
        let line = line.split('#').next().unwrap_or(line).trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = header.ends_with("dependencies");
            if let Some((_, name)) = header.rsplit_once("dependencies.") {
                found.push((at, name));
            }
        } else if let Some(name) = real_name(line) {
            found.push((at, name));
        } else if inside
            && let Some(name) = line.split(['.', '=', ' ']).next().filter(|name| !name.is_empty())
        {
            found.push((at, name));
        }
    }
    found
}

/// `package = "name"` on a dependency's line.
fn real_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("package = \"")?;
    let key = before.is_empty() || before.ends_with([' ', '{', ',']);
    rest.split('"').next().filter(|_| key)
}

#[cfg(test)]
mod tests;
