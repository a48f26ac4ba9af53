//! The memory backend keeps the contract.

use std::sync::Arc;

use store::{MemoryStore, Store};

async fn make() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::new()), ())
}

store::conformance_suite!(make);
