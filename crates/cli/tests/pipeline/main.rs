//! The whole pipeline under fire: three Cassandra nodes, a Kafka broker, two servers that answer calls, two that split, all as
//! processes, and a checked workload that never stops. Parts are killed and paused in turn and in pairs, at each stage of a split;
//! detections are lost, doubled, reordered and forged; a worker sleeps past its lease and goes on. Partitions are cut by time and by
//! hash in turn, and read from their targets. Before anything fails many are found at once while a worker joins; at the end one is
//! retired and reads are rolled back a step.
//!
//! What is held: nothing that was acknowledged is lost, doubled or out of order in any read; a call that fails says that it may be
//! sent again; every split ends COMPLETED, and is equal when it is compared at the end.
//!
//! One test, as there is one fleet. `BRAID_FAULTS=long` plays every fault at every stage, pairs, and a broker that is gone for
//! minutes; without it a few that differ most. `BRAID_SCENES=12-20` plays only these of them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fault;
mod fleet;
mod forged;
mod live;
mod scenes;
mod spread;
mod wide;

use env::Env;

use crate::fleet::Fleet;
use crate::live::Live;
use crate::wide::Wide;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_whatever_fails_at_any_stage_of_a_split() {
    let env = Env::system();
    let scenes = scenes::chosen();
    let fleet = Fleet::start(&env).await;
    let (forged, spread) = (scenes.len(), scenes.len() + 1..scenes.len() + 1 + spread::COUNT);
    let wide = Wide::write(&fleet, spread.end).await;
    fleet.say(&format!("{} wide partitions are written, and their time is closed", spread.end));

    let live = Live::new(&fleet);
    let play = async {
        live.goes_on("before anything fails").await;
        spread::play(&fleet, &wide, spread).await;
        for (at, scene) in scenes.iter().enumerate() {
            fleet.say(&format!("scene {}: {scene}", scene.number));
            let began = env.clock.boot();
            scene.play(&fleet, &live, &wide, at).await;
            live.goes_on("behind it").await;
            let seconds = env.clock.boot().since(began).as_secs_f32();
            fleet.say(&format!("scene {} took {seconds:.0} s", scene.number));
        }
        forged::play(&fleet, &wide, forged).await;
        wide.roll_back(&fleet, &wide::series(0)).await;
        live.goes_on("with one retired, in canary").await;
        live.close();
    };
    tokio::join!(live.write(), live.read(), wide.read_on(&live), play);
    live.check_all().await;
    for at in 1..scenes.len() {
        wide.equal(&fleet, &wide::series(at)).await;
    }
    fleet.say(&format!("everything that was acknowledged is there, once; {}", live.summary()));
}
