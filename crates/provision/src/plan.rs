//! From a workload to a plan: the choice, what is expected of it, what else was looked at and why that lost.

use model::ShapeSpec;

use crate::baseline::{Baseline, Rules};
use crate::behaviour::{Behaviour, Cut, behave};
use crate::cluster::{Cluster, Offer, offers};
use crate::cost::{Need, Trouble, need, trouble};
use crate::forecast::{Forecast, forecast};
use crate::grid::shapes;
use crate::reason::{Parts, percent, why};
use crate::search::{Cell, Field, Pair};
use crate::world::{World, middle, worlds};
use crate::{Refusal, Workload};

/// Other shapes that are shown.
const RUNNERS_UP: usize = 4;

/// A shape and a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How slices are cut.
    pub shape: ShapeSpec,
    /// What it runs on.
    pub cluster: Cluster,
    /// What it costs beyond the best choice of each world, as a logarithm: 0.1 is a tenth more. A mean over the worlds in
    /// which large ones count more.
    pub regret: f64,
    /// What is expected of it.
    pub forecast: Forecast,
}

/// A choice that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerUp {
    /// The choice.
    pub choice: Choice,
    /// Why it lost.
    pub reason: String,
}

/// What to make of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The choice that is regretted least.
    pub chosen: Choice,
    /// What the published rules say, or why they say nothing.
    pub baseline: Result<Baseline, Refusal>,
    /// Other shapes, least regretted first, then the same shape on a smaller and on a larger cluster.
    pub runners_up: Vec<RunnerUp>,
    /// What whoever reads the plan should know.
    pub notes: Vec<String>,
}

/// Plans for a workload, or says why that cannot be done.
pub fn plan(workload: &Workload) -> Result<Plan, Refusal> {
    workload.check()?;
    check_fits(workload)?;
    let worlds = worlds(workload);
    let study = Study { workload, worlds: &worlds, field: Field::survey(workload, &worlds) };
    let pairs = study.field.least_regret();
    let Some(first) = pairs.first() else {
        return Err(Refusal::new("retention", "suits no slice; choose a time between an hour and ten years"));
    };
    let chosen = study.judge(*first);
    let mut runners_up: Vec<RunnerUp> =
        others(&pairs).into_iter().map(|pair| study.beside(&chosen, study.judge(pair))).collect();
    runners_up.extend(study.resized(*first).into_iter().map(|pair| study.beside(&chosen, study.judge(pair))));
    let baseline = Rules::of(workload).and_then(|rules| study.baseline(rules, &chosen));
    let notes = notes(&chosen.choice, &baseline, worlds.len());
    Ok(Plan { chosen: chosen.choice, baseline, runners_up, notes })
}

/// Refuses what does not fit the largest cluster even where every guess is right.
fn check_fits(workload: &Workload) -> Result<(), Refusal> {
    let world = middle(workload);
    let offers = offers(workload.replicas);
    let of = |shape, world: &World| need(shape, &behave(Cut::of(shape), world, workload), world, workload);
    let needs: Vec<Need> = shapes(workload).into_iter().map(|shape| of(shape, &world)).collect();
    let most = |kind: fn(&Offer) -> f64| offers.iter().map(kind).fold(0.0, f64::max);
    let (cores, disk) = (most(|offer| offer.cores), most(|offer| offer.disk_gib));
    if needs.iter().any(|need| need.cores <= cores && need.disk_gib <= disk) {
        return Ok(());
    }
    let least = |kind: fn(&Need) -> f64| needs.iter().map(kind).fold(f64::INFINITY, f64::min);
    let problem = format!(
        "at the middle of every guess {:.0} cores and {:.0} GiB of disk are needed, and the largest cluster of {} replicas \
         has {cores:.0} and {disk:.0}",
        least(|need| need.cores),
        least(|need| need.disk_gib),
        workload.replicas
    );
    let unread = World { reads: 0.0, ..world };
    let fits_unread =
        shapes(workload).into_iter().map(|shape| of(shape, &unread)).any(|need| need.cores <= cores);
    let (field, cure) = match least(|need| need.disk_gib) <= disk && fits_unread {
        true => ("reads_per_second", "reads take most of it: read less often or a shorter interval"),
        false => ("ids", "keep less or for a shorter time, or spread it over several clusters"),
    };
    Err(Refusal::new(field, format!("{problem}; {cure}")))
}

/// The best of those that bring something new: a slice, a bucket or a number of event buckets not seen before.
fn others(pairs: &[Pair]) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    let mut seen: Vec<ShapeSpec> = pairs.first().map(|pair| pair.shape).into_iter().collect();
    for pair in pairs.iter().skip(1) {
        let shape = pair.shape;
        let is_new = !seen.iter().any(|one| one.seconds_per_slice == shape.seconds_per_slice)
            || !seen.iter().any(|one| one.seconds_per_bucket == shape.seconds_per_bucket)
            || !seen.iter().any(|one| one.buckets_per_id == shape.buckets_per_id);
        if is_new && found.len() < RUNNERS_UP {
            found.push(*pair);
            seen.push(shape);
        }
    }
    found
}

