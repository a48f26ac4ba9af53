//! A client that writes: events that each say where they belong, to servers by chance, again until it is told something.

use std::time::Duration;

use bytes::Bytes;
use engine::{EventInput, ItemInput, Reason, WriteAnswer, WriteRequest};
use model::{Interval, NamespaceName, TableName, TableRef};

use super::ask::Heard;
use super::dice::Dice;
use super::judge::{items_of, value_of};
use super::server::Server;
use super::space::Key;
use super::specs::{HOUR, SECOND, SERIES, SPACES, nanos};
use super::stage::Stage;

/// Events of one request.
const EVENTS_MAX: u64 = 3;
/// How often it is sent.
const TRIES: u32 = 4;
/// Of a hundred writes so many are bursts, where splits are played.
const BURSTS_PERCENT: u64 = 1;

/// A client.
pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
    /// Which client, so that ids differ.
    pub(super) number: usize,
    pub(super) sent: u64,
}

/// What one answer says of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Acknowledged,
    Refused(Reason),
    Unknown,
}

impl Client {
    pub(super) async fn live(mut self) {
        let mut is_first = true;
        while !self.stage.is_over() {
            let bursts = std::mem::take(&mut is_first) || self.dice.percent(BURSTS_PERCENT);
            if self.stage.plot.splits && bursts {
                self.burst().await;
            } else {
                self.write().await;
            }
            let wait = Duration::from_millis(self.dice.between(100, 4_000));
            self.stage.idle(wait).await;
        }
    }

    async fn write(&mut self) {
        let Some(space) = self.dice.pick(&SPACES).copied() else { return };
        let Some(series) = self.dice.pick(&SERIES).copied() else { return };
        let about = self.any_time(space);
        let mut keys: Vec<Key> = Vec::new();
        for _ in 0..self.dice.between(1, EVENTS_MAX) {
            self.sent += 1;
            keys.push((about + self.dice.around_zero(5 * SECOND), format!("{}-{}", self.number, self.sent)));
        }
        self.send(space, series, keys).await;
    }

    /// Sends events until it is known what became of each, or often enough.
    pub(super) async fn send(&self, space: &'static str, series: &'static str, mut keys: Vec<Key>) {
        for _ in 0..TRIES {
            let tried = self.write_once(space, series, &keys).await;
            keys.retain(|key| {
                let fate = tried.iter().find(|(other, _)| other == key).map(|(_, fate)| *fate);
                fate.is_none_or(|fate| fate == Fate::Unknown)
            });
            if keys.is_empty() {
                return;
            }
            self.stage.sleep(Duration::from_millis(self.dice.between(50, 3_000))).await;
        }
    }

    /// Writes one event of now through this server.
    pub(super) async fn write_fresh(&mut self, server: &Server, space: &'static str) -> Result<(), String> {
        let mut last = String::new();
        for series in SERIES {
            self.sent += 1;
            let key = (self.stage.wall(), format!("{}-{}", self.number, self.sent));
            let tried = self.write_to(server, (space, series), &[key], Duration::from_secs(60)).await;
            match tried.first() {
                Some((_, Fate::Acknowledged)) => return Ok(()),
                other => last = format!("{other:?}"),
            }
        }
        Err(last)
    }

    /// A time that matters: now, the edges of what is accepted, time that is closed, time that is open again.
    pub(super) fn any_time(&self, space: &'static str) -> i64 {
        let now = self.stage.wall();
        // The limits of before matter: some servers may still use them.
        let (spec, limit, backfills) = self.stage.ledger.with(space, |space| {
            let limit = self.dice.pick(&space.specs).map(|held| held.spec.accept_limit);
            (space.spec().cloned().unwrap_or_default(), limit.unwrap_or_default(), space.open_backfills())
        });
        let accept = nanos(limit).max(10 * SECOND);
        match self.dice.below(20) {
            0..=3 => now - accept + self.dice.around_zero(15 * SECOND),
            4 => now + nanos(spec.future_limit) + self.dice.around_zero(10 * SECOND),
            5..=6 => now - self.dice.around_zero(6 * HOUR).abs(),
            7 => now + self.dice.around_zero(nanos(spec.future_limit)).abs(),
            8..=11 if !backfills.is_empty() => {
                let interval = self.dice.pick(&backfills).map_or(Interval::ALL, |(interval, _)| *interval);
                let width = (interval.end() - interval.start()).unsigned_abs();
                interval.start() + i64::try_from(self.dice.below(width)).unwrap_or(0)
            }
            _ => now - self.dice.around_zero(accept.min(300 * SECOND)).abs(),
        }
    }

    /// Sends events once; what is known of each then.
    async fn write_once(&self, space: &'static str, series: &'static str, keys: &[Key]) -> Vec<(Key, Fate)> {
        let Some(server) = self.stage.any_server(&self.dice) else { return Vec::new() };
        let patience = self.dice.seconds(5, 100);
        self.write_to(server, (space, series), keys, patience).await
    }

