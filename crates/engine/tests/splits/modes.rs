//! How reads move to targets: compared after the answer, through gates, and back.

use std::time::Duration;

use engine::{
    Engine, Named, NamespaceSpec, ReadGates, ReadMode, ReadModeInfo, ReadModePolicy, ReadRequest, ReadSpec,
    Reason,
};
use split::State;
use store::Store;

use crate::corrupt::{ALL, Damage, damage};
use crate::routes::{filled, in_mode};
use crate::world::{HOUR, SECOND, World, by_hash, events_of, id, name, request, spec};

/// Few comparisons are enough.
fn lenient(spec: NamespaceSpec, policy: ReadModePolicy) -> NamespaceSpec {
    let gates = ReadGates { min_compared: 3, min_time: Duration::from_secs(60), ..ReadGates::default() };
    NamespaceSpec { read: ReadSpec { gates, policy, ..spec.read }, ..spec }
}

async fn split(spec: NamespaceSpec) -> World {
    let world = World::wide(spec).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
    world
}

async fn mode(engine: &Engine) -> ReadModeInfo {
    engine.read_mode(&name()).await.unwrap()
}

/// Waits until comparisons have come to something.
pub(crate) async fn until(world: &World, what: impl Fn(&ReadModeInfo) -> bool) -> ReadModeInfo {
    world
        .during(async {
            loop {
                let info = mode(&world.engine).await;
                if what(&info) {
                    return info;
                }
                world.clock_ticks().await;
            }
        })
        .await
}

#[tokio::test]
async fn in_shadow_the_origin_is_served_and_the_targets_are_compared() {
    for spec in [spec(), by_hash()] {
        let world = split(spec).await;
        let pages = world.read("hot").await;
        assert!(pages.iter().all(|page| page.cost.targets == 0 && page.cost.fallbacks == 0));
        let info = until(&world, |info| info.evidence.compared + info.evidence.skipped >= 4).await;
        assert_eq!((info.mode, info.evidence.differ, info.evidence.unconfirmed), (ReadMode::Shadow, 0, 0));
        assert!(info.evidence.compared > 0 && info.evidence.match_bytes > 100_000, "{:?}", info.evidence);
        assert_eq!(info.evidence.timed, info.evidence.compared);
    }
}

#[tokio::test]
async fn off_and_on_compare_nothing() {
    for mode_of in [ReadMode::Off, ReadMode::On] {
        let world = split(in_mode(spec(), mode_of)).await;
        world.read("hot").await;
        let evidence = mode(&world.engine).await.evidence;
        assert_eq!((evidence.compared, evidence.skipped), (0, 0));
        assert_eq!(evidence.target_pages > 0, mode_of == ReadMode::On);
    }
}

#[tokio::test]
async fn a_difference_is_confirmed_listed_with_both_sides_and_takes_the_split_out_of_use() {
    for kind in [Damage::Flip, Damage::Drop] {
        let world = split(lenient(spec(), ReadModePolicy::Auto)).await;
        let row = damage(&world, kind).await;
        let origin = events_of(&world.read("hot").await);
        assert_eq!(origin.len(), 400, "the origin is served");
        let info = until(&world, |info| info.evidence.differ > 0).await;
        assert!(info.evidence.differ_bytes > 0, "{kind:?}");
        let state = world.state("hot").await;
        assert!(matches!(state, State::Retiring | State::Retired), "{kind:?} {state:?}");
        let listed = world.engine.mismatches(&name()).await.unwrap();
        assert!(listed.iter().all(|mismatch| mismatch.split == id("hot")), "{kind:?} {listed:?}");
        let named = String::from_utf8_lossy(row.key.event_id.as_bytes()).into_owned();
        let sides = listed.iter().flat_map(|mismatch| [&mismatch.origin.first, &mismatch.target.first]);
        let is_named = sides.flatten().any(|side| side.contains(&named));
        // Of a chunk that cannot be read nobody knows which rows it had.
        assert!(is_named || crate::LAYOUT == engine::SplitLayout::Packed, "{kind:?} {listed:?}");
        let refused = world.engine.advance_read_mode(&name(), false).await.unwrap_err();
        assert_eq!(refused.reason(), Reason::ReadModeGateFailed);
        assert!(refused.to_string().contains("max_differ_bytes is "), "{refused}");
        // Not by itself either, until somebody begins anew.
        world.pass(HOUR).await;
        assert_eq!(world.engine.advance_read_modes().await.unwrap(), 0);
        let info = world.engine.roll_back_read_mode(&name(), Some(ReadMode::Shadow), false).await.unwrap();
        assert_eq!(info.evidence.differ_bytes, 0);
    }
}

