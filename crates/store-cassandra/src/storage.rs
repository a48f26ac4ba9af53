//! How a slice's table is kept, as options of the statement that makes it. Pure.
//!
//! Not part of the layout: an operator may alter them. What they cost and give is in `docs/operating/cassandra.md`.

use store::{Compaction, Compression, Storage};

/// Tiers of four: a write is rewritten about once for each factor of four that the table grows by.
const UNIFIED: &str = "{'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'}";
const LEVELED: &str = "{'class': 'LeveledCompactionStrategy'}";
const SIZE_TIERED: &str = "{'class': 'SizeTieredCompactionStrategy'}";
/// Windows of the time of writing, not of events.
const TIME_WINDOW: &str = "{'class': 'TimeWindowCompactionStrategy', \
                           'compaction_window_unit': 'HOURS', 'compaction_window_size': '1'}";

/// Chunks as small as Cassandra's own: one is read and decoded to find one row.
const LZ4: &str = "{'class': 'LZ4Compressor', 'chunk_length_in_kb': '16', 'min_compress_ratio': '1.1'}";
const ZSTD: &str = "{'class': 'ZstdCompressor', 'chunk_length_in_kb': '16'}";
const NO_COMPRESSION: &str = "{'enabled': 'false'}";

/// What follows the definition of the table. Everything is named: a node's own defaults differ between clusters.
pub(crate) fn options(storage: &Storage) -> String {
    let compaction = match storage.compaction {
        Compaction::StoreChoice | Compaction::Unified => UNIFIED,
        Compaction::Leveled => LEVELED,
        Compaction::SizeTiered => SIZE_TIERED,
        Compaction::TimeWindow => TIME_WINDOW,
    };
    let compression = match storage.compression {
        Compression::StoreChoice | Compression::Lz4 => LZ4,
        Compression::Zstd => ZSTD,
        Compression::None => NO_COMPRESSION,
    };
    format!(" AND compaction = {compaction} AND compression = {compression}")
}

#[cfg(test)]
mod tests {
    use store::Named;

    use super::*;

    #[test]
    fn every_choice_is_made_as_it_always_was() {
        let mut made = String::new();
        for compaction in Compaction::ALL {
            for compression in Compression::ALL {
                let storage = Storage { compaction: *compaction, compression: *compression };
                let (merged, packed) = (compaction.name(), compression.name());
                made.push_str(&format!("'{merged}' '{packed}':{}\n", options(&storage)));
            }
        }
        assert_eq!(made, include_str!("../golden/storage.txt"));
    }
}
