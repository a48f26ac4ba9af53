//! The nemesis: everything that can go wrong with machines, clocks, links and the store, within what the protocols are built
//! for. Two wall clocks differ by less than the margin of ten seconds; rates are off by at most one part in a hundred.

use std::time::Duration;

use super::dice::Dice;
use super::server::Server;
use super::specs::SECOND;
use super::stage::Stage;
use super::targets::wide_table_of;
use crate::cluster::{Cut, EVERY_SCAN, Faults};
use crate::world::RATE_PPM_MAX;

/// How far a wall clock may be off when it is set; until it is set again it drifts a little further.
const WALL_ERROR_MAX: i64 = 3_900_000_000;
/// How often wall clocks are set.
const WALL_EVERY: Duration = Duration::from_secs(55);
const REPLICAS: usize = 3;
/// Of a hundred strikes so many are about reads of targets, where splits are played.
const ROUTES_PERCENT: u64 = 12;

/// The nemesis.
pub(super) struct Nemesis {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
}

impl Nemesis {
    pub(super) async fn live(self) {
        while !self.stage.is_over() {
            self.wait(Duration::from_millis(self.dice.between(200, 14_000))).await;
            if !self.stage.is_over() {
                self.strike();
            }
        }
    }

    /// Waits so long; in quiet hours longer, unless splits are under way.
    async fn wait(&self, wait: Duration) {
        let until = self.stage.world.now() + wait * 50;
        self.stage.sleep(wait).await;
        while self.stage.is_slow() && self.stage.world.now() < until && !self.stage.records.are_under_way() {
            self.stage.sleep(wait.max(Duration::from_secs(1))).await;
        }
    }

    fn strike(&self) {
        let (stage, dice) = (&self.stage, &self.dice);
        let Some(server) = stage.any_server(dice) else { return };
        let replica = dice.index(REPLICAS);
        if stage.plot.splits && dice.percent(ROUTES_PERCENT) {
            return if dice.percent(70) { self.trouble() } else { self.old_filters(server) };
        }
        match dice.below(100) {
            0..=19 => server.machine.crash_after(dice.below(300)),
            20..=23 => server.machine.crash(),
            24..=37 => server.machine.pause(dice.seconds(0, 90)),
            38..=45 => self.down(replica),
            46..=50 => self.slow(replica),
            51..=60 => self.outage(),
            61..=80 => self.cut(server),
            81..=88 => self.storm(),
            89..=94 => server.machine.set_rate(self.any_rate()),
            _ => self.set_wall(server),
        }
    }

    fn any_rate(&self) -> i32 {
        i32::try_from(self.dice.around_zero(i64::from(RATE_PPM_MAX))).unwrap_or(0)
    }

    /// Ends something after a while.
    fn later(&self, wait: Duration, end: impl FnOnce(&Stage) + Send + 'static) {
        let stage = self.stage.clone();
        let work = async move {
            stage.sleep(wait).await;
            end(&stage);
        };
        self.stage.start("end of a fault", work);
    }

    fn down(&self, replica: usize) {
        self.stage.cluster.set_up(replica, false);
        self.later(self.dice.seconds(1, 90), move |stage| {
            stage.cluster.set_up(replica, true);
        });
    }

    fn slow(&self, replica: usize) {
        self.stage.cluster.set_slowness(replica, u32::try_from(self.dice.between(2, 60)).unwrap_or(2));
        self.later(self.dice.seconds(1, 60), move |stage| {
            stage.cluster.set_slowness(replica, 1);
        });
    }

    fn outage(&self) {
        self.stage.cluster.meta_outage(true);
        self.later(self.dice.seconds(1, 70), |stage| stage.cluster.meta_outage(false));
    }

    pub(super) fn cut(&self, server: &Server) {
        let cut = match self.dice.below(10) {
            0..=5 => Cut::Metadata,
            6..=7 => Cut::MetadataChanges,
            _ => Cut::Everything,
        };
        server.link.cut(cut);
        let link = server.link.clone();
        self.later(self.dice.seconds(1, 120), move |_| link.cut(Cut::Nothing));
    }

    /// A table of targets that cannot be read, or not always.
    fn trouble(&self) {
        let (stage, dice) = (&self.stage, &self.dice);
        let splits = stage.records.completed();
        let table = dice.pick(&splits).and_then(|(id, _)| wide_table_of(id));
        let Some(table) = table else { return };
        stage.ledger.count(|counts| counts.troubles += 1);
        let chances = [EVERY_SCAN, EVERY_SCAN / 2, EVERY_SCAN / 10];
        stage.cluster.set_trouble(&table, dice.pick(&chances).copied().unwrap_or(EVERY_SCAN));
        self.later(dice.seconds(1, 60), move |stage| stage.cluster.set_trouble(&table, 0));
    }

    /// A server that does not look what others have split.
    fn old_filters(&self, server: &Server) {
        self.stage.ledger.count(|counts| counts.late_filters += 1);
        server.keep_filters(self.stage.world.now() + self.dice.seconds(5, 300));
    }

    fn storm(&self) {
        self.stage.cluster.set_faults(Faults::stormy());
        self.later(self.dice.seconds(5, 120), |stage| stage.cluster.set_faults(Faults::none()));
    }

    fn set_wall(&self, server: &Server) {
        let wanted = self.stage.wall() + self.dice.around_zero(WALL_ERROR_MAX);
        server.machine.jump_wall(wanted - server.machine.env().clock.wall());
    }

    /// Sets wall clocks that have drifted, as everybody does: they stay within the margin of each other.
    pub(super) async fn keep_walls(self) {
        loop {
            for server in self.stage.servers.iter() {
                let error = server.machine.env().clock.wall() - self.stage.wall();
                if error.abs() >= WALL_ERROR_MAX || self.dice.percent(10) {
                    self.set_wall(server);
                }
            }
            self.stage.sleep(WALL_EVERY).await;
        }
    }

    /// What lasts for quiet hours: a server that is cut off or stands still all the time, or nothing.
    pub(super) fn long_trouble(&self, wait: Duration) {
        let Some(server) = self.stage.any_server(&self.dice) else { return };
        let link = server.link.clone();
        match self.dice.below(6) {
            0 | 1 => {
                link.cut(Cut::Metadata);
                self.later(wait, move |_| link.cut(Cut::Nothing));
            }
            2 => {
                link.cut(Cut::MetadataChanges);
                self.later(wait, move |_| link.cut(Cut::Nothing));
            }
            3 => server.machine.pause(wait),
            4 => self.stage.servers.iter().for_each(|server| server.machine.pause(wait)),
            _ => {}
        }
    }
}

/// Wall clocks differ by less than the margin at any time.
const _: () = assert!(2 * (WALL_ERROR_MAX + 55 * SECOND / 100) < 10 * SECOND);