#[tokio::test]
async fn damage_that_a_worker_finds_sends_reads_back_to_shadow() {
    let world = split(in_mode(spec(), ReadMode::On)).await;
    damage(&world, ALL[0]).await;
    world.pass(HOUR + SECOND).await;
    world.work().await;
    let info = mode(&world.engine).await;
    assert_eq!((info.mode, info.evidence.differ), (ReadMode::Shadow, 1));
    assert_eq!(world.engine.mismatches(&name()).await.unwrap().len(), 1);
    let page = world.engine.read(request("hot")).await.unwrap();
    assert_eq!(page.cost.targets, 0);
}

#[tokio::test]
async fn reads_move_on_through_gates_by_hand_and_back_at_once() {
    let world = split(lenient(spec(), ReadModePolicy::Manual)).await;
    let refused = world.engine.advance_read_mode(&name(), false).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::ReadModeGateFailed);
    assert!(refused.to_string().contains("min_compared is 0, wanted at least 3"), "{refused}");
    let swept = world.during(world.engine.compare_splits(&name(), None, 10)).await.unwrap();
    assert_eq!((swept.splits, swept.records, swept.differ_bytes, swept.next), (1, 400, 0, None));
    for _ in 0..2 {
        world.during(world.engine.compare_splits(&name(), None, 10)).await.unwrap();
    }
    assert_eq!(world.engine.advance_read_mode(&name(), true).await.unwrap().mode, ReadMode::Shadow);
    let canary = world.engine.advance_read_mode(&name(), false).await.unwrap();
    assert_eq!(
        (canary.mode, canary.evidence.compared),
        (ReadMode::Canary, 0),
        "what was seen counts no more"
    );
    for _ in 0..3 {
        world.during(world.engine.compare_splits(&name(), None, 10)).await.unwrap();
    }
    let on = world.engine.advance_read_mode(&name(), false).await.unwrap();
    assert_eq!((on.mode, on.gates.len()), (ReadMode::On, 0));
    assert!(filled(&world.read("hot").await).all(|page| page.cost.targets > 0));
    let end = world.engine.advance_read_mode(&name(), false).await.unwrap_err();
    assert!(end.to_string().contains("no step behind"), "{end}");
    let back = world.engine.roll_back_read_mode(&name(), None, false).await.unwrap();
    assert_eq!(back.mode, ReadMode::Shadow);
    assert!(world.read("hot").await.iter().all(|page| page.cost.targets == 0));
    let off = world.engine.roll_back_read_mode(&name(), None, false).await.unwrap();
    assert_eq!(off.mode, ReadMode::Off);
    let refused = world.engine.roll_back_read_mode(&name(), Some(ReadMode::On), false).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::FieldInvalid);
    assert_eq!(world.engine.advance_read_mode(&name(), false).await.unwrap().mode, ReadMode::Shadow);
}

