//! [`play`]: one seed from its first server to its last check.

use std::time::Duration;

use super::Counts;
use super::admin::Admin;
use super::client::Client;
use super::corruptor::Corruptor;
use super::dice::Dice;
use super::ending::end;
use super::nemesis::Nemesis;
use super::plot::Plot;
use super::reader::Reader;
use super::server::Server;
use super::specs::SPACES;
use super::stage::{Mood, Stage};
use crate::World;
use crate::cluster::Options;
use crate::world::{Failure, Hardware};

const SERVERS: usize = 3;

/// How a play ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Stands for everything that happened.
    pub hash: u64,
    /// How much of everything.
    pub counts: Counts,
    /// What must not have happened; empty where all is well.
    pub wrongs: Vec<String>,
    /// The last lines of the trace, as many as were asked for.
    pub trace: Vec<String>,
    /// Simulated time.
    pub took: Duration,
}

/// Plays one seed, and keeps the last `lines` of its trace.
pub fn play(seed: u64, lines: usize) -> Result<Ended, Failure> {
    play_as(seed, Plot::of(seed), lines)
}

/// The same with a plot of one's own.
pub fn play_as(seed: u64, plot: Plot, lines: usize) -> Result<Ended, Failure> {
    World::run(seed, |world| Box::pin(act(world, plot, lines)))
}

async fn act(world: World, plot: Plot, lines: usize) -> Ended {
    world.trace().keep(lines);
    let dice = Dice::new(&world, "play");
    let stage = set(&world, plot, &dice);
    start_servers(&stage);
    let admin = Admin { stage: stage.clone(), dice: Dice::new(&world, "first admin") };
    while !SPACES.iter().all(|space| stage.ledger.with(space, |known| known.is_ready)) {
        for space in SPACES {
            if let Ok(name) = model::NamespaceName::new(space) {
                admin.make_ready(space, &name).await;
            }
        }
        stage.sleep(Duration::from_secs(1)).await;
    }
    start_actors(&stage, &dice);
    let nemesis = Nemesis { stage: stage.clone(), dice: Dice::new(&world, "long nemesis") };
    for _ in 0..dice.between(2, 4) {
        stage.set_mood(Mood::Busy);
        stage.sleep(dice.seconds(40, 120)).await;
        stage.set_mood(Mood::Quiet);
        let quiet = dice.seconds(600, 3_000);
        nemesis.long_trouble(quiet);
        stage.sleep(quiet).await;
    }
    stage.set_mood(Mood::Busy);
    stage.sleep(dice.seconds(20, 60)).await;
    stage.set_mood(Mood::Over);
    end(&stage, &dice).await;
    let pages = stage.ledger.open();
    Ended {
        hash: world.trace().hash(),
        counts: pages.counts,
        wrongs: pages.wrongs.clone(),
        trace: world.trace().lines(),
        took: world.now(),
    }
}

fn set(world: &World, plot: Plot, dice: &Dice) -> Stage {
    let cluster = world.cluster(Options::default());
    let server = |number: usize| {
        let name = format!("server {number}");
        let wall_error = dice.around_zero(3_000_000_000);
        let rate_ppm = i32::try_from(dice.around_zero(10_000)).unwrap_or(0);
        let (link, store) = cluster.link(&name);
        Server::new(world.machine(&name, Hardware { wall_error, rate_ppm }), link, store)
    };
    Stage::new(world.clone(), cluster.clone(), (0..SERVERS).map(server).collect(), plot)
}

fn start_servers(stage: &Stage) {
    for (number, server) in stage.servers.iter().enumerate() {
        let dice = Dice::new(&stage.world, &format!("life of server {number}"));
        stage.start("life of a server", std::sync::Arc::clone(server).live(stage.clone(), dice));
    }
    let walls = Nemesis { stage: stage.clone(), dice: Dice::new(&stage.world, "walls") };
    stage.start("wall clocks", walls.keep_walls());
    stage.start("records of splits", stage.records.clone().follow(stage.clone()));
}

fn start_actors(stage: &Stage, dice: &Dice) {
    let world = &stage.world;
    for number in 0..dice.index(3) + 2 {
        let dice = Dice::new(world, &format!("client {number}"));
        stage.start("client", Client { stage: stage.clone(), dice, number, sent: 0 }.live());
    }
    for number in 0..2 {
        let dice = Dice::new(world, &format!("reader {number}"));
        stage.start("reader", Reader { stage: stage.clone(), dice, number }.live());
    }
    if stage.plot.damage {
        let dice = Dice::new(world, "corruptor");
        stage.start("corruptor", Corruptor { stage: stage.clone(), dice }.live());
    }
    stage.start("admin", Admin { stage: stage.clone(), dice: Dice::new(world, "admin") }.live());
    stage.start("nemesis", Nemesis { stage: stage.clone(), dice: Dice::new(world, "nemesis") }.live());
}
