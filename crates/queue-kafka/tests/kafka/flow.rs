//! From one sender to one worker, and what gets in the way.

use std::sync::atomic::Ordering;
use std::time::Duration;

use env::Env;
use own_cluster::OwnBroker;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use rdkafka::ClientConfig;
use rdkafka::producer::{FutureProducer, FutureRecord};
use split::Detection;

use crate::scene::{Notes, SEEN_WITHIN, Scene, detection, series};
use crate::shared;

/// Not used by any other suite, nor the two behind it.
const PORT: u16 = 19_192;

/// One broker for all of these: it starts slower than they run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn detections_pass_through_a_broker() {
    let kafka = OwnBroker::new(&Env::system(), "queue", PORT).await;
    kafka.start(&[]).await;
    everything_that_is_sent_is_noted_and_counted(&kafka).await;
    what_cannot_be_noted_waits_and_comes_again_in_order(&kafka).await;
    what_is_no_detection_is_set_aside(&kafka).await;
    shared::workers_share_and_one_that_goes_is_followed_by_the_others(&kafka).await;
    a_broker_that_is_away_costs_detections_and_nothing_else(&kafka).await;
}

async fn everything_that_is_sent_is_noted_and_counted(kafka: &OwnBroker) {
    let scene = Scene::new(kafka, "flow");
    scene.broker.make_topics().await.unwrap();
    // Twice is as good as once.
    scene.broker.make_topics().await.unwrap();
    let (sender, dropped) = scene.sender();
    for number in 0..200 {
        sender.send(&detection(number));
    }
    sender.send(&Detection { namespace: "nobody".to_owned(), ..detection(0) });
    sender.flush(&scene.env, SEEN_WITHIN).await;
    scene.stands(201, 0).await;
    let (receiver, notes) = (scene.receiver(), Notes::default());
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.until("all are noted", async || notes.count() == 200) => {}
    }
    assert_eq!(notes.sorted(), series(0..200));
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.stands(0, 0) => {}
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    let mut registry = Registry::default();
    scene.metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for line in [
        "braid_queue_sent_total 201",
        r#"braid_queue_received_total{outcome="noted"} 200"#,
        r#"braid_queue_received_total{outcome="unknown"} 1"#,
        "braid_queue_lag 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

async fn what_cannot_be_noted_waits_and_comes_again_in_order(kafka: &OwnBroker) {
    let scene = Scene::new(kafka, "waits");
    scene.broker.make_topics().await.unwrap();
    let (sender, _) = scene.sender();
    // Of one partition each, so that the order says something.
    for number in 0..40 {
        sender.send(&detection(number));
    }
    sender.flush(&scene.env, SEEN_WITHIN).await;
    let (receiver, notes) = (scene.receiver(), Notes::default());
    notes.failures.store(3, Ordering::Relaxed);
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.until("all are noted", async || notes.count() >= 40) => {}
    }
    assert_eq!(notes.sorted(), series(0..40), "each once: nothing was skipped, nothing set aside");
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.stands(0, 0) => {}
    }
    // Whoever comes next begins behind what was noted.
    drop(receiver);
    sender.send(&detection(1_000));
    let (next, later) = (scene.receiver(), Notes::default());
    tokio::select! {
        () = next.run(&later) => {}
        () = scene.until("the next one is noted", async || later.count() > 0) => {}
    }
    assert_eq!(later.sorted(), series(1_000..1_001));
}

async fn what_is_no_detection_is_set_aside(kafka: &OwnBroker) {
    let scene = Scene::new(kafka, "dead");
    scene.broker.make_topics().await.unwrap();
    let mut config = ClientConfig::new();
    let raw: FutureProducer = config.set("bootstrap.servers", kafka.address()).create().unwrap();
    let huge = "x".repeat(300_000);
    for text in ["", "{}", "not JSON", &huge, r#"{"namespace":"plays","version":"1"}"#] {
        let record = FutureRecord::to(&scene.options.topic).key("k").payload(text);
        raw.send(record, SEEN_WITHIN).await.unwrap();
    }
    let (sender, _) = scene.sender();
    sender.send(&detection(1));
    let (receiver, notes) = (scene.receiver(), Notes::default());
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.stands(0, 5) => {}
    }
    assert_eq!(notes.sorted(), series(1..2));
}

async fn a_broker_that_is_away_costs_detections_and_nothing_else(kafka: &OwnBroker) {
    let mut scene = Scene::new(kafka, "away");
    scene.broker.make_topics().await.unwrap();
    // Given up soon, so that the test need not wait.
    scene.options.properties.insert("delivery.timeout.ms".to_owned(), "2000".to_owned());
    kafka.order("kill").await;
    let (sender, dropped) = scene.sender();
    let started = scene.env.clock.boot();
    for number in 0..5_000 {
        sender.send(&detection(number));
    }
    let took = scene.env.clock.boot().since(started);
    assert!(took < Duration::from_secs(2), "sending waits for nobody: {took:?}");
    assert!(dropped.load(Ordering::Relaxed) >= 3_000, "what has no room is dropped at once");
    scene.until("all are dropped", async || dropped.load(Ordering::Relaxed) == 5_000).await;
    assert!(scene.broker.standing().await.is_err());
    let (receiver, notes) = (scene.receiver(), Notes::default());
    let back = async {
        kafka.start(&[]).await;
        // As reads do: what is wide is found again and again.
        let arrives = async || {
            sender.send(&detection(7));
            notes.count() > 0
        };
        scene.until("one behind the outage arrives", arrives).await;
    };
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = back => {}
    }
    let mut noted = notes.sorted();
    noted.dedup();
    assert_eq!(noted, series(7..8));
}
