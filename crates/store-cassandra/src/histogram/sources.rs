//! Which source is asked: the one that the settings name, or the best that answers.
//!
//! Every node of the local data centre is asked, several at a time, and what they say is added up; a node that says nothing is counted. A source
//! that no node serves is not asked again for a while: an address that swallows packets would cost every answer seconds.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use env::{BootTime, Env};
use futures::stream::{self, StreamExt};
use model::HistogramQuality;
use store::{Error, ErrorKind, Histogram, HistogramSource, Result};
use tokio::sync::Semaphore;

use super::buckets::Buckets;
use super::nodetool::{self, Tool};
use super::options::{HistogramOptions, SourceChoice};
use super::{estimates, jolokia, percentiles};
use crate::cluster::Cluster;
use crate::measure::assert_there;
use crate::statements::Table;

/// Nodes that are asked at a time.
const NODES_AT_ONCE: usize = 16;
/// Nodes that are asked with the tool at a time, over all tables: each takes two processes of this machine.
const TOOLS_AT_ONCE: usize = 2;
/// How long a source that no node served is left alone.
const SILENT_FOR: Duration = Duration::from_secs(60);

/// The sources of one store.
pub(crate) struct Sources {
    options: HistogramOptions,
    jolokia: Silence,
    nodetool: Silence,
    tools: Semaphore,
}

impl Sources {
    /// Nothing is asked yet.
    pub(crate) fn new(options: HistogramOptions) -> Self {
        let (jolokia, nodetool) = (Silence::default(), Silence::default());
        Self { options, jolokia, nodetool, tools: Semaphore::new(TOOLS_AT_ONCE) }
    }

    /// What the nodes know of the partitions of a table.
    pub(crate) async fn ask(&self, cluster: &Cluster, table: &Table) -> Result<Histogram> {
        // A source says nothing of a table that is not there, and nothing looks like an empty one.
        assert_there(cluster, table).await?;
        let keyspace = cluster.names.keyspace(&table.name)?;
        let table = (keyspace.as_str(), table.name.name.as_str());
        match self.options.source {
            SourceChoice::Jolokia => self.jolokia(cluster, table).await,
            SourceChoice::Nodetool => self.nodetool(cluster, table).await,
            SourceChoice::Cql => estimates::ask(cluster, table).await,
            SourceChoice::Auto => self.best(cluster, table).await,
        }
    }

    async fn best(&self, cluster: &Cluster, table: (&str, &str)) -> Result<Histogram> {
        if !self.jolokia.lasts(&cluster.env)
            && let Some(found) = self.jolokia.unless(&cluster.env, self.jolokia(cluster, table).await)
        {
            return Ok(found);
        }
        if !self.nodetool.lasts(&cluster.env)
            && let Some(found) = self.nodetool.unless(&cluster.env, self.nodetool(cluster, table).await)
        {
            return Ok(found);
        }
        estimates::ask(cluster, table).await
    }

    async fn jolokia(&self, cluster: &Cluster, table: (&str, &str)) -> Result<Histogram> {
        let port = self.options.jolokia_port;
        let asked = nodes(cluster).into_iter().map(|node| jolokia::ask(&cluster.env, node, port, table));
        let said = stream::iter(asked).buffer_unordered(NODES_AT_ONCE).collect().await;
        let (said, missing) = heard(said)?;
        let mut buckets = Buckets::default();
        said.iter().for_each(|node| buckets.add(node));
        Ok(Histogram {
            sizes: buckets.sizes(),
            summary: buckets.summary(),
            quality: HistogramQuality::PerFile,
            source: HistogramSource::Jolokia,
            nodes_missing: missing,
        })
    }

    async fn nodetool(&self, cluster: &Cluster, table: (&str, &str)) -> Result<Histogram> {
        let tool = Tool { program: &self.options.nodetool, jmx_port: self.options.jmx_port };
        let asked = nodes(cluster).into_iter().map(async |node| {
            // Nobody closes it.
            let _turn = self.tools.acquire().await;
            nodetool::ask(&cluster.env, &tool, node, table).await
        });
        let said = stream::iter(asked).buffer_unordered(TOOLS_AT_ONCE).collect().await;
        let (said, missing) = heard(said)?;
        let with_files: Vec<_> = said.into_iter().flatten().collect();
        let (sizes, summary, quality) = percentiles::together(&with_files);
        Ok(Histogram { sizes, summary, quality, source: HistogramSource::Nodetool, nodes_missing: missing })
    }
}

