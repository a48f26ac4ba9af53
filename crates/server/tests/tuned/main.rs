//! The tuner over a real Cassandra: what its nodes know of their files, after flush and compaction, and not a row that was read.
//!
//! Apart from the other suites on that node, and one test at a time: whatever nodetool is asked, it looks at all tables, and
//! fails where somebody drops one meanwhile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod figures;
mod node;

use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::Env;
use prost_types::Timestamp;
use rpc::client::Client;
use tokio::sync::Mutex;

use crate::node::{Node, nodetool};

const NAMESPACE: &str = "plays";
const DAY: i64 = 86_400;
const SERIES: i64 = 5;
/// Minutes of a day in which a series has events.
const MINUTES: i64 = 20;
const MINUTES_EVERY: i64 = 4_000;
/// Partitions of a slice.
const PARTITIONS: i64 = SERIES * MINUTES;
const VALUE_BYTES: usize = 2_500;
/// A partition holds two events of 2.5 kB, so a series holds 100 kB of a day and 55 kB of its first half: of what the density
/// allows, and a fifth less, there is room for the half. With one event in each it would be the day.
const DENSITY: (i64, i64) = (20_000, 100_000);
/// A limit that was narrowed counts once all servers know it; so often is that asked.
const LOOKS: u32 = 1_200;
const LOOK_EVERY: Duration = Duration::from_millis(50);

static ALONE: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn what_jolokia_says_of_compacted_files_is_tuned() {
    let _alone = ALONE.lock().await;
    let namespace = Namespace::written("jolokia").await;
    // Each partition is in two files, half in each.
    let (partitions, p99) = namespace.known().await;
    assert_eq!(partitions, 2 * PARTITIONS);
    assert!((2_500..=3_200).contains(&p99), "{p99}");
    namespace.compact();
    let (partitions, p99) = namespace.known().await;
    assert_eq!(partitions, PARTITIONS);
    assert!((5_000..=6_400).contains(&p99), "{p99}");
    namespace.proposes_half_a_day("jolokia").await;
    namespace.end().await;
}

#[tokio::test]
async fn what_nodetool_says_of_compacted_files_is_tuned() {
    let _alone = ALONE.lock().await;
    let namespace = Namespace::written("nodetool").await;
    namespace.compact();
    namespace.proposes_half_a_day("nodetool").await;
    namespace.end().await;
}

/// Where the third slice before today's starts.
fn third_last() -> i64 {
    let now = Env::system().clock.wall() / 1_000_000_000;
    now - now % DAY - 3 * DAY
}

fn event(series: i64, seconds: i64, bytes: usize) -> v1::Event {
    let item = v1::EventItem {
        event_item_key: "k".to_owned(),
        event_item_value: vec![7; bytes].into(),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: format!("s{series}"),
        event_time: Some(Timestamp { seconds, nanos: 0 }),
        event_id: format!("e{seconds}"),
        event_items: vec![item],
        continues: false,
    }
}

/// A namespace of far too narrow buckets on a server over the node.
struct Namespace {
    node: Node,
    client: Client,
    keyspace: String,
}

impl Namespace {
    /// Three days of it, flushed to two files each that nobody compacts, on a server that asks this source.
    async fn written(source: &str) -> Self {
        let (node, client) = Node::serve(source).await;
        let (density_min_bytes, density_max_bytes) = DENSITY;
        let tune =
            admin::TuneSettings { density_min_bytes, density_max_bytes, ..admin::TuneSettings::default() };
        let shape = admin::Shape { seconds_per_bucket: 60, buckets_per_id: 1, ..admin::Shape::default() };
        let made = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(shape),
            // Nothing is closed, so nobody looks before we do.
            accept_limit: Some(prost_types::Duration::default()),
            tune: Some(tune),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(made), ..Default::default() };
        let made = client.create_namespace(request).await.unwrap();
        let keyspace = Node::keyspace(NAMESPACE, made.incarnation);
        let namespace = Self { node, client, keyspace };
        for second in 0..2 {
            namespace.write(second).await;
            nodetool(&["disableautocompaction", &namespace.keyspace]);
            nodetool(&["flush", &namespace.keyspace]);
        }
        namespace
    }

    /// One event in every minute that is used, so many seconds after its start.
    async fn write(&self, second: i64) {
        for start in (0..3).map(|day| third_last() + day * DAY) {
            let of = |series| {
                (0..MINUTES).map(move |minute| {
                    event(series, start + minute * MINUTES_EVERY / 60 * 60 + second, VALUE_BYTES)
                })
            };
            let events = (0..SERIES).flat_map(of).collect();
            let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
            let accepted = self.client.write_synced(request).await.unwrap().accepted;
            assert_eq!(i64::from(accepted), PARTITIONS);
        }
    }

    fn compact(&self) {
        nodetool(&["compact", &self.keyspace]);
    }

    /// Partitions of the newest of the three slices, and their p99, as the server knows them without reading.
    async fn known(&self) -> (i64, i64) {
        let request = admin::GetPartitionHistogramRequest {
            namespace: NAMESPACE.to_owned(),
            table: String::new(),
            measure: false,
        };
        let found = self.client.partition_histogram(request).await.unwrap().histograms;
        let newest = found.last().unwrap();
        assert_eq!(newest.start.unwrap().seconds, third_last() + 2 * DAY);
        (newest.partitions, newest.p99)
    }

    /// Closes the three days and looks at them.
    async fn proposes_half_a_day(&self, source: &str) {
        let proposal = self.observed(source).await;
        assert_eq!((proposal.state.as_str(), proposal.direction.as_str()), ("OPEN", "fewer"));
        assert_eq!((proposal.quality.as_str(), proposal.basis.as_str()), ("PER_FILE", "keys"));
        assert!(proposal.may_apply, "{}", proposal.rendered);
        let p99 = proposal.observed.unwrap().p99;
        assert!((5_000..=6_400).contains(&p99), "{}", proposal.rendered);
        assert_eq!(proposal.to.unwrap().seconds_per_bucket, 43_200, "{}", proposal.rendered);
        let day = proposal.reads.iter().find(|read| i64::from(read.seconds) == DAY).unwrap();
        assert_eq!((day.before, day.after), (1_440, 2));
    }

    async fn observed(&self, source: &str) -> admin::Proposal {
        let closed = admin::Namespace {
            name: NAMESPACE.to_owned(),
            accept_limit: Some(prost_types::Duration { seconds: 60, nanos: 0 }),
            ..admin::Namespace::default()
        };
        let request = admin::UpdateNamespaceRequest { namespace: Some(closed), ..Default::default() };
        self.client.update_namespace(request).await.unwrap();
        let request = admin::ObserveRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
        for _ in 0..LOOKS {
            let answer = self.client.observe(request.clone()).await.unwrap();
            let status = answer.status.unwrap();
            if status.observations.len() == 3 {
                for seen in &status.observations {
                    assert_eq!((seen.quality.as_str(), seen.source.as_str()), ("PER_FILE", source));
                    assert_eq!(seen.series, SERIES);
                }
                return answer.proposal.unwrap_or_else(|| panic!("{:?}", status.finding));
            }
            Env::system().clock.sleep(LOOK_EVERY).await;
        }
        panic!("the slices were never closed");
    }

    async fn end(self) {
        self.node.end().await;
    }
}
