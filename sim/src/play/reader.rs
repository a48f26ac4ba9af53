//! A client that reads: whole series by pages, each from a server by chance, in both orders.

use std::time::Duration;

use engine::{ReadRequest, Reason};
use model::{Interval, NamespaceName, Order, SeriesId};

use super::ask::Heard;
use super::dice::Dice;
use super::judge::Reading;
use super::specs::{HOUR, SERIES, SPACES};
use super::stage::Stage;

/// Refusals and partial pages before it gives up.
const TROUBLES_MAX: u32 = 8;
/// Pages before it gives up.
const PAGES_MAX: u32 = 400;

/// A reader.
pub(super) struct Reader {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
    pub(super) number: usize,
}

impl Reader {
    pub(super) async fn live(self) {
        while !self.stage.is_over() {
            let Some(space) = self.dice.pick(&SPACES).copied() else { return };
            let Some(series) = self.dice.pick(&SERIES).copied() else { return };
            let order = if self.dice.percent(50) { Order::OldestFirst } else { Order::NewestFirst };
            let page_records = if self.dice.percent(30) { 200 } else { self.dice.index(12) + 2 };
            let reading = Reading::begin(&self.stage, (space, series), self.any_interval(), order);
            self.read(reading, page_records).await;
            self.stage.idle(Duration::from_millis(self.dice.between(500, 9_000))).await;
        }
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
            let (who, found) = (server.machine.name(), page.events.len());
            stage.note(format_args!(
                "reader {} got {found} of {}/{} from {who}, partial {:?}, more {}",
                self.number,
                reading.space,
                reading.series,
                page.partial,
                page.next.is_some()
            ));
            reading.take(stage, &page.events);
            if let Some(partial) = &page.partial {
                reading.is_complete_in(stage, partial.complete, who);
                stage.ledger.count(|counts| {
                    counts.partial += 1;
                    counts.stale += u64::from(partial.reason == "VIEW_STALE");
                });
                troubles += 1;
            } else if page.next.is_none() {
                reading.is_complete_in(stage, reading.interval, who);
                stage.ledger.count(|counts| counts.reads += 1);
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
            space.blocked.contains(reading.series) || space.present() != reading.generation
        });
        if reason == Reason::IdBlocked && !blocked {
            stage
                .wrong(format!("{}/{} is blocked, and nobody asked for that", reading.space, reading.series));
        }
    }
}

/// What is asked for the first page.
pub(super) fn request(reading: &Reading, page_records: usize) -> Result<ReadRequest, model::Error> {
    Ok(ReadRequest {
        namespace: NamespaceName::new(reading.space)?,
        series: vec![SeriesId::new(reading.series)?],
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
