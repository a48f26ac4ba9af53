//! What the administrator does to read modes.

use engine::{Named, ReadMode, ReadModeInfo};
use model::NamespaceName;

use super::admin::Admin;
use super::ask::Heard;

/// Splits that are compared at once.
const SPLITS_MAX: usize = 20;

impl Admin {
    pub(super) async fn steer(&self, space: &'static str, name: &NamespaceName) {
        match self.dice.below(100) {
            0..=29 => self.advance(space, name).await,
            30..=59 => self.roll_back(space, name).await,
            60..=69 => self.hold(space, name).await,
            _ => self.compare(space, name).await,
        }
    }

    async fn advance(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice, of) = (&self.stage, &self.dice, name.clone());
        let Some(server) = stage.any_server(dice) else { return };
        let heard =
            stage
                .ask(server, dice.seconds(10, 60), |engine| async move {
                    engine.advance_read_mode(&of, false).await
                })
                .await;
        stage.note(format_args!("admin moves reads of {space} on: {}", shown(&heard)));
        stage.ledger.count(|counts| counts.advanced += u64::from(matches!(heard, Heard::Answer(_))));
    }

    /// Mostly to where it is told by itself, but also to off, and to what may be the same mode.
    async fn roll_back(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice, of) = (&self.stage, &self.dice, name.clone());
        let Some(server) = stage.any_server(dice) else { return };
        let before = server.engine().and_then(|engine| engine.get_namespace(name).ok());
        let Some(before) = before.map(|space| space.spec.read.mode) else { return };
        let wishes = [None, None, Some(ReadMode::Shadow), Some(ReadMode::Canary), Some(ReadMode::Off)];
        let to = dice.pick(&wishes).copied().flatten();
        let heard = stage
            .ask(server, dice.seconds(10, 60), |engine| async move {
                engine.roll_back_read_mode(&of, to, false).await
            })
            .await;
        stage.note(format_args!("admin rolls reads of {space} back to {to:?}: {}", shown(&heard)));
        let went_back = matches!(&heard, Heard::Answer(info) if info.mode < before);
        let served = before > ReadMode::Shadow;
        stage.ledger.count(|counts| counts.rolled_back += u64::from(went_back && served));
    }

    async fn hold(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice, of) = (&self.stage, &self.dice, name.clone());
        let Some(server) = stage.any_server(dice) else { return };
        let held = dice.percent(40);
        let heard = stage
            .ask(server, dice.seconds(10, 60), |engine| async move {
                engine.hold_read_mode(&of, held, false).await
            })
            .await;
        stage.note(format_args!("admin holds reads of {space}: {held}: {}", shown(&heard)));
    }

    async fn compare(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice, of) = (&self.stage, &self.dice, name.clone());
        let Some(server) = stage.any_server(dice) else { return };
        let heard = stage
            .ask(server, dice.seconds(10, 60), |engine| async move {
                engine.compare_splits(&of, None, SPLITS_MAX).await
            })
            .await;
        stage.note(format_args!("admin compares splits of {space}: {heard:?}"));
    }
}

/// What was heard of a read mode, in short.
pub(super) fn shown(heard: &Heard<ReadModeInfo>) -> String {
    match heard {
        Heard::Answer(info) => format!("{} held {} {:?}", info.mode.name(), info.held, info.evidence),
        other => format!("{other:?}"),
    }
}
