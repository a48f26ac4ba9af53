//! The clusters that are looked at, and what they cost beside each other. Prices are in cores: what one core of a
//! machine with its memory costs is 1.

/// Machines that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// How many.
    pub nodes: u32,
    /// Cores of each.
    pub cores_per_node: u32,
    /// Disk of each, GiB.
    pub disk_gib_per_node: u32,
}

/// A machine costs so much by itself.
const NODE_PRICE: f64 = 1.0;
const GIB_PRICE: f64 = 0.004;

/// Machines for each replica.
const RANKS: [u32; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64];
const NODES_MAX: u32 = 192;
const CORES: [u32; 4] = [4, 8, 16, 32];
/// More data on one node makes it slow to replace.
const DISKS: [u32; 6] = [50, 100, 200, 400, 800, 1_280];
/// A single machine, with the embedded store, is as large as they come.
const SINGLE_CORES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const SINGLE_DISKS: [u32; 10] = [20, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800];

/// A cluster and what it has, also as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) cluster: Cluster,
    pub(crate) cores: f64,
    pub(crate) disk_gib: f64,
    pub(crate) price: f64,
    pub(crate) cores_ln: f64,
    pub(crate) disk_ln: f64,
    pub(crate) price_ln: f64,
}

impl Offer {
    fn of(nodes: u32, cores_per_node: u32, disk_gib_per_node: u32) -> Self {
        let (count, cores, disk) =
            (f64::from(nodes), f64::from(cores_per_node), f64::from(disk_gib_per_node));
        let price = count * (NODE_PRICE + cores + disk * GIB_PRICE);
        Self {
            cluster: Cluster { nodes, cores_per_node, disk_gib_per_node },
            cores: count * cores,
            disk_gib: count * disk,
            price,
            cores_ln: (count * cores).ln(),
            disk_ln: (count * disk).ln(),
            price_ln: price.ln(),
        }
    }

    fn is_as_good_as(&self, other: &Self) -> bool {
        self.cores >= other.cores && self.disk_gib >= other.disk_gib && self.price <= other.price
    }
}

/// What can be had with so many replicas, cheapest first, without what something else is as good as for less.
pub(crate) fn offers(replicas: u32) -> Vec<Offer> {
    let (ranks, cores, disks) = match replicas {
        1 => (&RANKS[..1], &SINGLE_CORES[..], &SINGLE_DISKS[..]),
        _ => (&RANKS[..], &CORES[..], &DISKS[..]),
    };
    let mut all: Vec<Offer> = Vec::new();
    for rank in ranks {
        let nodes = rank * replicas;
        for cores in cores {
            all.extend(
                disks.iter().filter(|_| nodes <= NODES_MAX).map(|disk| Offer::of(nodes, *cores, *disk)),
            );
        }
    }
    let larger_first = |a: &Offer, b: &Offer| (b.cores + b.disk_gib).total_cmp(&(a.cores + a.disk_gib));
    all.sort_by(|a, b| a.price.total_cmp(&b.price).then(larger_first(a, b)));
    let mut kept: Vec<Offer> = Vec::new();
    for offer in all {
        if !kept.iter().any(|better| better.is_as_good_as(&offer)) {
            kept.push(offer);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_offered_that_something_else_beats() {
        for replicas in 1..=5 {
            let found = offers(replicas);
            assert!((20..300).contains(&found.len()), "{replicas}: {}", found.len());
            for (at, offer) in found.iter().enumerate() {
                let others = found.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(!others.map(|(_, other)| other).any(|other| other.is_as_good_as(offer)), "{offer:?}");
                assert_eq!(offer.cluster.nodes % replicas, 0);
            }
            assert!(found.windows(2).all(|pair| pair[0].price <= pair[1].price));
        }
    }

    #[test]
    fn one_replica_is_one_machine() {
        assert!(offers(1).iter().all(|offer| offer.cluster.nodes == 1));
        assert!(offers(3).iter().all(|offer| (3..=192).contains(&offer.cluster.nodes)));
    }
}
