//! Asking a server, as a client does: over a connection that ends with the server, and not for ever.

use std::time::Duration;

use engine::{Engine, Reason};

use super::dice::Dice;
use super::server::Server;
use super::stage::Stage;

/// Whoever waited so long has waited for a lease to run out: no clock counts faster to thirty seconds.
const A_LEASE: Duration = Duration::from_millis(29_700);

/// What a client heard.
#[derive(Debug)]
pub(super) enum Heard<T> {
    /// An answer.
    Answer(T),
    /// A refusal, for a reason. What was asked may have happened all the same.
    Refused(Reason, String),
    /// Nothing: the server crashed, or the client waited long enough.
    Nothing,
    /// There was nobody to ask.
    Nobody,
}

impl Stage {
    /// A server by chance.
    pub(super) fn any_server(&self, dice: &Dice) -> Option<&Server> {
        dice.pick(&self.servers).map(|server| &**server)
    }

    /// Asks a server and waits at most `patience`.
    pub(super) async fn ask<T, F>(
        &self,
        server: &Server,
        patience: Duration,
        what: impl FnOnce(Engine) -> F,
    ) -> Heard<T>
    where
        T: Send + 'static,
        F: Future<Output = engine::Result<T>> + Send + 'static,
    {
        let Some(engine) = server.engine() else { return Heard::Nobody };
        let begun = self.world.now();
        let call = Box::pin(server.machine.call(Box::pin(what(engine))));
        let heard = match self.world.within(patience, call).await {
            Ok(Ok(Ok(answer))) => Heard::Answer(answer),
            Ok(Ok(Err(error))) => Heard::Refused(error.reason(), error.to_string()),
            Ok(Err(_)) | Err(_) => Heard::Nothing,
        };
        let waited = self.world.now() - begun >= A_LEASE;
        self.ledger.count(|counts| match &heard {
            Heard::Answer(_) if waited => counts.waited_for_a_lease += 1,
            Heard::Refused(Reason::BackendTimeout, _) | Heard::Nothing => counts.unknown += 1,
            Heard::Refused(Reason::IdBlocked, _) => counts.blocked += 1,
            _ => {}
        });
        heard
    }
}
