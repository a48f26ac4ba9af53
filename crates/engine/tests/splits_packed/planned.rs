//! What is planned of a partition is what its targets then take, on a store to which rows have to travel.

use std::sync::Arc;

use bytes::Bytes;
use engine::{EventInput, NamespaceSpec, SplitLayout, SplitLimits, SplitSpec};
use split::{ChunkCodec, PostSplit, State, TargetLayout};
use store::MemoryStore;

use crate::elsewhere::Elsewhere;
use crate::world::{HOUR, World, event, name, spec};

/// Bytes that a target should have.
const TARGET_BYTES: u64 = 64 << 10;

/// An event whose value is so many hexadecimal digits by chance: zstd halves them, and lz4 makes next to nothing of them.
fn digits(number: usize, digits: usize) -> EventInput {
    let mut made = event("hot", i64::try_from(number % 3_000).unwrap(), number, digits / 2);
    for item in &mut made.items {
        item.value = item.value.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
    made
}

/// The targets of a split of these events.
async fn planned(layout: SplitLayout, events: Vec<EventInput>) -> PostSplit {
    let store = Arc::new(MemoryStore::new());
    let world = World::over(Arc::clone(&store), SplitLimits::default()).await;
    let world = Elsewhere::new(&store).opened(world).await;
    let split = SplitSpec { layout, target_bytes: TARGET_BYTES, ..spec().split };
    world.engine.create_namespace(&name(), NamespaceSpec { split, ..spec() }).await.unwrap();
    world.write(events).await;
    world.read("hot").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    record.post_split_data.unwrap()
}

/// Every target has about as many stored bytes as it should.
fn is_as_planned(post: &PostSplit) -> bool {
    post.partitions.iter().all(|target| target.stored_bytes < TARGET_BYTES * 3 / 2)
}

#[tokio::test]
async fn a_sample_is_compressed_as_the_targets_would_be() {
    let large = || (0..200).map(|number| digits(number, 4_000)).collect();
    let auto = planned(SplitLayout::Auto, large()).await;
    assert_eq!(auto.layout, TargetLayout::Rows, "{}", auto.strategy_reason);
    let asked = planned(SplitLayout::Packed, large()).await;
    assert_eq!((asked.layout, asked.codec), (TargetLayout::Packed, Some(ChunkCodec::Lz4)));
    assert!(is_as_planned(&asked), "{:?}", asked.partitions);
    let small = planned(SplitLayout::Auto, (0..800).map(|number| digits(number, 1_000)).collect()).await;
    assert_eq!((small.layout, small.codec), (TargetLayout::Packed, Some(ChunkCodec::Zstd)));
    assert!(is_as_planned(&small), "{:?}", small.partitions);
}

/// Newest first the origin begins with small events, of which nothing would be left; then all of it together are large ones.
#[tokio::test]
async fn what_was_sampled_of_smaller_events_is_forgotten() {
    let mut events: Vec<EventInput> = (0..700).map(|number| digits(number, 8_000)).collect();
    for number in 2_000..3_000 {
        let mut small = digits(number, 0);
        small.items.iter_mut().for_each(|item| item.value = Bytes::from(vec![b'v'; 200]));
        events.push(small);
    }
    let post = planned(SplitLayout::Auto, events).await;
    assert_eq!(post.layout, TargetLayout::Rows, "{}", post.strategy_reason);
}
