//! What fails when.

use std::fmt;
use std::time::Duration;

use crate::fault::{Fault, How, Part};
use crate::fleet::Fleet;
use crate::live::Live;
use crate::wide::{Wide, series};

/// Longer than a server's lease on its view. A worker is given up later: where one sleeps, the split ends without, so that it wakes
/// up as a zombie.
const PAST_EVERY_LEASE: Duration = Duration::from_secs(35);
/// How long other faults last at least, so that calls meet them.
const LASTS: Duration = Duration::from_secs(3);
/// A broker that is gone for minutes.
const FOR_MINUTES: Duration = Duration::from_secs(180);

/// The stages of a split. A candidate that waits in Kafka has no record yet.
const STAGES: [&str; 4] = ["DETECTION", "PLANNING", "COPYING", "VERIFYING"];

/// These parts fail when a split has come to this stage, all at once.
pub(crate) struct Scene {
    /// Among all of its form, from 1: a scene is the same whichever are played.
    pub(crate) number: usize,
    stage: &'static str,
    faults: Vec<Fault>,
    /// The split has to end before they are mended: others do without.
    ends_first: bool,
    /// They last so long at least.
    lasts: Duration,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.faults.iter().map(Fault::to_string).collect();
        let ends = if self.ends_first { ", and the split ends without" } else { "" };
        let seconds = self.lasts.as_secs();
        write!(f, "{} at {} for {seconds} s{ends}", faults.join(" and "), self.stage)
    }
}

const fn kill(part: Part) -> Fault {
    Fault { part, how: How::Kill }
}

const fn pause(part: Part) -> Fault {
    Fault { part, how: How::Pause }
}

/// How long these last: whoever sleeps has to sleep past what others wait for.
fn lasting(faults: &[Fault]) -> Duration {
    if faults.contains(&pause(Part::Worker)) { PAST_EVERY_LEASE } else { LASTS }
}

fn scene(stage: &'static str, faults: &[Fault], ends_first: bool) -> Scene {
    Scene { number: 0, stage, faults: faults.to_vec(), ends_first, lasts: lasting(faults) }
}

/// The few that differ most, or all; of them those that are asked for, by their numbers.
pub(crate) fn chosen() -> Vec<Scene> {
    let is_long = std::env::var_os("BRAID_FAULTS").is_some_and(|form| form == "long");
    let mut scenes = if is_long { long() } else { short() };
    for (scene, number) in scenes.iter_mut().zip(1..) {
        scene.number = number;
    }
    let Ok(asked) = std::env::var("BRAID_SCENES") else { return scenes };
    let (first, last) = asked.split_once('-').unwrap_or((&asked, &asked));
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    let kept: Vec<Scene> = scenes.into_iter().take(last).skip(first - 1).collect();
    assert!(!kept.is_empty(), "BRAID_SCENES={asked}: there are none");
    kept
}

fn short() -> Vec<Scene> {
    vec![
        scene("DETECTION", &[kill(Part::Broker)], false),
        scene("COPYING", &[pause(Part::Worker)], true),
        scene("VERIFYING", &[kill(Part::Worker), kill(Part::Node)], true),
        scene("PLANNING", &[kill(Part::Api), pause(Part::Broker)], true),
    ]
}

fn long() -> Vec<Scene> {
    let mut scenes = Vec::new();
    let faults: Vec<Fault> = [Part::Node, Part::Broker, Part::Worker, Part::Api]
        .into_iter()
        .flat_map(|part| [kill(part), pause(part)])
        .collect();
    for stage in STAGES {
        for fault in &faults {
            // Without a broker nobody hears of it.
            let ends_first = !(stage == "DETECTION" && fault.part == Part::Broker);
            scenes.push(scene(stage, &[*fault], ends_first));
        }
    }
    for (at, one) in faults.iter().enumerate() {
        for other in faults.iter().skip(at + 1).filter(|other| other.part != one.part) {
            let stage = STAGES.into_iter().cycle().nth(1 + scenes.len() % 3).unwrap_or("COPYING");
            let pair = [*one, *other];
            scenes.push(scene(stage, &pair, pair.contains(&pause(Part::Worker))));
        }
    }
    scenes.push(Scene { lasts: FOR_MINUTES, ..scene("DETECTION", &[kill(Part::Broker)], false) });
    scenes
}

impl Scene {
    /// Plays it on one wide partition.
    pub(crate) async fn play(&self, fleet: &Fleet, live: &Live<'_>, wide: &Wide, at: usize) {
        wide.cut(fleet, self.number).await;
        let (series, dropped_before) = (series(at), fleet.dropped().await);
        let owner = if self.stage == "DETECTION" {
            None
        } else {
            wide.found(at);
            wide.reaches(fleet, &series, &[self.stage, "COMPLETED"]).await
        };
        for fault in &self.faults {
            fleet.hit(*fault, owner.as_deref()).await;
        }
        let failed_before = live.failed();
        wide.found(at);
        if self.loses_detections() {
            let dropped = async || (fleet.dropped().await > dropped_before).then_some(());
            fleet.until("a detection is dropped", dropped).await;
            fleet.say("a detection was dropped");
        }
        fleet.env.clock.sleep(self.lasts).await;
        live.goes_on("meanwhile").await;
        if self.faults.iter().all(|fault| fault.part == Part::Broker) {
            assert_eq!(live.failed(), failed_before, "calls failed, and none of them needs the broker");
        }
        if self.ends_first {
            wide.reaches(fleet, &series, &["COMPLETED"]).await;
        }
        if self.loses_detections() {
            // What was dropped is lost: only a read that comes behind the mending can find it.
            assert_eq!(wide.split(fleet, &series).await, None, "nobody can have heard of it");
        }
        for fault in &self.faults {
            fleet.mend(*fault, owner.as_deref()).await;
        }
        wide.reaches(fleet, &series, &["COMPLETED"]).await;
        wide.equal(fleet, &series).await;
    }

    fn loses_detections(&self) -> bool {
        self.stage == "DETECTION" && self.faults.iter().any(|fault| fault.part == Part::Broker)
    }
}
