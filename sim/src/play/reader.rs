//! A client that reads: series by pages, each from a server by chance, in both orders; one series, or a search of several. Where
//! splits are played, it comes back to what was split, again and again. Now and then it counts instead (`counting`).

use std::time::Duration;

use engine::{ReadRequest, Reason};
use model::{Interval, NamespaceName, Order, SeriesId};
use split::SplitId;

use super::ask::Heard;
use super::dice::Dice;
use super::judge::Reading;
use super::specs::{HOUR, SECOND, SERIES, SPACES};
use super::stage::Stage;

/// Refusals and partial pages before it gives up.
pub(super) const TROUBLES_MAX: u32 = 8;
/// Pages before it gives up.
pub(super) const PAGES_MAX: u32 = 400;
/// Of a hundred reads so many are of what was split, if there is anything.
const SPLITS_PERCENT: u64 = 65;
/// Of a hundred reads so many are searches of several series.
const SEARCHES_PERCENT: u64 = 25;
/// Of a hundred reads so many only count.
const COUNTS_PERCENT: u64 = 20;
/// The width of a bucket of split time.
const BUCKET: i64 = 900 * SECOND;

/// A reader.
pub(super) struct Reader {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
    pub(super) number: usize,
}

/// What is read.
struct Wanted {
    space: &'static str,
    series: Vec<&'static str>,
    interval: Interval,
    /// The split whose time it is.
    split: Option<SplitId>,
}

impl Reader {
    pub(super) async fn live(self) {
        while !self.stage.is_over() {
            let split = if self.dice.percent(SPLITS_PERCENT) { self.any_split() } else { None };
            let returns = split.is_some();
            let Some(wanted) = split.or_else(|| self.anything()) else { return };
            let order = if self.dice.percent(50) { Order::OldestFirst } else { Order::NewestFirst };
            let page_records = if self.dice.percent(30) { 200 } else { self.dice.index(12) + 2 };
            let Wanted { space, series, interval, split } = wanted;
            let reading = Reading::begin(&self.stage, (space, series), interval, order);
            if self.dice.percent(COUNTS_PERCENT) {
                self.count(reading, split).await;
            } else {
                self.read(reading, page_records).await;
            }
            let wait = Duration::from_millis(self.dice.between(500, 9_000));
            if returns {
                self.stage.linger(wait).await;
            } else {
                self.stage.idle(wait).await;
            }
        }
    }

    fn anything(&self) -> Option<Wanted> {
        let (space, series) = (self.dice.pick(&SPACES).copied()?, self.dice.pick(&SERIES).copied()?);
        Some(Wanted { space, series: self.with_others(series), interval: self.any_interval(), split: None })
    }

    /// Time that was split, alone or with some around it.
    fn any_split(&self) -> Option<Wanted> {
        let splits = self.stage.records.completed();
        let (id, end) = self.dice.pick(&splits)?;
        let space = SPACES.into_iter().find(|space| *space == id.namespace.as_str())?;
        let series = SERIES.into_iter().find(|series| *series == id.partition.series.as_str())?;
        let around = if self.dice.percent(50) { 0 } else { self.dice.around_zero(HOUR).abs() };
        let interval = Interval::new(end - BUCKET - around, end + around).ok()?;
        Some(Wanted { space, series: self.with_others(series), interval, split: Some(id.clone()) })
    }

    /// A series, now and then among others.
    fn with_others(&self, series: &'static str) -> Vec<&'static str> {
        let searches = self.dice.percent(SEARCHES_PERCENT);
        let wanted = |other: &&'static str| *other == series || (searches && self.dice.percent(70));
        SERIES.into_iter().filter(wanted).collect()
    }

    fn any_interval(&self) -> Interval {
        let now = self.stage.wall();
        let (start, end) = match self.dice.below(4) {
            0 => return Interval::ALL,
            1 => (now - 3 * HOUR, now + HOUR),
            _ => (now + self.dice.around_zero(6 * HOUR), now + self.dice.around_zero(6 * HOUR)),
        };
        Interval::new(start.min(end), start.max(end) + 1).unwrap_or(Interval::ALL)
    }

    async fn read(&self, mut reading: Reading, page_records: usize) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Ok(mut request) = request(&reading, page_records) else { return };
        let mut troubles = 0;
        for _ in 0..PAGES_MAX {
            let Some(server) = stage.any_server(dice) else { return };
            let page = request.clone();
            let heard =
                stage.ask(server, dice.seconds(3, 60), |engine| async move { engine.read(page).await }).await;
            let page = match heard {
                Heard::Answer(page) => page,
                Heard::Refused(reason, message) => {
                    stage.note(format_args!("reader {} heard {reason:?}: {message}", self.number));
                    self.check_refusal(&reading, reason);
                    troubles += 1;
                    if troubles > TROUBLES_MAX {
                        return;
                    }
                    stage.sleep(Duration::from_millis(dice.between(50, 2_000))).await;
                    continue;
                }
                Heard::Nothing | Heard::Nobody => {
                    troubles += 1;
                    if troubles > TROUBLES_MAX {
                        return;
                    }
                    continue;
                }
            };
            let (who, found, cost) = (server.machine.name(), page.events.len(), page.cost);
            stage.note(format_args!(
                "reader {} got {found} of {}/{:?} from {who}, partial {:?}, more {}, {} targets, {} fallbacks",
                self.number,
                reading.space,
                reading.series,
                page.partial,
                page.next.is_some(),
                cost.targets,
                cost.fallbacks
            ));
            reading.take(stage, &page);
            if let Some(partial) = &page.partial {
                reading.is_complete_in(stage, partial.complete, who);
                stage.ledger.count(|counts| {
                    counts.partial += 1;
                    counts.stale += u64::from(partial.reason == "VIEW_STALE");
                });
                troubles += 1;
            } else if page.next.is_none() {
                reading.is_complete_in(stage, reading.interval, who);
                stage.ledger.count(|counts| {
                    counts.reads += 1;
                    counts.searches += u64::from(reading.series.len() > 1);
                });
                return;
            }
            if page.next.is_none() || troubles > TROUBLES_MAX {
                return;
            }
            request.resume = page.next;
        }
    }

    fn check_refusal(&self, reading: &Reading, reason: Reason) {
        let stage = &self.stage;
        let blocked = stage.ledger.with(reading.space, |space| {
            reading.series.iter().any(|series| space.blocked.contains(series))
                || space.present() != reading.generation
        });
        if reason == Reason::IdBlocked && !blocked {
            let (space, series) = (reading.space, &reading.series);
            stage.wrong(format!("{space}/{series:?} is blocked, and nobody asked for that"));
        }
    }
}

/// What is asked for the first page.
pub(super) fn request(reading: &Reading, page_records: usize) -> Result<ReadRequest, model::Error> {
    Ok(ReadRequest {
        namespace: NamespaceName::new(reading.space)?,
        series: reading.series.iter().map(|series| SeriesId::new(series)).collect::<Result<_, _>>()?,
        interval: reading.interval,
        query: None,
        page_records,
        order: reading.order,
        resume: None,
        total_limit: None,
        max_latency: None,
        deadline: None,
    })
}
