//! The embedded store keeps the contract of the seam.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use env::Env;
use store::Store;
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;

async fn make() -> (Arc<dyn Store>, TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    let store =
        EmbeddedStore::open(&scratch.path().join("data"), Options::default(), Env::system()).await.unwrap();
    (Arc::new(store), scratch)
}

store::conformance_suite!(make);
