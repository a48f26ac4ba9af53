//! The administrator: makes, changes, deletes and makes again namespaces, blocks ids, opens and ends backfills, closes time.
//! The only one who does, so that it knows what may be in force.

use std::time::Duration;

use engine::{NewBlock, Reason};
use model::{Interval, NamespaceName, SeriesId};

use super::ask::Heard;
use super::dice::Dice;
use super::specs::{HOUR, SECOND, SERIES, SPACES};
use super::stage::Stage;

/// Of a hundred things that it does so many are about splits, where those are played.
const OPERATES_PERCENT: u64 = 35;
/// Of a hundred things so many are about read modes, there.
const STEERS_PERCENT: u64 = 20;

/// The administrator.
pub(super) struct Admin {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
}

impl Admin {
    pub(super) async fn live(self) {
        while !self.stage.is_over() {
            let Some(space) = self.dice.pick(&SPACES).copied() else { return };
            let Ok(name) = NamespaceName::new(space) else { return };
            if self.stage.ledger.with(space, |known| known.is_ready) {
                match self.dice.below(100) {
                    _ if self.stage.plot.splits && self.dice.percent(OPERATES_PERCENT) => {
                        self.operate(space, &name).await;
                    }
                    _ if self.stage.plot.splits && self.dice.percent(STEERS_PERCENT) => {
                        self.steer(space, &name).await;
                    }
                    0..=29 => self.update(space, &name).await,
                    30..=41 => self.begin_backfill(space, &name).await,
                    42..=64 => self.end_backfills(space, &name).await,
                    65..=84 => self.close_time(space, &name).await,
                    85..=92 => self.block(space, &name).await,
                    93..=95 => self.delete(space, &name).await,
                    _ => {}
                }
            } else {
                self.make_ready(space, &name).await;
            }
            self.stage.idle(Duration::from_millis(self.dice.between(500, 12_000))).await;
        }
    }

    /// Makes a namespace that is not there, or may still be.
    pub(super) async fn make_ready(&self, space: &'static str, name: &NamespaceName) {
        // After a delete of unknown outcome both are right: to delete it again, and to make it if it is gone.
        if self.stage.ledger.with(space, |known| known.generation) > 0 && self.dice.percent(40) {
            self.delete(space, name).await;
        }
        self.create(space, name).await;
    }

    async fn begin_backfill(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let start = stage.wall() - dice.around_zero(5 * HOUR).abs();
        let end = start + dice.around_zero(2 * HOUR).abs() + SECOND;
        let Ok(interval) = Interval::new(start, end) else { return };
        stage.ledger.with(space, |known| known.reopens(interval, stage.world.now()));
        let of = name.clone();
        let heard =
            stage
                .ask(server, dice.seconds(20, 90), |engine| async move {
                    engine.begin_backfill(&of, interval).await
                })
                .await;
        stage.note(format_args!("admin began a backfill of {space} {interval:?}: {heard:?}"));
        if let Heard::Answer(backfill) = heard {
            stage.ledger.count(|counts| counts.backfills += 1);
            stage.ledger.with(space, |known| {
                known.backfills.iter_mut().filter(|range| range.interval == interval).for_each(|range| {
                    range.id = Some(backfill.id);
                });
            });
        }
    }

    /// Ends one backfill, or finds out the names of those whose making it never heard of.
    pub(super) async fn end_backfills(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let open = stage.ledger.with(space, |known| known.open_backfills());
        let Some((interval, id)) = dice.pick(&open).copied() else { return };
        let listed = server.engine().and_then(|engine| engine.list_backfills(name).ok()).unwrap_or_default();
        let found = listed.iter().find(|range| range.interval == interval).map(|range| range.id);
        let Some(id) = id.or(found) else { return };
        let of = name.clone();
        let heard = stage
            .ask(server, dice.seconds(10, 60), |engine| async move { engine.end_backfill(&of, id).await })
            .await;
        stage.note(format_args!("admin ended backfill {id} of {space}: {heard:?}"));
        if matches!(heard, Heard::Answer(()) | Heard::Refused(Reason::EtagMismatch, _)) {
            stage.ledger.with(space, |known| known.reopened_is_over(interval, stage.world.now()));
        }
    }

    async fn close_time(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let wanted =
            if dice.percent(80) { i64::MAX } else { stage.wall() - dice.around_zero(2 * HOUR).abs() };
        let (of, begun) = (name.clone(), stage.world.now());
        let heard = stage
            .ask(
                server,
                dice.seconds(10, 60),
                |engine| async move { engine.close_time_of(&of, wanted).await },
            )
            .await;
        stage.note(format_args!("admin closed time of {space}: {heard:?}"));
        let Heard::Answer(closed) = heard else { return };
        let before = stage.ledger.with(space, |known| {
            let before = known.closed_at(begun);
            known.closed.push((stage.world.now(), closed));
            before
        });
        stage.ledger.count(|counts| counts.closed += 1);
        if closed < before {
            stage.wrong(format!("closed time of {space} goes back from {before} to {closed}"));
        }
    }

    async fn block(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let Some(series) = dice.pick(&SERIES).copied() else { return };
        let Ok(id) = SeriesId::new(series) else { return };
        let is_blocked = stage.ledger.with(space, |known| !known.blocked.insert(series));
        let of = name.clone();
        let heard = if is_blocked {
            stage
                .ask(server, dice.seconds(10, 60), |engine| async move {
                    engine.remove_blocks(&of, vec![id]).await
                })
                .await
        } else {
            let block = NewBlock {
                series: id,
                reads: false,
                writes: dice.percent(50),
                reason: "too loud".to_owned(),
                author: "admin".to_owned(),
                // It must not last: what cannot be read is not checked.
                expires: Some(stage.wall() + dice.around_zero(60 * SECOND).abs() + SECOND),
                etag: None,
            };
            stage
                .ask(server, dice.seconds(10, 60), |engine| async move {
                    engine.add_blocks(&of, vec![block]).await
                })
                .await
        };
        stage.note(format_args!("admin blocks {space}/{series}: {heard:?}"));
    }
}
