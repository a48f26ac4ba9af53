//! Exports: all rows of a table from any position on, of a time in which nothing changes any more.

use chunk::{Header, Unpacker};
use engine::{ExportAsked, ExportPart, ExportPlan, ExportWhich, Reason, RowsAsked, SplitLayout};
use model::{Interval, PartitionKey, Row, SeriesId};

use crate::world::{HOUR, NANOS, START, TABLE, World, by_hash, event, name, partition, spec};

async fn plan(world: &World, include_open: bool) -> ExportPlan {
    let asked = ExportAsked { namespace: name(), interval: Interval::ALL, slices: Vec::new(), include_open };
    world.during(world.engine.prepare_export(asked)).await.unwrap()
}

fn rows_of(table: &str, plan: &ExportPlan) -> RowsAsked {
    RowsAsked {
        namespace: name(),
        incarnation: plan.incarnation,
        table: table.to_owned(),
        interval: plan.interval,
        which: ExportWhich::All,
        position: None,
        include_open: false,
    }
}

type Found = Vec<(PartitionKey, Row)>;

fn flat(parts: Vec<ExportPart>) -> Found {
    parts
        .into_iter()
        .flat_map(|part| part.rows.to_vec().into_iter().map(move |row| (part.partition.clone(), row)))
        .collect()
}

/// All rows, and how many pages they came in.
async fn all(world: &World, asked: RowsAsked) -> (Found, usize) {
    let mut export = world.engine.export_rows(asked).unwrap();
    let (mut found, mut pages) = (Vec::new(), 0);
    while let Some(page) = export.next().await.unwrap() {
        found.extend(flat(page.parts));
        pages += 1;
    }
    (found, pages)
}

/// The rows in what targets hold: that comes as it is stored, in chunks where targets are packed.
fn unpacked(stored: Found) -> Found {
    if crate::LAYOUT == SplitLayout::Rows {
        return stored;
    }
    let mut found = Vec::new();
    for (partition, row) in stored {
        let header = Header::decode(&row.metadata).unwrap();
        assert_eq!(header.stored_key(), row.key);
        let chunk = Unpacker::default().unpack(header, &row.value).unwrap();
        let rows = chunk.rows().unwrap();
        found.extend((0..rows.len()).map(|at| (partition.clone(), rows.shared(at).unwrap())));
    }
    found
}

/// A wide partition that was split, and many small ones.
async fn world() -> World {
    let world = World::new(by_hash()).await;
    world.fill("hot", 1_600).await;
    world.write((0..700).map(|number| event(&format!("s{number}"), 7, number, 8)).collect()).await;
    world.read("hot").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    world
}

#[tokio::test]
async fn every_row_comes_once_newest_first_and_from_any_position_the_rest() {
    let world = world().await;
    let plan = plan(&world, false).await;
    let tables: Vec<_> = plan.tables.iter().map(|table| (table.name.as_str(), table.targets)).collect();
    assert_eq!(tables, [(TABLE, false), ("wide_data_20260328_0", true)]);
    let (found, pages) = all(&world, rows_of(TABLE, &plan)).await;
    assert_eq!(found.len(), 2_300);
    assert!(pages >= 3, "{pages}");
    for pair in found.windows(2) {
        let [(before, row), (after, next)] = pair else { unreachable!("two") };
        assert!(before != after || row.key > next.key, "{row:?} {next:?}");
    }
    // A stop behind every page: the rest is what came behind it.
    let mut export = world.engine.export_rows(rows_of(TABLE, &plan)).unwrap();
    let (mut taken, mut stops) = (0, 0);
    while let Some(page) = export.next().await.unwrap() {
        taken += flat(page.parts).len();
        let Some(next) = page.next else { break };
        stops += usize::from(next.row.is_some());
        let asked = RowsAsked { position: Some(next), ..rows_of(TABLE, &plan) };
        let (rest, _) = all(&world, asked).await;
        assert!(rest == found[taken..], "behind {taken} rows");
    }
    assert!(stops > 0, "no page ended inside of a partition");
}

