//! Packed targets are read ahead while the chunks that are there are used.

use bytes::Bytes;
use engine::{NamespaceSpec, ReadMode, ReadRequest, SplitLayout, SplitSpec};
use model::Row;
use split::State;

use crate::corrupt::put;
use crate::elsewhere::Elsewhere;
use crate::routes::in_mode;
use crate::world::{HOUR, TABLE, World, request, spec};

/// Two kilobytes each: some fifty chunks in each of two targets, of which a page asks for the first two dozen at once.
const EVENTS: usize = 3_000;

/// The newest chunk of all targets, and the event bucket of its target.
async fn newest_chunk(world: &World) -> (u32, Row) {
    let mut newest: Option<(u32, Row)> = None;
    for event_bucket in 0..16 {
        let last = world.target("hot", event_bucket).await.pop();
        let known = newest.as_ref().map(|(_, row)| row.key.event_time);
        if let Some(row) = last.filter(|row| Some(row.key.event_time) > known) {
            newest = Some((event_bucket, row));
        }
    }
    newest.unwrap()
}

/// What was asked for ahead has left before the first chunk is looked at; that one is damaged, so using it ends the read of targets.
#[tokio::test]
async fn the_second_scan_has_begun_before_the_first_chunk_is_used() {
    let bytes = 4 << 20;
    let split = SplitSpec {
        threshold_bytes: bytes,
        target_bytes: bytes,
        layout: SplitLayout::Packed,
        ..spec().split
    };
    let world = World::new(in_mode(NamespaceSpec { split, ..spec() }, ReadMode::On)).await;
    world.fill("hot", EVENTS).await;
    world.read("hot").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
    let (event_bucket, chunk) = newest_chunk(&world).await;
    let mut value = chunk.value.to_vec();
    value.iter_mut().take(1).for_each(|byte| *byte ^= 1);
    put(
        &world,
        event_bucket,
        vec![Row { value: Bytes::from(value), write_time: chunk.write_time + 1, ..chunk }],
    )
    .await;
    let store = Elsewhere::new(&world.store);
    let world = store.opened(world).await;
    store.begun();
    let page = world.engine.read(ReadRequest { page_records: EVENTS, ..request("hot") }).await.unwrap();
    assert!(page.events.len() > 1_000 && page.cost.fallbacks == 1, "{:?}", page.cost);
    let begun = store.begun();
    let origin = begun.iter().position(|scan| scan.table == TABLE).unwrap();
    let targets: Vec<bool> = begun[..origin].iter().map(|scan| scan.ahead).collect();
    assert_eq!(targets, [false, true], "{begun:?}");
}
