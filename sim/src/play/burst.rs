//! Bursts: many large events of one series within a minute, which make a partition wide.

use super::client::Client;
use super::judge::WIDE;
use super::space::Key;
use super::specs::{SECOND, SERIES, SPACES};

/// Events of a burst.
const EVENTS: (u64, u64) = (30, 70);
/// Events of one request.
const AT_ONCE: usize = 8;

impl Client {
    pub(super) async fn burst(&mut self) {
        let Some(space) = self.dice.pick(&SPACES).copied() else { return };
        let Some(series) = self.dice.pick(&SERIES).copied() else { return };
        let about =
            if self.dice.percent(30) { self.any_time(space) } else { self.stage.wall() - 30 * SECOND };
        let mut keys: Vec<Key> = Vec::new();
        for _ in 0..self.dice.between(EVENTS.0, EVENTS.1) {
            self.sent += 1;
            let id = format!("{WIDE}{}-{}", self.number, self.sent);
            keys.push((about + self.dice.around_zero(20 * SECOND), id));
        }
        self.stage.note(format_args!("client {} begins a burst in {space}/{series}", self.number));
        self.stage.ledger.count(|counts| counts.bursts += 1);
        for some in keys.chunks(AT_ONCE) {
            self.send(space, series, some.to_vec()).await;
        }
    }
}
