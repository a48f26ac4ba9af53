//! What fails when.

use std::fmt;
use std::time::Duration;

use crate::fault::{Fault, How, Part};
use crate::fleet::Fleet;
use crate::live::Live;
use crate::wide::{Wide, series};

/// Longer than a worker's lease on a split, and than a server's on its view: whoever sleeps so long wakes up as a zombie.
const PAST_EVERY_LEASE: Duration = Duration::from_secs(35);
/// How long other faults last at least, so that calls meet them.
const LASTS: Duration = Duration::from_secs(3);

/// The stages of a split. A candidate that waits in Kafka has no record yet.
const STAGES: [&str; 4] = ["DETECTION", "PLANNING", "COPYING", "VERIFYING"];

/// These parts fail when a split has come to this stage, all at once.
pub(crate) struct Scene {
    stage: &'static str,
    faults: Vec<Fault>,
    /// The split has to end before they are mended: others do without.
    ends_first: bool,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.faults.iter().map(Fault::to_string).collect();
        let ends = if self.ends_first { ", and the split ends without" } else { "" };
        write!(f, "{} at {}{ends}", faults.join(" and "), self.stage)
    }
}

const fn kill(part: Part) -> Fault {
    Fault { part, how: How::Kill }
}

const fn pause(part: Part) -> Fault {
    Fault { part, how: How::Pause }
}

/// The few that differ most, or all.
pub(crate) fn chosen() -> Vec<Scene> {
    if std::env::var_os("BRAID_FAULTS").is_some_and(|form| form == "long") { long() } else { short() }
}

fn short() -> Vec<Scene> {
    let scene = |stage, faults: &[Fault], ends_first| Scene { stage, faults: faults.to_vec(), ends_first };
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
            scenes.push(Scene { stage, faults: vec![*fault], ends_first });
        }
    }
    for (at, one) in faults.iter().enumerate() {
        for other in faults.iter().skip(at + 1).filter(|other| other.part != one.part) {
            let stage = STAGES.into_iter().cycle().nth(1 + scenes.len() % 3).unwrap_or("COPYING");
            scenes.push(Scene { stage, faults: vec![*one, *other], ends_first: false });
        }
    }
    scenes
}

impl Scene {
    /// Plays it on one wide partition.
    pub(crate) async fn play(&self, fleet: &Fleet, live: &Live<'_>, wide: &Wide, at: usize) {
        wide.cut(fleet, at).await;
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
        wide.found(at);
        if self.loses_detections() {
            let dropped = async || (fleet.dropped().await > dropped_before).then_some(());
            fleet.until("a detection is dropped", dropped).await;
            fleet.say("a detection was dropped");
        }
        let sleeps = self.faults.contains(&pause(Part::Worker));
        fleet.env.clock.sleep(if sleeps { PAST_EVERY_LEASE } else { LASTS }).await;
        live.goes_on("meanwhile").await;
        if self.ends_first {
            wide.reaches(fleet, &series, &["COMPLETED"]).await;
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
