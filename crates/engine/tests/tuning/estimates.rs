//! A store that only estimates, as a cluster without Jolokia and nodetool does: keys can be listed, sizes are means.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::{Engine, NamespaceSpec, ProposalState, TunePolicy, TuneSpec};
use env::ManualClock;
use model::{HistogramQuality, PartitionKey, TableRef};
use store::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Histogram, HistogramSource, MemoryStore,
    MetaChange, MetaKey, MetaPage, MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan,
    ScanPage, Storage, Store, TableOutcome,
};

use crate::world::{DAY, Load, START, World, env, name, shape};

/// Says what the nodes of a cluster would; everything else is as in memory.
struct Estimates(Arc<MemoryStore>);

#[async_trait]
impl Store for Estimates {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        self.0.create_table(table, storage).await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        self.0.drop_table(table).await
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        self.0.list_tables().await
    }

    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()> {
        self.0.upsert(batch, durability).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        self.0.delete_partition(table, partition, consistency).await
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        self.0.scan(scan).await
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        self.0.enumerate(request).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        let exact = self.0.histogram(table, effort).await?;
        match effort {
            Effort::Cheap => Ok(Histogram::estimated(exact.sizes, HistogramSource::Cql)),
            Effort::Measure => Ok(exact),
        }
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        self.0.meta_get(key).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        self.0.meta_range(group, after, records_max).await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        self.0.meta_cas(key, expected, change).await
    }

    async fn ready(&self) -> Result<()> {
        self.0.ready().await
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        self.0.disk_share().await
    }
}

async fn world() -> World {
    let store = Arc::new(MemoryStore::new());
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let estimates: Arc<dyn Store> = Arc::new(Estimates(Arc::clone(&store)));
    let engine = Engine::open(estimates, env(&clock)).await.unwrap();
    let shape = shape(DAY, 3_600, 1);
    let tune = TuneSpec { policy: TunePolicy::Auto, ..TuneSpec::default() };
    let spec = NamespaceSpec { shape, tune, future_limit: Duration::ZERO, ..NamespaceSpec::default() };
    engine.create_namespace(&name(), spec).await.unwrap();
    World { store, clock, engine, shape }
}

#[tokio::test]
async fn estimates_propose_and_are_never_applied_by_a_server() {
    let world = world().await;
    world.live(3, Load { series: 10, events: 24, bytes: 2_000 }).await;
    world.look().await;
    let open = world.proposals().await.remove(0).proposal;
    assert_eq!((open.state, open.draft.may_apply), (ProposalState::Open, false));
    assert_eq!((open.draft.quality, open.draft.basis.as_str()), (HistogramQuality::Estimated, "keys"));
    assert_eq!(world.engine.get_namespace(&name()).unwrap().spec.shape, world.shape);
    // Reading the slices makes them exact, and the policy applies what they say.
    let status = world.engine.observe_slices(&name(), true, false).await.unwrap();
    assert!(status.observations.iter().all(|seen| seen.quality == HistogramQuality::Exact));
    assert_eq!(world.proposals().await.remove(0).proposal.state, ProposalState::Accepted);
}
