//! Questions to one node and no other, about what it has for itself alone.

use std::sync::Arc;

use scylla::cluster::Node;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::{Consistency, Statement};

/// The same statement, for that node alone.
pub(crate) fn only_at(node: &Arc<Node>, mut statement: Statement) -> Statement {
    let only = SingleTargetLoadBalancingPolicy::new(NodeIdentifier::Node(Arc::clone(node)), None);
    statement.set_load_balancing_policy(Some(only));
    statement.set_consistency(Consistency::One);
    statement
}