    async fn write_to(
        &self,
        server: &Server,
        (space, series): (&'static str, &'static str),
        keys: &[Key],
        patience: Duration,
    ) -> Vec<(Key, Fate)> {
        let stage = &self.stage;
        let Ok(namespace) = NamespaceName::new(space) else { return Vec::new() };
        stage.look_at_tables();
        let begun = Begun {
            stage,
            server,
            space,
            series,
            at: stage.world.now(),
            generation: stage.ledger.with(space, |space| space.present()),
        };
        stage.ledger.with(space, |space| keys.iter().for_each(|key| space.tries(series, key)));
        let events = keys.iter().map(|key| event(space, series, key)).collect();
        let request = WriteRequest { namespace, events };
        let write = |engine: engine::Engine| async move {
            let answer = engine.write_synced(request).await;
            answer.map(|answer| (answer, engine.is_leased()))
        };
        let heard = stage.ask(server, patience, write).await;
        stage.note(format_args!("client {} wrote {space}/{series} {keys:?}: {heard:?}", self.number));
        let is_leased = !matches!(&heard, Heard::Answer((_, false)));
        let tried: Vec<(Key, Fate)> =
            keys.iter().enumerate().map(|(at, key)| (key.clone(), fate(&heard, at))).collect();
        for (key, fate) in &tried {
            begun.heard(key, *fate, is_leased);
        }
        tried
    }
}

fn fate(heard: &Heard<(WriteAnswer, bool)>, at: usize) -> Fate {
    match heard {
        Heard::Answer((answer, _)) => {
            let refused = answer.refused.iter().find(|refusal| refusal.index == at);
            refused.map_or(Fate::Acknowledged, |refusal| match refusal.reason {
                Reason::EventTooOld | Reason::EventInFuture | Reason::IdBlocked | Reason::FieldInvalid => {
                    Fate::Refused(refusal.reason)
                }
                _ => Fate::Unknown,
            })
        }
        _ => Fate::Unknown,
    }
}

fn event(space: &str, series: &str, key: &Key) -> EventInput {
    let item = |item: &&str| ItemInput {
        key: (*item).to_owned(),
        value: Bytes::from(value_of(space, series, key, item)),
        ..ItemInput::default()
    };
    let nanos = i32::try_from(key.0.rem_euclid(SECOND)).unwrap_or(0);
    EventInput {
        series: series.to_owned(),
        time: Some((key.0.div_euclid(SECOND), nanos)),
        event_id: key.1.clone(),
        items: items_of(key).iter().map(item).collect(),
    }
}

/// A write under way.
struct Begun<'a> {
    stage: &'a Stage,
    server: &'a Server,
    space: &'static str,
    series: &'static str,
    at: Duration,
    generation: Option<u32>,
}

impl Begun<'_> {
    /// Writes down what became of one event, and whether that may be.
    fn heard(&self, key: &Key, fate: Fate, is_leased: bool) {
        let stage = self.stage;
        let now = stage.world.now();
        let (present, blocked) = stage.ledger.with(self.space, |space| {
            let present = space.present().filter(|present| Some(*present) == self.generation);
            if let Some(tried) = space.tried(self.series, key)
                && fate == Fate::Acknowledged
                && let Some(generation) = present
            {
                tried.acknowledged = tried.acknowledged.or(Some((generation, now)));
            }
            (present, space.blocked.contains(self.series))
        });
        match fate {
            Fate::Acknowledged => self.acknowledged(key, is_leased, present.is_some()),
            Fate::Refused(Reason::EventTooOld) => stage.ledger.count(|counts| counts.too_old += 1),
            Fate::Refused(Reason::IdBlocked) => {
                stage.ledger.count(|counts| counts.blocked += 1);
                if !blocked && present.is_some() {
                    stage.wrong(format!(
                        "{}/{} is blocked, and nobody asked for that",
                        self.space, self.series
                    ));
                }
            }
            Fate::Refused(_) | Fate::Unknown => {}
        }
    }

    fn acknowledged(&self, key: &Key, is_leased: bool, is_same: bool) {
        let (stage, server) = (self.stage, self.server);
        let now = stage.world.now();
        stage.ledger.count(|counts| {
            counts.acknowledged += 1;
            counts.unleased_writes += u64::from(!is_leased);
        });
        let table = self.learn_slice(key.0);
        if !is_same {
            return;
        }
        let (closed, reopened) = stage
            .ledger
            .with(self.space, |space| (space.closed_at(self.at), space.may_be_reopened(key.0, self.at, now)));
        if key.0 < closed && !reopened {
            stage.wrong(format!(
                "{} has acknowledged {key:?} of {}/{}, which is before {closed}, where time was closed before {:?}",
                server.machine.name(),
                self.space,
                self.series,
                self.at
            ));
        }
        stage.ledger.count(|counts| counts.backfilled += u64::from(key.0 < closed && reopened));
        if table.is_some_and(|table| self.was_gone(&table)) {
            stage.wrong(format!(
                "{} has acknowledged {key:?} into a slice that was dropped",
                server.machine.name()
            ));
        }
    }

    /// Learns of the slice that an event went to; its table.
    fn learn_slice(&self, time: i64) -> Option<TableRef> {
        let (stage, server) = (self.stage, self.server);
        let (engine, name) = (server.engine()?, NamespaceName::new(self.space).ok()?);
        let (namespace, slices) = (engine.get_namespace(&name).ok()?, engine.list_slices(&name).ok()?);
        let found = slices.iter().find(|info| (info.slice.start()..info.slice.end()).contains(&time))?;
        stage.ledger.with(self.space, |space| {
            space.slices.insert(found.slice.start(), found.slice.end());
        });
        Some(TableRef {
            namespace: name,
            incarnation: namespace.incarnation,
            name: TableName::data(found.slice),
        })
    }

    fn was_gone(&self, table: &TableRef) -> bool {
        self.stage.ledger.open().gone.get(table).is_some_and(|since| *since <= self.at)
    }
}
