//! Two data centres for real: a node in each, and a server in each with settings of its own.
//!
//! One test, as there is one cluster: it starts its own, says every step on stderr, and wipes it at the end, also when
//! it fails.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apart;

use std::sync::Arc;
use std::time::Duration;

use env::Env;
use futures::stream::{self, StreamExt};
use model::{PartitionKey, SeriesId, TableRef};
use own_cluster::{OwnCluster, Place};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use store::conformance::{Fixture, row};
use store::{Consistency, Effort, ErrorKind, HistogramSource};
use store_cassandra::{CassandraStore, HistogramOptions, Options, Replicas, SourceChoice, examine};

/// No other cluster of `dev/cassandra` uses these addresses.
const PLACE: Place = Place { suite: "datacenters", address: "127.0.0.71", jvm: "" };
const PREFIX: &str = "twodcs";
/// Cassandra estimates them in steps of 128.
const PARTITIONS: u64 = 640;
/// So often is it looked at what a task of a server shows.
const LOOKS: u32 = 300;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The settings of a server in data centre `number`, which names no replicas.
fn options(cluster: &OwnCluster, number: usize) -> Options {
    Options {
        contact_points: vec![cluster.contact_point(number)],
        local_datacenter: Some(format!("dc{number}")),
        keyspace_prefix: PREFIX.to_owned(),
        ..Options::default()
    }
}

fn replicas(named: &[(&str, usize)]) -> Replicas {
    Replicas::ByDatacenter(named.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect())
}

async fn connect(options: &Options) -> store::Result<CassandraStore> {
    CassandraStore::connect(options, Env::system()).await
}

/// What an operator does, with cqlsh.
async fn operator(cluster: &OwnCluster) -> Session {
    let known = SessionBuilder::new().known_node(cluster.contact_point(1));
    known.fetch_full_schema_metadata(false).build().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_in_two_data_centres_keep_one_installation() {
    let cluster = OwnCluster::new(&Env::system(), PLACE).await;
    cluster.start(&["--nodes", "2", "--datacenters", "dc1,dc2"]).await;
    cluster.say("a node in each of two data centres answers");
    let [first, second] = [1, 2].map(|number| options(&cluster, number));

    // The first server knows of its own data centre only, and makes the metadata there.
    drop(connect(&first).await.unwrap());
    assert_eq!(examine(&first).await.unwrap().replicas, Some(replicas(&[("dc1", 1)])));
    let refused = connect(&second).await.unwrap_err();
    let told = refused.to_string();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "it would wait for ever: {told}");
    assert!(told.contains("no replica in the local data centre `dc2` (dc1 = 1)"), "{told}");
    let looked = examine(&second).await.unwrap();
    assert!(looked.replicas.is_some_and(|found| found.has_none_in("dc2")) && looked.layout.is_none());
    cluster.say("a server where the metadata has no replica is refused");

    let alter = format!(
        "ALTER KEYSPACE {PREFIX}_meta WITH replication = {{'class': 'NetworkTopologyStrategy', 'dc1': 1, 'dc2': 1}}"
    );
    operator(&cluster).await.query_unpaged(alter, ()).await.unwrap();
    cluster.nodetool(2, &["repair", "--full", &format!("{PREFIX}_meta")]).await;
    // Neither server has heard of the other's data centre from its settings.
    let [one, other] = [connect(&first).await.unwrap(), connect(&second).await.unwrap()];
    apart::check(&cluster, &Fixture::new(Arc::new(one)), &Fixture::new(Arc::new(other))).await;

    only_nodes_at_home_are_asked(&cluster, first).await;
}

/// Of rows that both data centres have, each server counts those of its own.
async fn only_nodes_at_home_are_asked(cluster: &OwnCluster, first: Options) {
    let both = [("dc1".to_owned(), 1), ("dc2".to_owned(), 1)];
    let asking = |source| Options {
        replication: both.clone().into(),
        histograms: HistogramOptions { source, ..HistogramOptions::default() },
        ..first.clone()
    };
    let store = connect(&asking(SourceChoice::Jolokia)).await.unwrap();
    let fixture = Fixture { consistency: Consistency::EachQuorum, ..Fixture::new(Arc::new(store.clone())) };
    let table = fixture.made(1).await;
    let writes = (0..PARTITIONS).map(|series| {
        let (fixture, table) = (&fixture, &table);
        let series = SeriesId::new(&format!("s{series}")).unwrap();
        let at = PartitionKey { series, time_bucket: 0, event_bucket: 0 };
        async move { fixture.write(table, &at, &[row(5, "e", "i", "v")]).await }
    });
    stream::iter(writes).buffer_unordered(32).collect::<()>().await;
    for node in [1, 2] {
        cluster.nodetool(node, &["flush"]).await;
        cluster.nodetool(node, &["refreshsizeestimates"]).await;
    }
    assert_eq!(partitions(&fixture, &table, HistogramSource::Jolokia).await, PARTITIONS);
    let store = connect(&asking(SourceChoice::Cql)).await.unwrap();
    let estimated = Fixture { store: Arc::new(store.clone()), ..fixture.clone() };
    let found = partitions(&estimated, &table, HistogramSource::Cql).await;
    assert!((PARTITIONS * 3 / 4..=PARTITIONS * 5 / 4).contains(&found), "{found} of {PARTITIONS}");
    cluster.say("sizes of partitions are those of one data centre");

    let mut registry = Registry::default();
    store.register_metrics(&mut registry);
    let home = format!("node=\"{}\"", cluster.contact_point(1));
    let mut text = String::new();
    for _ in 0..LOOKS {
        text.clear();
        encode(&mut text, &registry).unwrap();
        if text.contains(&home) {
            break;
        }
        Env::system().clock.sleep(LOOK_EVERY).await;
    }
    assert!(text.contains(&home), "{text}");
    assert!(!text.contains(&cluster.contact_point(2)), "{text}");
    cluster.say("metrics are those of the nodes at home");
}

async fn partitions(fixture: &Fixture, table: &TableRef, source: HistogramSource) -> u64 {
    let found = fixture.store.histogram(table, Effort::Cheap).await.unwrap();
    assert_eq!((found.source, found.nodes_missing), (source, 0));
    found.sizes.count()
}
