//! A real node as security departments have them: TLS, a certificate of every client, users and rights.
//!
//! One test, as there is one node: it starts its own, says every step on stderr, and wipes it at the end, also when it
//! fails. Whoever is refused is told why and what to do, as something that trying again does not mend, and has touched
//! nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod certificates;
mod detour;
mod node;
mod refused;
mod rights;

use env::Env;

use crate::node::Node;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_is_served_and_who_may_not_is_told_why() {
    let node = Node::start(&Env::system()).await;
    refused::at_the_door(&node).await;
    rights::too_few(&node).await;
    rights::just_enough(&node).await;
    rights::of_somebody_else(&node).await;
}
