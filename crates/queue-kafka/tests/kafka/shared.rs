//! Several workers of one group.

use own_cluster::OwnBroker;

use crate::scene::{Notes, SEEN_WITHIN, Scene, detection, series};

pub(crate) async fn workers_share_and_one_that_goes_is_followed_by_the_others(kafka: &OwnBroker) {
    let scene = Scene::new(kafka, "shared");
    scene.broker.make_topics().await.unwrap();
    let (sender, _) = scene.sender();
    let (one, two) = (Notes::default(), Notes::default());
    let (first, second) = (scene.receiver(), scene.receiver());
    // Both get some, as soon as the partitions are shared out.
    let mut sent = 0;
    let both = async {
        while one.count() == 0 || two.count() == 0 {
            sender.send(&detection(sent));
            sent += 1;
            sender.flush(&scene.env, SEEN_WITHIN).await;
        }
    };
    tokio::select! {
        () = first.run(&one) => {}
        () = second.run(&two) => {}
        () = both => {}
    }
    // One goes without a word in the middle of what it had; the other one gets all that was not noted.
    for number in sent..sent + 100 {
        sender.send(&detection(number));
    }
    sender.flush(&scene.env, SEEN_WITHIN).await;
    drop(first);
    let all = async || one.count() + two.count() >= sent + 100;
    tokio::select! {
        () = second.run(&two) => {}
        () = scene.until("everything is noted by somebody", all) => {}
    }
    tokio::select! {
        () = second.run(&two) => {}
        () = scene.stands(0, 0) => {}
    }
    let mut noted = one.sorted();
    noted.extend(two.sorted());
    noted.sort();
    // What the first one had noted and not committed comes again: at least once.
    noted.dedup();
    assert_eq!(noted, series(0..sent + 100));
}