/// A choice with what it costs, part by part.
struct Judged {
    choice: Choice,
    parts: Parts,
}

struct Study<'a> {
    workload: &'a Workload,
    worlds: &'a [World],
    field: Field<'a>,
}

impl Study<'_> {
    fn judge(&self, pair: Pair) -> Judged {
        let Pair { shape, offer, regret } = pair;
        let behaviours = self.field.behaviours(shape);
        let cells = self.field.cells(shape, &behaviours);
        let parts = self.parts(&pair, &behaviours, &cells);
        let forecast = forecast((shape, &offer), self.workload, self.worlds, &behaviours, &cells);
        Judged { choice: Choice { shape, cluster: offer.cluster, regret, forecast }, parts }
    }

    fn parts(&self, pair: &Pair, behaviours: &[Behaviour], cells: &[Cell]) -> Parts {
        let count = self.worlds.len().max(1) as f64;
        let mut parts = Parts { price: pair.offer.price_ln, ..Parts::default() };
        for (behaviour, cell) in behaviours.iter().zip(cells) {
            let found = trouble(pair.shape, behaviour, self.workload);
            let share = 1.0 / count;
            let sum = parts.trouble;
            parts.shortage += cell.shortage(&pair.offer) * share;
            parts.trouble = Trouble {
                slow: sum.slow + found.slow * share,
                wide: sum.wide + found.wide * share,
                hot: sum.hot + found.hot * share,
                too_large: sum.too_large + found.too_large * share,
                too_small: sum.too_small + found.too_small * share,
                asked: sum.asked + found.asked * share,
                tables: sum.tables + found.tables * share,
                late: sum.late + found.late * share,
            };
        }
        parts
    }

    /// The chosen shape on the best of the cheaper and the best of the dearer clusters.
    fn resized(&self, chosen: Pair) -> Vec<Pair> {
        let cells = self.field.cells(chosen.shape, &self.field.behaviours(chosen.shape));
        let best = |suits: &dyn Fn(&Offer) -> bool| {
            let offers = self.field.offers.iter().filter(|offer| suits(offer));
            let pairs = offers.map(|offer| self.field.pair(chosen.shape, &cells, *offer));
            pairs.min_by(|a, b| a.regret.total_cmp(&b.regret))
        };
        let price = chosen.offer.price;
        let cheaper = best(&|offer| offer.price < price);
        let dearer = best(&|offer| offer.price > price);
        cheaper.into_iter().chain(dearer).collect()
    }

    fn beside(&self, chosen: &Judged, lost: Judged) -> RunnerUp {
        let reason = self.why(chosen, &lost);
        RunnerUp { choice: lost.choice, reason }
    }

    fn why(&self, chosen: &Judged, lost: &Judged) -> String {
        why((&lost.choice, &lost.parts), (&chosen.choice, &chosen.parts), self.worlds.len())
    }

    fn baseline(&self, rules: Rules, chosen: &Judged) -> Result<Baseline, Refusal> {
        let shape = rules.shape();
        let cells = self.field.cells(shape, &self.field.behaviours(shape));
        let pair = self.field.on_its_best(shape, &cells);
        let pair = pair.ok_or_else(|| Refusal::new("replicas", "has no cluster; choose 1 to 5"))?;
        let judged = self.judge(pair);
        let reason = match (
            judged.choice.shape == chosen.choice.shape,
            judged.choice.regret <= chosen.choice.regret,
        ) {
            (true, _) => "it is the same shape".to_owned(),
            (false, true) => "it is as good as the choice".to_owned(),
            (false, false) => self.why(chosen, &judged),
        };
        Ok(Baseline { rules, choice: judged.choice, reason })
    }
}

/// What whoever reads the plan should know.
fn notes(chosen: &Choice, baseline: &Result<Baseline, Refusal>, worlds: usize) -> Vec<String> {
    let forecast = &chosen.forecast;
    let mut notes = Vec::new();
    if forecast.worlds_short > 0 {
        notes.push(format!(
            "in {} of {worlds} worlds the cluster is too small; watch its cores and disk, and add machines then",
            forecast.worlds_short
        ));
    }
    if forecast.slow_reads_share.p95 > 0.01 {
        notes.push(format!(
            "at worst {} of the first pages take longer than the SLO allows; no other choice was better on the whole, so read \
             less at a time or allow more",
            percent(forecast.slow_reads_share.p95)
        ));
    }
    if forecast.split_ids_share.p95 > 0.0 {
        notes.push(format!(
            "at worst {} of the ids have partitions over 16 MiB, which are split by themselves once their time is closed",
            percent(forecast.split_ids_share.p95)
        ));
    }
    if let Err(refusal) = baseline {
        notes.push(format!("there is no baseline: {refusal}"));
    }
    notes
}

#[cfg(test)]
mod tests;
