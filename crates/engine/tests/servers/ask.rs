//! What requests ask, without the requests: the answers are those that the requests get.

use engine::{NamespaceSpec, Reason};
use model::Timestamp;

use crate::world::{HOUR, NANOS, SECOND, START, World, hourly, name, page};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_nanos(seconds * NANOS).unwrap()
}

#[tokio::test]
async fn a_write_is_told_what_it_would_be_told() {
    let world = World::new();
    let server = world.server().await;
    server.engine.create_namespace(&name(), hourly()).await.unwrap();
    server.write(START).await.unwrap();
    let times = [at(START), at(START + 1)];
    assert_eq!(server.engine.ask_as_write(&name(), &times).await.unwrap(), 2);
    let old = [at(START - 601)];
    let refused = server.engine.ask_as_write(&name(), &old).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::EventTooOld);
    server.lose_metadata();
    world.clock.advance(2 * HOUR);
    let refused = server.engine.ask_as_write(&name(), &times).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::NotReady);
}

#[tokio::test]
async fn a_read_is_told_whether_it_gets_all() {
    let world = World::new();
    let server = world.server().await;
    server.engine.create_namespace(&name(), NamespaceSpec::default()).await.unwrap();
    let request = page(START - 3_600, START);
    assert!(server.engine.ask_as_read(&request).await.unwrap());
    server.lose_metadata();
    world.clock.advance(31 * SECOND);
    assert!(!server.engine.ask_as_read(&request).await.unwrap(), "there may be slices that it does not know");
    assert!(server.engine.read(request).await.unwrap().partial.is_some());
}
