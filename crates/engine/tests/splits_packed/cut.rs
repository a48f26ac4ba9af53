//! Pages that end inside of a chunk: the next one begins in it, and does not ask for it again.

use engine::{Event, ItemInput, NamespaceSpec, ReadMode, ReadRequest, SearchQuery};
use model::Order;

use crate::routes::in_mode;
use crate::world::{HOUR, World, event, events_of, pages_of, request, spec};

const EVENTS: usize = 400;

/// A packed partition whose chunks are compressed, which is read from its target.
async fn compressed(spec: NamespaceSpec) -> World {
    let world = World::new(in_mode(spec, ReadMode::On)).await;
    let events = (0..EVENTS).map(|number| {
        let value = format!("{{\"position\":{number},\"title\":\"Arrival\"}}").repeat(60).into();
        let item = ItemInput { key: "k".to_owned(), value, ..ItemInput::default() };
        engine::EventInput { items: vec![item], ..event("hot", i64::try_from(number).unwrap(), number, 1) }
    });
    world.write(events.collect()).await;
    world.read("hot").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    world
}

#[tokio::test]
async fn a_chunk_that_a_page_ends_in_is_not_asked_for_twice() {
    let world = compressed(spec()).await;
    let targets = world.split("hot").await.record.post_split_data.unwrap().partitions;
    let (stored, chunks) = targets
        .iter()
        .fold((0, 0), |(bytes, chunks), target| (bytes + target.stored_bytes, chunks + target.stored_rows));
    let pages_per_chunk = EVENTS as u64 / chunks / 7;
    assert!(pages_per_chunk >= 3, "{chunks} chunks of {EVENTS} events");
    let every = SearchQuery::Exists { key: "k".to_owned() };
    for (order, query) in [
        (Order::NewestFirst, None),
        (Order::NewestFirst, Some(every.clone())),
        (Order::OldestFirst, None),
        (Order::OldestFirst, Some(every)),
    ] {
        let asked = ReadRequest { order, query: query.clone(), page_records: 7, ..request("hot") };
        let pages = pages_of(&world.engine, asked).await;
        assert_eq!(events_of(&pages).iter().map(Event::item_count).sum::<usize>(), EVENTS);
        let read: u64 = pages.iter().map(|page| page.cost.bytes_read).sum();
        // A page that needs the next chunk asks for one more, in case the first was begun already.
        assert!(read <= stored * 5 / 2, "{order:?}, {query:?}: {read} of {stored} in {} pages", pages.len());
    }
}
