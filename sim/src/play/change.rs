//! What the administrator does to namespaces as a whole, and what is known of them afterwards.

use engine::Reason;
use model::NamespaceName;

use super::admin::Admin;
use super::ask::Heard;
use super::specs::{any_spec, other_spec};

impl Admin {
    pub(super) async fn create(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let (spec, of, begun) = (any_spec(dice, stage.plot.splits), name.clone(), stage.world.now());
        let asked = spec.clone();
        let heard =
            stage
                .ask(server, dice.seconds(10, 90), |engine| async move {
                    engine.create_namespace(&of, asked).await
                })
                .await;
        stage.note(format_args!("admin made {space}: {heard:?}"));
        // Made by an earlier try that nobody heard of, or never deleted: only an answer says which.
        let Heard::Answer(namespace) = heard else { return };
        stage.ledger.with(space, |known| known.made(namespace.spec, namespace.incarnation, begun));
        if stage.ledger.with(space, |known| known.generation) > 1 {
            stage.ledger.count(|counts| counts.made_again += 1);
        }
    }

    pub(super) async fn update(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let Some(mut before) = stage.ledger.with(space, |known| known.spec().cloned()) else { return };
        // The mode changes by itself: as it is shown, so it stays.
        let shown = server.engine().and_then(|engine| engine.get_namespace(name).ok());
        before.read = shown.map_or(before.read, |shown| shown.spec.read);
        let (spec, of, begun) =
            (other_spec(dice, &before, stage.plot.splits), name.clone(), stage.world.now());
        let asked = spec.clone();
        let heard = stage
            .ask(server, dice.seconds(10, 90), |engine| async move {
                engine.update_namespace(&of, asked, None).await
            })
            .await;
        stage.note(format_args!("admin changed {space} to {spec:?}: {heard:?}"));
        let confirmed = matches!(heard, Heard::Answer(_)).then(|| stage.world.now());
        // Nothing happened where nobody was asked.
        if !matches!(heard, Heard::Nobody) {
            stage.ledger.with(space, |known| known.changed(spec, begun, confirmed));
        }
    }

    pub(super) async fn delete(&self, space: &'static str, name: &NamespaceName) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        stage.ledger.with(space, |known| known.is_ready = false);
        let of = name.clone();
        let heard = stage
            .ask(
                server,
                dice.seconds(5, 90),
                |engine| async move { engine.delete_namespace(&of, None).await },
            )
            .await;
        stage.note(format_args!("admin deleted {space}: {heard:?}"));
        if let Heard::Refused(Reason::NamespaceExists | Reason::EtagMismatch, message) = &heard {
            stage.wrong(format!("{space} cannot be deleted: {message}"));
        }
    }
}
