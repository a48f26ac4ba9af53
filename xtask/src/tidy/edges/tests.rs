//! The table of edges against manifests in the shapes that cargo knows.

use super::super::testing::check;
use super::RULE;

const TURN: &str =
    "(edges) - turn the dependency round, or change the table in xtask/src/tidy/edges.rs with a reason";

#[test]
fn allowed_edges_pass() {
    check(
        &RULE,
        "
-- crates/env/Cargo.toml --
[package]
name = \"env\"
[dependencies]
tokio.workspace = true
-- crates/model/Cargo.toml --
-- crates/store/Cargo.toml --
[dependencies]
env.workspace = true
model = { path = \"../model\" }
[dev-dependencies]
store = { path = \".\", features = [\"conformance\"] }
-- crates/store-embedded/Cargo.toml --
[dependencies]
store.workspace = true
fjall.workspace = true
-- bench/Cargo.toml --
[dependencies]
store-embedded.workspace = true
fjall.workspace = true"
            .trim_start(),
        "",
    );
}

#[test]
fn every_shape_of_a_wrong_edge_is_found() {
    check(
        &RULE,
        "
-- crates/env/Cargo.toml --
[target.'cfg(unix)'.dependencies]
model.workspace = true # why not
-- crates/model/Cargo.toml --
[dev-dependencies]
clock = { package = \"env\", path = \"../env\" }
[features]
env = []
-- xtask/Cargo.toml --
[build-dependencies.env]
path = \"../crates/env\""
            .trim_start(),
        &format!(
            "
crates/env/Cargo.toml:2: env may not depend on model {TURN}
crates/model/Cargo.toml:2: model may not depend on env {TURN}
xtask/Cargo.toml:1: xtask may not depend on env {TURN}"
        ),
    );
}

#[test]
fn the_engine_has_one_home_and_every_crate_a_row() {
    check(
        &RULE,
        "
-- crates/store/Cargo.toml --
[dependencies]
fjall = \"3\"
-- crates/novel/Cargo.toml --"
            .trim_start(),
        "
crates/novel/Cargo.toml:1: novel is not in the table of edges (edges) - \
add a row with its reason to xtask/src/tidy/edges.rs
crates/store/Cargo.toml:2: store may not depend on fjall (edges) - \
go through its home: fjall lives in store-embedded and bench",
    );
}