/// Where the nodes serve CQL, and so everything else.
fn nodes(cluster: &Cluster) -> Vec<IpAddr> {
    cluster.local_nodes().iter().map(|node| node.address.ip()).collect()
}

/// What nodes said, and how many said nothing; a failure where none said anything.
fn heard<T>(said: Vec<Result<T>>) -> Result<(Vec<T>, usize)> {
    let (mut heard, mut missing, mut failed) = (Vec::new(), 0, None);
    for answer in said {
        match answer {
            Ok(answer) => heard.push(answer),
            Err(error) => {
                tracing::debug!(%error, "a node says nothing of the sizes of its partitions");
                missing += 1;
                failed = Some(error);
            }
        }
    }
    match failed {
        Some(error) if heard.is_empty() => Err(error),
        None if heard.is_empty() => {
            Err(Error::new(ErrorKind::Unavailable, "no node of the cluster is known; try again"))
        }
        _ => Ok((heard, missing)),
    }
}

/// Since when a source is silent.
#[derive(Default)]
struct Silence {
    since: Mutex<Option<BootTime>>,
}

impl Silence {
    fn lasts(&self, env: &Env) -> bool {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| env.clock.boot().since(since) < SILENT_FOR)
    }

    /// The answer, unless there is none; then the silence begins.
    fn unless(&self, env: &Env, asked: Result<Histogram>) -> Option<Histogram> {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        match asked {
            Ok(found) => {
                *since = None;
                Some(found)
            }
            Err(error) => {
                tracing::info!(%error, "another source of partition sizes is asked for the next minute");
                *since = Some(env.clock.boot());
                None
            }
        }
    }
}

/// The outcome of `work`, unless it takes longer than `wait`.
pub(super) async fn within<T>(env: &Env, wait: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        () = env.clock.sleep(wait) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use env::{ManualClock, SeededRandom, TokioSpawn};
    use futures::FutureExt;
    use model::SizeHistogram;

    use super::*;

    fn silent() -> Error {
        Error::new(ErrorKind::Unavailable, "nobody")
    }

    #[test]
    fn nodes_that_say_nothing_are_counted() {
        let (said, missing) = heard(vec![Ok(1), Err(silent()), Ok(2)]).unwrap();
        assert_eq!((said, missing), (vec![1, 2], 1));
        assert_eq!(heard::<u8>(vec![Err(silent()), Err(silent())]).unwrap_err().to_string(), "nobody");
        assert_eq!(heard::<u8>(Vec::new()).unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[tokio::test]
    async fn a_source_that_nobody_serves_is_left_alone_for_a_minute() {
        let clock = ManualClock::default();
        let env = Env {
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            spawn: Arc::new(TokioSpawn::current()),
        };
        let silence = Silence::default();
        assert!(!silence.lasts(&env));
        assert!(silence.unless(&env, Err(silent())).is_none());
        clock.advance(Duration::from_secs(59));
        assert!(silence.lasts(&env));
        clock.advance(Duration::from_secs(1));
        assert!(!silence.lasts(&env));
        let found = Histogram::estimated(SizeHistogram::default(), HistogramSource::Cql);
        silence.unless(&env, Err(silent()));
        assert_eq!(silence.unless(&env, Ok(found.clone())), Some(found));
        assert!(!silence.lasts(&env), "it answered meanwhile");
    }

    #[tokio::test]
    async fn nobody_is_waited_for_without_end() {
        let clock = ManualClock::default();
        let env = Env {
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            spawn: Arc::new(TokioSpawn::current()),
        };
        let mut waiting = Box::pin(within(&env, Duration::from_secs(5), std::future::pending::<()>()));
        assert_eq!(waiting.as_mut().now_or_never(), None, "time has not come");
        clock.advance(Duration::from_secs(5));
        assert_eq!(waiting.as_mut().now_or_never(), Some(None));
        assert_eq!(within(&env, Duration::from_secs(5), std::future::ready(7)).await, Some(7));
    }
}
