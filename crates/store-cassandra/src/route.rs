//! The nodes that one attempt asks, in the order that everything is routed by, and a second attempt around them.

use std::sync::{Arc, Mutex, PoisonError};

use scylla::cluster::{ClusterState, Node, NodeRef};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;

use crate::profiles::Profiles;

/// Where one attempt goes.
#[derive(Debug)]
pub(crate) struct Route {
    routing: Arc<dyn LoadBalancingPolicy>,
    /// Nodes that it passes by.
    around: Vec<Arc<Node>>,
    /// Nodes that it has come to. Few: it goes on only from one that cannot be reached.
    asked: Mutex<Vec<Arc<Node>>>,
}

impl Route {
    /// The way that every statement takes.
    pub(crate) fn new(profiles: &Profiles) -> Arc<Self> {
        Self::around(profiles, Vec::new())
    }

    fn around(profiles: &Profiles, around: Vec<Arc<Node>>) -> Arc<Self> {
        Arc::new(Self { routing: Arc::clone(&profiles.routing), around, asked: Mutex::default() })
    }

    /// A way around the nodes that this one has come to; none where there is no other node to ask.
    pub(crate) fn detour(&self, profiles: &Profiles, state: &ClusterState) -> Option<Arc<Self>> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_other = |node: &Arc<Node>| {
            let local = node.datacenter.as_deref() == Some(&*profiles.datacenter);
            local && node.is_connected() && !holds(&asked, node)
        };
        let found = state.get_nodes_info().iter().any(is_other);
        found.then(|| Self::around(profiles, asked))
    }

    fn come_to(&self, node: &Arc<Node>) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(node));
    }
}

fn holds(nodes: &[Arc<Node>], node: &Node) -> bool {
    nodes.iter().any(|one| one.host_id == node.host_id)
}

impl LoadBalancingPolicy for Route {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let picked = self.routing.pick(request, cluster);
        picked.filter(|(node, _)| !holds(&self.around, node)).inspect(|(node, _)| self.come_to(node))
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo<'_>, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        let others = self.routing.fallback(request, cluster);
        let others = others.filter(|(node, _)| !holds(&self.around, node));
        Box::new(others.inspect(|(node, _)| self.come_to(node)))
    }

    fn name(&self) -> String {
        "Route".to_owned()
    }
}
