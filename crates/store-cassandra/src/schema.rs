//! What is made in a cluster, as text. Pure.
//!
//! Version 1 of the layout. Every table has its id in its definition: two that make it at once make the same one,
//! where Cassandra would otherwise draw two ids and fall out with itself.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_128;

/// The layout that this code reads and writes; kept in the table `layout`.
pub const LAYOUT_VERSION: i32 = 1;

/// Columns of a partition's key, in order.
pub(crate) const PARTITION: &str = "time_series_id, time_bucket, event_bucket";
/// Columns of a row's key inside its partition, in order.
pub(crate) const ROW: &str = "event_time, event_id, event_item_key";

/// How long a row of the table of histograms stays: thirty days.
const HISTOGRAM_SECONDS: u32 = 30 * 86_400;

/// A keyspace with these replicas in each data centre.
pub(crate) fn keyspace(name: &str, replication: &BTreeMap<String, usize>) -> String {
    let replicas: String =
        replication.iter().map(|(datacenter, count)| format!(", '{datacenter}': {count}")).collect();
    format!(
        "CREATE KEYSPACE IF NOT EXISTS \"{name}\" \
         WITH replication = {{'class': 'NetworkTopologyStrategy'{replicas}}}"
    )
}

/// The table of a slice. Newest first on disk; `value_metadata` is empty rather than null, as a null is a tombstone.
pub(crate) fn data_table(table: &str, id: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (\
         time_series_id text, time_bucket int, event_bucket int, \
         event_time bigint, event_id text, event_item_key text, \
         event_item_value blob, value_metadata blob, \
         PRIMARY KEY (({PARTITION}), {ROW})) \
         WITH ID = '{id}' \
         AND CLUSTERING ORDER BY (event_time DESC, event_id DESC, event_item_key DESC)"
    )
}

/// The tables of the metadata: which layout this is, which tables exist, the records, and the histograms of late.
pub(crate) fn metadata_tables(keyspace: &str) -> [String; 4] {
    let table = |name: &str, columns: &str| {
        let id = uuid(xxh3_128(format!("{keyspace}.{name}").as_bytes()));
        format!("CREATE TABLE IF NOT EXISTS \"{keyspace}\".{name} ({columns}) WITH ID = '{id}'")
    };
    [
        table("layout", "part text PRIMARY KEY, version int"),
        table(
            "tables",
            "part text, namespace text, incarnation bigint, name text, id text, state text, stamp bigint, \
             PRIMARY KEY (part, namespace, incarnation, name)",
        ),
        table(
            "records",
            "record_group blob, name blob, version bigint, stamp bigint, removed boolean, value blob, \
             PRIMARY KEY (record_group, name)",
        ),
        table(
            "partition_histograms",
            "keyspace_name text, table_name text, observed timestamp, p50 bigint, p75 bigint, p95 bigint, p98 bigint, \
             p99 bigint, min bigint, max bigint, partitions bigint, quality text, source text, nodes_missing int, \
             PRIMARY KEY ((keyspace_name, table_name), observed)",
        ) + &format!(
            " AND CLUSTERING ORDER BY (observed DESC) AND default_time_to_live = {HISTOGRAM_SECONDS}"
        ),
    ]
}

/// 128 bits in the form of a random uuid.
pub(crate) fn uuid(bits: u128) -> String {
    const VERSION: u128 = 0xF000 << 64;
    const VARIANT: u128 = 0xC000 << 48;
    let bits = (bits & !VERSION & !VARIANT) | (0x4000 << 64) | (0x8000 << 48);
    let hex = format!("{bits:032x}");
    let mut text = String::with_capacity(36);
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_a_random_uuid() {
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn layout_1_is_made_as_it_always_was() {
        let replication = [("datacenter1".to_owned(), 3)].into();
        let [layout, tables, records, histograms] = metadata_tables("braid_meta");
        let made = [
            keyspace("braid_meta", &replication),
            layout,
            tables,
            records,
            histograms,
            keyspace("braid_orders_3", &replication),
            data_table("\"braid_orders_3\".\"data_20260328\"", &uuid(0x0123_4567_89ab_cdef)),
        ];
        let golden = include_str!("../golden/layout-1.cql");
        let golden: Vec<&str> = golden.lines().filter(|line| !line.starts_with("--")).collect();
        assert_eq!(made.map(|statement| statement + ";").as_slice(), golden);
    }

    #[test]
    fn metadata_tables_of_two_installations_have_different_ids() {
        let id = |keyspace| metadata_tables(keyspace)[0].rsplit('\'').nth(1).unwrap().to_owned();
        assert_eq!(id("one_meta"), id("one_meta"));
        assert_ne!(id("one_meta"), id("other_meta"));
    }

    #[test]
    fn a_keyspace_names_its_replicas() {
        let replication = [("dc1".to_owned(), 3), ("dc2".to_owned(), 2)].into();
        assert_eq!(
            keyspace("braid_orders_1", &replication),
            "CREATE KEYSPACE IF NOT EXISTS \"braid_orders_1\" WITH replication = \
             {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 2}"
        );
    }
}
