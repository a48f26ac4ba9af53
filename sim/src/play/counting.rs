//! A reader that only wants to know how many there are: all, or by stretches of time. Of packed targets that is answered by headers.
//!
//! A count is at least of what a read would owe, and at most of what anybody tried to write.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{AggregatePage, AggregateRequest, Aggregation, BucketKey};
use split::SplitId;

use super::ask::Heard;
use super::judge::Reading;
use super::reader::{PAGES_MAX, Reader, TROUBLES_MAX, request};
use super::specs::{SECOND, nanos};
use super::stage::Stage;

/// Buckets of an answer: few enough that some have to be asked for in two.
const BUCKETS: usize = 12;
/// How wide stretches of time are.
const WIDTHS: [i64; 3] = [7 * SECOND, 60 * SECOND, 1_000 * SECOND];

/// A count under way, over its answers.
struct Counting {
    reading: Reading,
    /// Of the stretches that are told apart; none: all is one.
    width: Option<i64>,
    /// Events by the beginning of their stretch.
    found: BTreeMap<i64, u64>,
    /// It may have met damage.
    is_excused: bool,
    /// Every answer came from targets alone.
    is_of_targets: bool,
}

impl Reader {
    /// Counts what could be read, if that can be done soon; `split` has all of its time.
    pub(super) async fn count(&self, reading: Reading, split: Option<SplitId>) {
        let (stage, dice) = (&self.stage, &self.dice);
        let width = if dice.percent(50) { None } else { dice.pick(&WIDTHS).copied() };
        let aggregation = width.map_or(Aggregation::Count, |width| Aggregation::TimeHistogram { width });
        let Ok(read) = request(&reading, BUCKETS) else { return };
        let mut counting =
            Counting { reading, width, found: BTreeMap::new(), is_excused: false, is_of_targets: true };
        let (mut asked, mut troubles) = (AggregateRequest { read, aggregation }, 0);
        for _ in 0..PAGES_MAX {
            let Some(server) = stage.any_server(dice) else { return };
            let page = asked.clone();
            let heard = stage
                .ask(server, dice.seconds(3, 60), |engine| async move { engine.aggregate(page).await })
                .await;
            let Heard::Answer(page) = heard else {
                troubles += 1;
                if troubles > TROUBLES_MAX {
                    return;
                }
                stage.sleep(Duration::from_millis(dice.between(50, 2_000))).await;
                continue;
            };
            let (who, name) = (server.machine.name(), counting.name());
            stage.note(format_args!("reader {} got {} of {name} from {who}", self.number, page.count));
            counting.take(stage, &page);
            // Where time ran out, how much of it was counted is only known of reads.
            if page.partial.is_some() {
                return;
            }
            let Some(next) = page.next else { return counting.end(stage, split.as_ref(), who) };
            asked.read.resume = Some(next);
        }
    }
}

impl Counting {
    fn name(&self) -> String {
        let Reading { space, series, interval, .. } = &self.reading;
        format!("a count of {space}/{} {interval:?} by {:?}", series.join(","), self.width)
    }

    /// Where the stretch of a time begins.
    fn stretch_of(&self, time: i64) -> i64 {
        self.width.map_or(0, |width| time - time.rem_euclid(width))
    }

    fn take(&mut self, stage: &Stage, page: &AggregatePage) {
        let Reading { space, series, begun, .. } = &self.reading;
        if page.cost.targets > 0 && stage.records.tainted().may_be_met(space, series, *begun) {
            self.is_excused = true;
        }
        self.is_of_targets &= page.cost.targets > 0 && page.cost.origins == 0;
        if self.width.is_none() {
            *self.found.entry(0).or_default() += page.count;
            return;
        }
        let mut of_buckets = 0;
        for bucket in &page.buckets {
            match &bucket.key {
                BucketKey::Time(time) => *self.found.entry(time.start()).or_default() += bucket.count,
                BucketKey::Value(_) => stage.wrong(format!("{} has values", self.name())),
            }
            of_buckets += bucket.count;
        }
        if of_buckets != page.count {
            stage.wrong(format!(
                "{} has {} events, {of_buckets} of them in stretches",
                self.name(),
                page.count
            ));
        }
    }

    /// That was all of it.
    fn end(&self, stage: &Stage, split: Option<&SplitId>, who: &str) {
        let is_packed = split.is_some_and(|id| stage.records.is_packed(id));
        stage.ledger.count(|counts| {
            counts.counted += u64::from(!self.is_excused);
            counts.excused += u64::from(self.is_excused);
            counts.counted_packed += u64::from(!self.is_excused && self.is_of_targets && is_packed);
        });
        if self.is_excused {
            return;
        }
        let bounds = self.bounds(stage);
        let stretches: BTreeSet<i64> = bounds.keys().chain(self.found.keys()).copied().collect();
        for stretch in stretches {
            let (least, most) = bounds.get(&stretch).copied().unwrap_or_default();
            let found = self.found.get(&stretch).copied().unwrap_or_default();
            if !(least..=most).contains(&found) {
                stage.wrong(format!(
                    "{} by {who} has {found} events from {stretch}, not {least} to {most}; it began at {:?}",
                    self.name(),
                    self.reading.begun
                ));
            }
        }
    }

    /// Of each stretch, how many events there are at least and at most.
    fn bounds(&self, stage: &Stage) -> BTreeMap<i64, (u64, u64)> {
        let (now, start) = (stage.world.now(), stage.wall() - nanos(stage.world.now()));
        let Reading { series, interval, generation, begun, first, .. } = &self.reading;
        stage.ledger.with(self.reading.space, |known| {
            let is_same = known.present().is_some() && known.present() == *generation;
            let events = series.iter().filter_map(|series| known.series.get(series)).flatten();
            let mut bounds = BTreeMap::<i64, (u64, u64)>::new();
            for (key, tried) in events.filter(|(key, _)| (interval.start()..interval.end()).contains(&key.0))
            {
                let acknowledged = tried
                    .acknowledged
                    .is_some_and(|(making, at)| Some(making) == *generation && at <= *begun);
                let is_owed = is_same && acknowledged && !known.may_be_dropped(key.0, now, start);
                let may_be = tried.last >= *first && tried.first <= known.latest();
                let (least, most) = bounds.entry(self.stretch_of(key.0)).or_default();
                *least += u64::from(is_owed);
                *most += u64::from(may_be);
            }
            bounds
        })
    }
}
