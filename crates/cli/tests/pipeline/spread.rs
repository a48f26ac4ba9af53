//! Many at once: splits spread over the workers, and one that joins in the middle takes none from whoever is at it.
//!
//! What can be promised: a worker is at two splits at most, and its throttle lets it end one in some seconds. Whoever joins looks
//! for work at once and every five seconds, long before a worker alone could end them all; so each completes at least one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use queue_kafka::Detection;

use crate::fleet::Fleet;
use crate::forged::{forged, tell, unknown_at};
use crate::wide::{Wide, series};

/// So many are told of at once.
pub(crate) const COUNT: usize = 8;
/// Keys of detections that mean nothing, over all partitions of the topic: whoever is given one of those takes some of them.
const HINTS: usize = 64;
/// How often they are sent.
const HINTED_EVERY: Duration = Duration::from_secs(1);

/// Plays it on partitions that nobody has read.
pub(crate) async fn play(fleet: &Fleet, wide: &Wide, unread: Range<usize>) {
    fleet.say(&format!("{} at once, with one worker; the other one joins", unread.len()));
    let newcomer = fleet.stop_worker();
    let detections: Vec<Detection> = unread.clone().map(|at| forged(wide, &series(at))).collect();
    tell(fleet, &detections).await;
    let begun =
        async || (!held_by_others(fleet, wide, unread.clone(), &newcomer).await.is_empty()).then_some(());
    fleet.until("one is begun", begun).await;
    fleet.start_worker();
    is_given_some(fleet, wide, &newcomer).await;
    let held = held_by_others(fleet, wide, unread.clone(), &newcomer).await;
    fleet.say(&format!("the group is balanced anew in the middle of {held:?}"));
    assert!(!held.is_empty(), "every split had ended before");

    let mut workers = BTreeSet::new();
    for at in unread {
        let series = series(at);
        wide.reaches(fleet, &series, &["COMPLETED"]).await;
        let split = wide.split(fleet, &series).await.unwrap();
        let ended = split.transitions.iter().rfind(|transition| transition.state == "COMPLETED").unwrap();
        assert_eq!(ended.attempt, 1, "{series} began anew: {:?}", split.transitions);
        if let Some((_, server)) = held.iter().find(|(held, _)| *held == series) {
            assert_eq!(&ended.server, server, "{series} was taken from whoever was at it");
        }
        workers.extend(fleet.address_of(&ended.server).await);
        wide.equal(fleet, &series).await;
    }
    assert_eq!(workers, BTreeSet::from(fleet.worker_addresses()), "a worker has completed none");
    fleet.say("each worker has completed some");
}

/// Waits until a worker has dealt with a detection: only now it is one of the group.
async fn is_given_some(fleet: &Fleet, wide: &Wide, address: &str) {
    let nobody = |at| Detection { namespace: "nobody".to_owned(), ..forged(wide, &format!("hint-{at}")) };
    let hints: Vec<Detection> = (0..HINTS).map(nobody).collect();
    let takes = async || {
        tell(fleet, &hints).await;
        fleet.env.clock.sleep(HINTED_EVERY).await;
        (unknown_at(address) > 0).then_some(())
    };
    fleet.until("the newcomer is given some of the topic", takes).await;
}

/// Splits that are under way by somebody who does not listen at `newcomer`, and by whom.
async fn held_by_others(
    fleet: &Fleet,
    wide: &Wide,
    unread: Range<usize>,
    newcomer: &str,
) -> Vec<(String, String)> {
    let mut held = Vec::new();
    for at in unread {
        let split = wide.split(fleet, &series(at)).await;
        if let Some(split) = split.filter(|split| !split.owner.is_empty())
            && fleet.address_of(&split.owner).await.is_some_and(|address| address != newcomer)
        {
            held.push((series(at), split.owner));
        }
    }
    held
}
