//! The search: every shape on every cluster in every world, and the pair that will be regretted least.
//!
//! Costs are logarithms: a cluster at twice the price costs 0.69 more in a small world as in a large one, and so all
//! worlds count the same. The regret of a pair in a world is what it costs there beyond the best pair of that world.
//! Regrets are summed so that one bad world counts more than two half as bad. The search is exact: a shape is left out
//! only where even the best cluster of every single world could not save it.

use model::ShapeSpec;

use crate::Workload;
use crate::behaviour::{Behaviour, Cut, behave};
use crate::cluster::{Offer, offers};
use crate::cost::{Need, need, trouble};
use crate::grid::shapes;
use crate::world::World;

/// Too small is so many times as bad as too large by the same factor: so the cluster is large enough in about four of
/// five worlds.
const UNDER: f64 = 4.0;
/// Shapes that are kept in order of their regret.
const KEPT: usize = 40;

/// What a shape is in a world. There are more than a million of them in a large plan, so they are small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// What it needs, as logarithms.
    cores_ln: f64,
    disk_ln: f64,
    trouble: f64,
    /// What it costs on the cluster that suits it best.
    least: f64,
}

impl Cell {
    fn new(need: Need, trouble: f64, offers: &[Offer]) -> Self {
        let (cores_ln, disk_ln) = (need.cores.ln(), need.disk_gib.ln());
        let mut cell = Self { cores_ln, disk_ln, trouble, least: f64::INFINITY };
        for offer in offers {
            // They come cheapest first, and nothing costs less than its price.
            if offer.price_ln + trouble >= cell.least {
                break;
            }
            cell.least = cell.least.min(cell.cost(offer));
        }
        cell
    }

    /// What it needs.
    pub(crate) fn need(&self) -> Need {
        Need { cores: self.cores_ln.exp(), disk_gib: self.disk_ln.exp() }
    }

    fn cost(&self, offer: &Offer) -> f64 {
        offer.price_ln + self.shortage(offer) + self.trouble
    }

    /// What is missing of what it needs, as a cost.
    pub(crate) fn shortage(&self, offer: &Offer) -> f64 {
        UNDER * (self.cores_ln - offer.cores_ln).max(self.disk_ln - offer.disk_ln).max(0.0)
    }
}

/// Everything that is compared.
pub(crate) struct Field<'a> {
    workload: &'a Workload,
    worlds: &'a [World],
    pub(crate) offers: Vec<Offer>,
    /// What the best pair costs, world by world.
    best: Vec<f64>,
    shapes: Vec<(ShapeSpec, Vec<Cell>)>,
}

/// A shape on a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) shape: ShapeSpec,
    pub(crate) offer: Offer,
    /// What it costs beyond the best pair of each world, as a mean in which large ones count more.
    pub(crate) regret: f64,
}

impl<'a> Field<'a> {
    /// Looks at everything once.
    pub(crate) fn survey(workload: &'a Workload, worlds: &'a [World]) -> Self {
        let mut field = Self {
            workload,
            worlds,
            offers: offers(workload.replicas),
            best: vec![f64::INFINITY; worlds.len()],
            shapes: Vec::new(),
        };
        let mut shapes = shapes(workload);
        // What only the slice tells apart behaves alike.
        shapes.sort_by_key(|shape| (shape.seconds_per_bucket, shape.buckets_per_id, shape.seconds_per_slice));
        let mut known: Option<(Cut, Vec<Behaviour>)> = None;
        for shape in shapes {
            let cut = Cut::of(shape);
            let behaviours = match known.take() {
                Some((same, behaviours)) if same == cut => behaviours,
                _ => field.behaviours(shape),
            };
            let cells = field.cells(shape, &behaviours);
            for (best, cell) in field.best.iter_mut().zip(&cells) {
                *best = best.min(cell.least);
            }
            field.shapes.push((shape, cells));
            known = Some((cut, behaviours));
        }
        field
    }

    /// How a shape behaves, world by world.
    pub(crate) fn behaviours(&self, shape: ShapeSpec) -> Vec<Behaviour> {
        self.worlds.iter().map(|world| behave(Cut::of(shape), world, self.workload)).collect()
    }

    /// What a shape is, world by world.
    pub(crate) fn cells(&self, shape: ShapeSpec, behaviours: &[Behaviour]) -> Vec<Cell> {
        let one = |(world, behaviour): (&World, &Behaviour)| {
            let need = need(shape, behaviour, world, self.workload);
            Cell::new(need, trouble(shape, behaviour, self.workload).total(), &self.offers)
        };
        self.worlds.iter().zip(behaviours).map(one).collect()
    }

