//! Warnings that a cluster sends with its answers: counted, by what they are about.
//!
//! Cassandra adds them where a read passes a threshold of its own (`tombstone_warn_threshold`, and where they are switched on
//! `read_thresholds_enabled` with its sizes). They come with answers that are complete, so they are no errors.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    kind: &'static str,
}

/// How many came.
#[derive(Clone, Default)]
pub(crate) struct Warnings {
    counted: Family<Labels, Counter>,
}

impl Warnings {
    /// Shows them in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        // Every kind is there from the start, so that the first one is a change.
        for kind in [LARGE_PARTITION, TOMBSTONES, OTHER] {
            drop(self.counted.get_or_create(&Labels { kind }));
        }
        let help = "Warnings that Cassandra sent with the answers to reads";
        registry.register("braid_cassandra_warnings", help, self.counted.clone());
    }

    /// Counts those of one answer.
    pub(crate) fn count<'a>(&self, warnings: impl Iterator<Item = &'a str>) {
        for warning in warnings {
            let kind = kind(warning);
            self.counted.get_or_create(&Labels { kind }).inc();
            tracing::debug!(kind, warning, "Cassandra warns");
        }
    }
}

const LARGE_PARTITION: &str = "large_partition";
const TOMBSTONES: &str = "tombstones";
const OTHER: &str = "other";

/// What a warning is about. The texts are Cassandra's and have no code, only the name of a setting; the query that is quoted
/// before that may hold any word.
fn kind(warning: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| warning.contains(word));
    if has(&["(see tombstone_warn_threshold)"]) {
        TOMBSTONES
    } else if has(&[
        "(see local_read_size_warn_threshold)",
        "(see row_index_size_warn_threshold)",
        "has exceeded the size warning threshold",
    ]) {
        LARGE_PARTITION
    } else {
        OTHER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_told_apart_by_the_setting_that_they_name() {
        let nodes = "1 nodes loaded over 4096 bytes";
        let query = "for query SELECT * FROM b_tombstones_1.y WHERE k = 1";
        for (warning, expect) in [
            (
                "Read 3 live rows and 1100 tombstone cells for query SELECT * FROM x.y WHERE k = 1; token 5 \
                 (see tombstone_warn_threshold)"
                    .to_owned(),
                TOMBSTONES,
            ),
            (
                format!(
                    "1 nodes scanned up to 1100 tombstones and issued tombstone warnings {query} (see \
                     tombstone_warn_threshold)"
                ),
                TOMBSTONES,
            ),
            (
                format!(
                    "{nodes} and issued local read size warnings {query} (see local_read_size_warn_threshold)"
                ),
                LARGE_PARTITION,
            ),
            (
                format!(
                    "{nodes} in RowIndexEntry and issued warnings {query} (see row_index_size_warn_threshold)"
                ),
                LARGE_PARTITION,
            ),
            (
                "Read on table x.y has exceeded the size warning threshold of 1,048,576 bytes".to_owned(),
                LARGE_PARTITION,
            ),
            ("Aggregation query used without partition key".to_owned(), OTHER),
        ] {
            assert_eq!(kind(&warning), expect, "{warning}");
        }
    }
}
