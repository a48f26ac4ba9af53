//! What the administrator does to splits.

use std::time::Duration;

use engine::{Reason, Split, SplitFilter};
use model::{NamespaceName, PartitionKey, SeriesId};
use split::State;

use super::admin::Admin;
use super::ask::Heard;
use super::specs::SERIES;

/// Splits that are listed at once.
const LISTED: usize = 100;

impl Admin {
    pub(super) async fn operate(&self, space: &'static str, name: &NamespaceName) {
        match self.dice.below(100) {
            0..=24 => self.create_split(space, name).await,
            25..=84 => self.touch_split(space, name).await,
            _ => {
                let paused = self.dice.percent(35);
                self.set_paused(space, name, paused).await;
            }
        }
    }

    /// Asks for any partition to be split.
    async fn create_split(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let slices = server.engine().and_then(|engine| engine.list_slices(name).ok()).unwrap_or_default();
        let (Some(info), Some(series)) = (dice.pick(&slices), dice.pick(&SERIES)) else { return };
        let Ok(series) = SeriesId::new(series) else { return };
        let number = |below: u64| u32::try_from(dice.below(below)).unwrap_or(0);
        let partition = PartitionKey {
            series,
            time_bucket: number(u64::from(info.shape.time_buckets(info.slice))),
            event_bucket: number(u64::from(info.shape.buckets_per_id)),
        };
        let (of, table) = (name.clone(), info.table.clone());
        let heard = stage
            .ask(server, dice.seconds(10, 60), |engine| async move {
                engine.create_split(&of, &table, &partition, engine::SplitAsk::default()).await
            })
            .await;
        stage.note(format_args!("admin asked for a split of {space}/{}: {}", info.table, told(&heard)));
    }

    /// Does something to a split that there is.
    async fn touch_split(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let of = name.clone();
        let listed = stage
            .ask(server, dice.seconds(10, 60), |engine| async move {
                engine.list_splits(&of, &SplitFilter::default(), None, LISTED).await
            })
            .await;
        let Heard::Answer(page) = listed else { return };
        let Some(split) = dice.pick(&page.splits) else { return };
        let (of, id, what) = (name.clone(), split.id.clone(), dice.below(100));
        let is_completed = split.record.state == State::Completed;
        let heard = stage
            .ask(server, dice.seconds(10, 90), |engine| async move {
                match what {
                    0..=44 if is_completed => engine.verify_split(&of, &id).await,
                    45..=69 if is_completed => engine.retire_split(&of, &id, false).await,
                    70..=79 if is_completed => engine.get_split(&of, &id).await,
                    _ => engine.retry_split(&of, &id, engine::SplitAsk::default()).await,
                }
            })
            .await;
        stage.note(format_args!("admin touched split {space}/{} ({what}): {}", split.id, told(&heard)));
        if let Heard::Refused(reason @ (Reason::FieldInvalid | Reason::ChecksumMismatch), message) = &heard {
            stage.wrong(format!("{space}/{} cannot be touched: {reason:?} {message}", split.id));
        }
    }

    /// Makes workers leave a namespace alone, or go on; whether that is certain.
    pub(super) async fn set_paused(&self, space: &'static str, name: &NamespaceName, paused: bool) -> bool {
        let (stage, of) = (&self.stage, name.clone());
        let Some(server) = stage.any_server(&self.dice) else { return false };
        let heard = stage
            .ask(server, Duration::from_secs(60), |engine| async move {
                if paused {
                    engine.pause_splits(Some(&of)).await
                } else {
                    engine.resume_splits(Some(&of)).await
                }
            })
            .await;
        stage.note(format_args!("admin paused splits of {space}: {paused}: {heard:?}"));
        matches!(heard, Heard::Answer(_))
    }
}

/// What was heard of a split, in short.
pub(super) fn told(heard: &Heard<Split>) -> String {
    match heard {
        Heard::Answer(split) => format!("{:?} {:?}", split.record.state, split.record.reason),
        other => format!("{other:?}"),
    }
}
