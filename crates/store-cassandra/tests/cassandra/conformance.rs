//! The whole suite of the seam.

use std::sync::Arc;

use store::Store;

use crate::shared;

/// All cases share one store: each has a namespace of its own, and a server has one session too.
async fn make() -> (Arc<dyn Store>, ()) {
    (Arc::new(shared::store().await), ())
}

store::conformance_suite!(make);