#[tokio::test]
async fn by_policy_they_move_on_by_themselves_unless_they_are_held() {
    let world = split(lenient(spec(), ReadModePolicy::Auto)).await;
    for _ in 0..3 {
        world.during(world.engine.compare_splits(&name(), None, 10)).await.unwrap();
    }
    world.engine.hold_read_mode(&name(), true, false).await.unwrap();
    world.pass(61 * SECOND).await;
    assert_eq!(world.engine.advance_read_modes().await.unwrap(), 0, "held");
    world.engine.hold_read_mode(&name(), false, false).await.unwrap();
    assert_eq!(world.engine.advance_read_modes().await.unwrap(), 1);
    for _ in 0..3 {
        world.during(world.engine.compare_splits(&name(), None, 10)).await.unwrap();
    }
    assert_eq!(world.engine.advance_read_modes().await.unwrap(), 0, "not so soon");
    world.pass(61 * SECOND).await;
    assert_eq!(world.engine.advance_read_modes().await.unwrap(), 1);
    assert_eq!(mode(&world.engine).await.mode, ReadMode::On);
    let lines = world.during(async {
        world.engine.settle().await.unwrap();
        world.engine.audit(None, 100).await.unwrap()
    });
    let reasons: Vec<String> = lines.await.into_iter().map(|line| line.reason).collect();
    assert_eq!(reasons.iter().filter(|reason| reason.starts_with("gates passed: min_compared 3")).count(), 2);
}

#[tokio::test]
async fn what_servers_have_seen_adds_up() {
    let world = split(lenient(spec(), ReadModePolicy::Manual)).await;
    let other = world.member().await;
    for engine in [&world.engine, &other, &other] {
        world.during(engine.compare_splits(&name(), None, 10)).await.unwrap();
        engine.advance_read_modes().await.unwrap();
    }
    for engine in [&world.engine, &other] {
        assert_eq!(mode(engine).await.evidence.compared, 3);
    }
    assert_eq!(other.advance_read_mode(&name(), false).await.unwrap().mode, ReadMode::Canary);
    world.engine.refresh().await.unwrap();
    assert_eq!(mode(&world.engine).await.mode, ReadMode::Canary, "a look later everywhere");
}

#[tokio::test]
async fn a_canary_serves_its_share_and_compares_both_ways() {
    let world = split(in_mode(spec(), ReadMode::Canary)).await;
    let mut from_targets = 0;
    for _ in 0..200 {
        let page = world.engine.read(ReadRequest { page_records: 5, ..request("hot") }).await.unwrap();
        from_targets += u64::from(page.cost.targets > 0);
    }
    // A quarter of 200, six standard deviations either way.
    assert!((13..=87).contains(&from_targets), "{from_targets}");
    let info = until(&world, |info| info.evidence.compared + info.evidence.skipped >= 200).await;
    assert_eq!((info.evidence.target_pages, info.evidence.differ), (from_targets, 0));
    assert!(info.evidence.compared > 0);
}

#[tokio::test]
async fn a_change_of_settings_lowers_a_mode_and_never_raises_it() {
    let world = split(spec()).await;
    let present = world.engine.get_namespace(&name()).unwrap().spec;
    let refused = world.engine.update_namespace(&name(), in_mode(present.clone(), ReadMode::On), None).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.reason(), Reason::ReadModeGateFailed);
    assert!(refused.to_string().contains("braid readmode advance"), "{refused}");
    let off =
        world.engine.update_namespace(&name(), in_mode(present.clone(), ReadMode::Off), None).await.unwrap();
    assert_eq!(off.spec.read.mode.name(), "off");
    world.engine.update_namespace(&name(), in_mode(present, ReadMode::Shadow), None).await.unwrap();
}

#[tokio::test]
async fn a_server_without_a_lease_leaves_nothing_behind_of_a_namespace_that_is_gone() {
    let world = split(in_mode(spec(), ReadMode::On)).await;
    let other = world.member().await;
    let page = other.read(ReadRequest { page_records: 1_000, ..request("hot") }).await.unwrap();
    assert!(page.cost.targets > 0, "which it has counted");
    // It hears of nothing any more, and is not waited for once its lease is over.
    let delete = async {
        while world.engine.delete_namespace(&name(), None).await.is_err() {
            world.clock_ticks().await;
        }
    };
    world.pass(300 * SECOND).await;
    world.during(delete).await;
    other.advance_read_modes().await.unwrap();
    let left = world.store.meta_range(b"readmode/plays.1", None, 10).await.unwrap().records;
    assert!(left.is_empty(), "{left:?}");
}