#[tokio::test]
async fn targets_hold_what_their_origin_does() {
    let world = world().await;
    let plan = plan(&world, false).await;
    let hot = SeriesId::new("hot").unwrap();
    let series = RowsAsked { which: ExportWhich::Series(vec![hot]), ..rows_of(TABLE, &plan) };
    let (mut origin, _) = all(&world, series.clone()).await;
    let wide = plan.tables.last().unwrap().name.as_str();
    let (stored, _) = all(&world, rows_of(wide, &plan)).await;
    let is_packed = crate::LAYOUT == SplitLayout::Packed;
    assert_eq!(stored.len() < 1_600 / 10, is_packed, "{} stored rows", stored.len());
    let mut targets = unpacked(stored);
    let key = |found: &(PartitionKey, Row)| found.1.key.clone();
    origin.sort_by_key(key);
    targets.sort_by_key(key);
    assert_eq!(origin.len(), 1_600);
    assert!(origin.iter().map(|found| &found.1).eq(targets.iter().map(|found| &found.1)), "with write times");
    let named = RowsAsked { which: ExportWhich::Named(vec![partition("hot")]), ..rows_of(TABLE, &plan) };
    assert_eq!(all(&world, named).await.0.len(), 1_600);
    let refused = world.engine.export_rows(RowsAsked { table: wide.to_owned(), ..series }).err().unwrap();
    assert_eq!(refused.reason(), Reason::FieldInvalid, "{refused}");
}

#[tokio::test]
async fn what_is_not_closed_is_left_out_and_told() {
    let world = World::new(spec()).await;
    world.fill("hot", 3).await;
    let open = plan(&world, false).await;
    assert!(open.left_out.is_some() && open.interval.end() < START * NANOS, "{open:?}");
    assert!(open.tables.is_empty());
    // On request, all that is there.
    let plan = plan(&world, true).await;
    let asked = RowsAsked { include_open: true, ..rows_of(TABLE, &plan) };
    assert_eq!(all(&world, asked.clone()).await.0.len(), 3);
    let refused = world.engine.export_rows(RowsAsked { include_open: false, ..asked }).err().unwrap();
    assert_eq!(refused.reason(), Reason::TimeNotClosed, "{refused}");
}

#[tokio::test]
async fn a_backfill_ends_an_export_that_it_could_change() {
    let world = world().await;
    let plan = plan(&world, false).await;
    let mut export = world.engine.export_rows(rows_of(TABLE, &plan)).unwrap();
    export.next().await.unwrap().unwrap();
    let hour = Interval::new(START * NANOS, (START + 3_600) * NANOS).unwrap();
    let backfill = world.during(world.engine.begin_backfill(&name(), hour)).await.unwrap();
    assert_eq!(export.next().await.unwrap_err().reason(), Reason::TimeNotClosed);
    let asked =
        ExportAsked { namespace: name(), interval: Interval::ALL, slices: Vec::new(), include_open: false };
    let now = world.during(world.engine.prepare_export(asked.clone())).await.unwrap();
    assert_eq!(now.interval.end(), hour.start());
    assert!(now.left_out.unwrap().contains("backfill"), "{now:?}");
    world.during(world.engine.end_backfill(&name(), backfill.id)).await.unwrap();
    let later = world.during(world.engine.prepare_export(asked)).await.unwrap();
    assert!(later.interval.end() >= plan.interval.end());
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let world = world().await;
    let plan = plan(&world, false).await;
    let reason = |asked: RowsAsked| world.engine.export_rows(asked).err().unwrap().reason();
    assert_eq!(reason(rows_of("data_19700101", &plan)), Reason::SliceNotFound);
    let other = RowsAsked { incarnation: 2, ..rows_of(TABLE, &plan) };
    assert_eq!(reason(other), Reason::NamespaceNotFound);
    let elsewhere = engine::ExportPosition { partition: partition("cold"), row: None };
    let named = ExportWhich::Named(vec![partition("hot")]);
    let lost = RowsAsked { which: named, position: Some(elsewhere), ..rows_of(TABLE, &plan) };
    assert_eq!(reason(lost), Reason::FieldInvalid);
    let slices = vec!["data_19700101".to_owned()];
    let asked = ExportAsked { namespace: name(), interval: Interval::ALL, slices, include_open: false };
    let refused = world.during(world.engine.prepare_export(asked)).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::SliceNotFound, "{refused}");
}
