//! The list of what is due: an entry is made before its record, so one that no record agrees with is not forgotten at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, NamespaceSpec};
use model::NamespaceName;
use sim::World;
use sim::cluster::Options;
use store::{MetaChange, MetaKey, Store};

async fn scenario(world: World) {
    let cluster = world.cluster(Options::default());
    let engine = Engine::open(Arc::new(cluster.clone()), world.env("server")).await.expect("opens");
    let name = NamespaceName::new("orders").expect("legal");
    engine.create_namespace(&name, NamespaceSpec::default()).await.expect("made");
    let entry = format!("{:020}/orders.1/data_20260101/0/0/s", world.clock().wall());
    let key = MetaKey::new("splits/due", entry);
    cluster.meta_cas(&key, None, MetaChange::Put(Bytes::from_static(b"{}"))).await.expect("made");
    assert!(!engine.work_on_splits().await.expect("it works"), "there is no such split");
    assert!(cluster.meta_get(&key).await.expect("read").is_some(), "its record may be about to come");
    world.clock().sleep(Duration::from_secs(601)).await;
    assert!(!engine.work_on_splits().await.expect("it works"), "there is no such split");
    assert!(cluster.meta_get(&key).await.expect("read").is_none(), "nobody needs it");
}

#[test]
fn an_entry_without_its_record_is_left_for_a_while() {
    World::run(1, |world| Box::pin(scenario(world))).expect("no task panics");
}