    /// The shapes that are regretted least, each on the cluster that suits it best; the first is the choice.
    pub(crate) fn least_regret(&self) -> Vec<Pair> {
        let bound =
            |cells: &[Cell]| self.sum(cells, |cell| cell.least, f64::INFINITY).unwrap_or(f64::INFINITY);
        let mut order: Vec<(f64, &(ShapeSpec, Vec<Cell>))> =
            self.shapes.iter().map(|one| (bound(&one.1), one)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut kept: Vec<(f64, Pair)> = Vec::new();
        for (bound, (shape, cells)) in order {
            let limit = kept.get(KEPT - 1).map_or(f64::INFINITY, |(sum, _)| *sum);
            if bound > limit {
                break;
            }
            kept.extend(self.best_offer(*shape, cells, limit));
            kept.sort_by(|a, b| a.0.total_cmp(&b.0));
            kept.truncate(KEPT);
        }
        kept.into_iter().map(|(_, pair)| pair).collect()
    }

    /// A shape on the cluster that suits it best.
    pub(crate) fn on_its_best(&self, shape: ShapeSpec, cells: &[Cell]) -> Option<Pair> {
        self.best_offer(shape, cells, f64::INFINITY).map(|(_, pair)| pair)
    }

    /// The same with its sum of regrets, unless that is over `limit`.
    fn best_offer(&self, shape: ShapeSpec, cells: &[Cell], limit: f64) -> Option<(f64, Pair)> {
        let mut found: Option<(f64, &Offer)> = None;
        for offer in &self.offers {
            let limit = found.map_or(limit, |(sum, _)| sum);
            if let Some(sum) = self.sum(cells, |cell| cell.cost(offer), limit) {
                found = Some((sum, offer));
            }
        }
        let (sum, offer) = found?;
        Some((sum, Pair { shape, offer: *offer, regret: self.mean(sum) }))
    }

    /// A shape on this cluster.
    pub(crate) fn pair(&self, shape: ShapeSpec, cells: &[Cell], offer: Offer) -> Pair {
        let sum = self.sum(cells, |cell| cell.cost(&offer), f64::INFINITY).unwrap_or(f64::INFINITY);
        Pair { shape, offer, regret: self.mean(sum) }
    }

    /// The sum over the worlds of what costs are beyond the best; none from where on it is as much as `limit`.
    fn sum(&self, cells: &[Cell], cost: impl Fn(&Cell) -> f64, limit: f64) -> Option<f64> {
        let mut sum = 0.0;
        for (cell, best) in cells.iter().zip(&self.best) {
            let regret = (cost(cell) - best).max(0.0);
            sum += regret * (1.0 + regret);
            if sum >= limit {
                return None;
            }
        }
        Some(sum)
    }

    /// The regret that would give the same sum if it were the same in all worlds.
    fn mean(&self, sum: f64) -> f64 {
        let each = sum / self.worlds.len().max(1) as f64;
        ((1.0 + 4.0 * each).sqrt() - 1.0) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::sensors;
    use crate::world::worlds;

    fn small() -> Workload {
        Workload { worlds: 8, ..sensors() }
    }

    #[test]
    fn nothing_that_was_left_out_is_better() {
        let workload = small();
        let worlds = worlds(&workload);
        let field = Field::survey(&workload, &worlds);
        let every = |(shape, cells): &(ShapeSpec, Vec<Cell>)| {
            let regret = |offer: &Offer| field.pair(*shape, cells, *offer).regret;
            field.offers.iter().map(regret).fold(f64::INFINITY, f64::min)
        };
        let mut all: Vec<f64> = field.shapes.iter().map(every).collect();
        all.sort_by(f64::total_cmp);
        let found: Vec<f64> = field.least_regret().iter().map(|pair| pair.regret).collect();
        assert_eq!(found, all[..KEPT]);
    }

    #[test]
    fn with_one_world_the_best_is_never_regretted() {
        let workload = Workload { worlds: 1, ..sensors() };
        let worlds = worlds(&workload);
        let field = Field::survey(&workload, &worlds);
        assert!(field.least_regret()[0].regret < 1e-9);
    }

    #[test]
    fn too_small_is_worse_than_too_large() {
        let found = offers(3);
        let need = Need { cores: 96.0, disk_gib: 1.0 };
        let cell = Cell::new(need, 0.5, &found);
        let right = found.iter().find(|offer| offer.cores == 96.0).unwrap();
        let half = found.iter().find(|offer| offer.cores == 48.0).unwrap();
        assert_eq!(cell.shortage(right), 0.0);
        assert!((cell.shortage(half) - 4.0 * 2.0_f64.ln()).abs() < 1e-9);
        assert!((cell.cost(right) - right.price.ln() - 0.5).abs() < 1e-9);
        assert!(cell.least <= cell.cost(right) && cell.cost(right) < cell.cost(half));
        let dry = Cell::new(Need { cores: 1.0, disk_gib: right.disk_gib * 2.0 }, 0.0, &found);
        assert!((dry.shortage(right) - 4.0 * 2.0_f64.ln()).abs() < 1e-9, "disk counts as cores do");
    }

    #[test]
    fn large_regrets_count_more() {
        let workload = Workload { worlds: 2, ..small() };
        let worlds = worlds(&workload);
        let field = Field::survey(&workload, &worlds);
        let mean = |regrets: [f64; 2]| field.mean(regrets.iter().map(|regret| regret * (1.0 + regret)).sum());
        assert!((mean([1.0, 1.0]) - 1.0).abs() < 1e-9);
        assert!(mean([0.0, 2.0]) > 1.2);
    }
}
