//! How tables are kept: what was asked for is what the schema says, and stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::TableRef;
use store::conformance::Fixture;
use store::{Compaction, Compression, Named, Storage, TableOutcome};

use crate::{node, shared};

type Map = BTreeMap<String, String>;

/// The last part of a class's name, and one of its options.
async fn in_schema(table: &TableRef, option: &str) -> (String, String) {
    let text =
        "SELECT compaction, compression FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
    let values = (node::keyspace(table), table.name.as_str());
    let answer = node::session().await.query_unpaged(text, values).await.unwrap().into_rows_result().unwrap();
    let (compaction, compression): (Map, Map) = answer.single_row().unwrap();
    let class = |map: &Map| map.get("class").map(|name| name.rsplit('.').next().unwrap().to_owned());
    let more = compaction.get(option).map(|value| format!(" {value}")).unwrap_or_default();
    let packed = match compression.get("enabled").map(String::as_str) {
        Some("false") => "none".to_owned(),
        _ => format!("{} {}", class(&compression).unwrap(), compression.get("chunk_length_in_kb").unwrap()),
    };
    (class(&compaction).unwrap() + &more, packed)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_kept_as_it_was_asked_for() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let compactions = [
        (Compaction::StoreChoice, "scaling_parameters", "UnifiedCompactionStrategy T4"),
        (Compaction::Unified, "scaling_parameters", "UnifiedCompactionStrategy T4"),
        (Compaction::Leveled, "", "LeveledCompactionStrategy"),
        (Compaction::SizeTiered, "", "SizeTieredCompactionStrategy"),
        (Compaction::TimeWindow, "compaction_window_unit", "TimeWindowCompactionStrategy HOURS"),
    ];
    let compressions = [
        (Compression::StoreChoice, "LZ4Compressor 16"),
        (Compression::Lz4, "LZ4Compressor 16"),
        (Compression::Zstd, "ZstdCompressor 16"),
        (Compression::None, "none"),
    ];
    assert_eq!((compactions.len(), compressions.len()), (Compaction::ALL.len(), Compression::ALL.len()));
    // Every one of either, not every pair.
    for (number, (compaction, option, merged)) in (0_u32..).zip(compactions) {
        let (compression, packed) = compressions[number as usize % compressions.len()];
        let table = fixture.table(number);
        let storage = Storage { compaction, compression };
        assert_eq!(fixture.store.create_table(&table, &storage).await.unwrap(), TableOutcome::Done);
        assert_eq!(in_schema(&table, option).await, (merged.to_owned(), packed.to_owned()), "{storage:?}");
    }
    // Asked for otherwise, a table that exists stays as it is.
    let (table, other) = (fixture.table(2), Storage::default());
    assert_eq!(fixture.store.create_table(&table, &other).await.unwrap(), TableOutcome::Already);
    assert_eq!(in_schema(&table, "").await.0, "LeveledCompactionStrategy");
}
