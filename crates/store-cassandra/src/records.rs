//! Metadata records: rows that change by lightweight transactions only, so that no two servers change one at once.
//!
//! Every change carries a stamp, drawn at random. After an attempt without an answer the row is read back serially:
//! our stamp in it means that we made the change, and another stamp under the version that we asked for means that
//! somebody else did. Only where the row has moved on further nobody can tell, and the answer is `Unknown`. A removal
//! first writes a row that says so and then deletes it, so that it can be read back too. Rows of one group are one
//! partition, and Cassandra runs transactions on a partition one after another; those of one process wait here for
//! each other instead of competing there.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use bytes::Bytes;
use store::{
    CasOutcome, Error, ErrorKind, MetaChange, MetaKey, MetaPage, MetaRecord, MetaVersion, Result, limits,
};
use tokio::sync::Mutex;

use crate::cluster::Cluster;
use crate::failure::{Verdict, unreadable};
use crate::page_rows::{Read, RowBytes};
use crate::pages::Pages;
use crate::read_back::{Judgement, Stored, judge};
use crate::retry::{self, Task};
use crate::statements::Lazy;
use crate::transaction::{self, Failed, Turn};

/// Groups that may be changed at once by this process.
const LANES: usize = 64;

/// The records of a cluster.
pub(crate) struct Records {
    get: Lazy,
    range: Lazy,
    insert: Lazy,
    update: Lazy,
    delete: Lazy,
    row_bytes: RowBytes,
    lanes: Vec<Mutex<()>>,
}

/// A change that is being made.
struct Cas<'a> {
    key: &'a MetaKey,
    expected: Option<MetaVersion>,
    stamp: i64,
    removed: bool,
    value: &'a [u8],
}

impl Records {
    /// The rows in the metadata keyspace of `cluster`.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let (table, profiles) = (format!("\"{}\".records", cluster.names.metadata()), &cluster.profiles);
        let whose = "WHERE record_group = ? AND name = ?";
        let columns = "version, stamp, removed, value";
        let insert = format!(
            "INSERT INTO {table} (record_group, name, {columns}) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS"
        );
        let update = format!(
            "UPDATE {table} SET version = ?, stamp = ?, removed = ?, value = ? {whose} IF version = ? AND removed = ?"
        );
        let range =
            format!("SELECT name, version, removed, value FROM {table} WHERE record_group = ? AND name > ?");
        Self {
            get: Lazy::serial(profiles, format!("SELECT {columns} FROM {table} {whose}")),
            range: Lazy::serial(profiles, range),
            insert: Lazy::conditional(profiles, insert),
            update: Lazy::conditional(profiles, update),
            delete: Lazy::conditional(profiles, format!("DELETE FROM {table} {whose} IF stamp = ?")),
            row_bytes: RowBytes::default(),
            lanes: std::iter::repeat_with(Mutex::default).take(LANES).collect(),
        }
    }

    /// Reads one record, after every change that was acknowledged before.
    pub(crate) async fn get(&self, cluster: &Cluster, key: &MetaKey) -> Result<Option<MetaRecord>> {
        Ok(self.stored(cluster, key).await?.and_then(|stored| stored.record(&key.name)))
    }

    async fn stored(&self, cluster: &Cluster, key: &MetaKey) -> Result<Option<Stored>> {
        let task = Task { what: "read a record", table: None, writes: false };
        let rows = cluster.small(task, &self.get, &(key.group.as_ref(), key.name.as_ref())).await?;
        let row = rows.maybe_first_row::<(i64, i64, bool, &[u8])>();
        let row = row.map_err(|error| unreadable("record", error))?;
        Ok(row.map(|(version, stamp, removed, value)| Stored {
            version,
            stamp,
            removed,
            value: Bytes::copy_from_slice(value),
        }))
    }

    /// Reads records of one group in the order of their names.
    pub(crate) async fn range(
        &self,
        cluster: &Cluster,
        group: &[u8],
        after: Option<&[u8]>,
        records_max: usize,
    ) -> Result<MetaPage> {
        let task = Task { what: "read records", table: None, writes: false };
        // No name is empty, so all lie behind the empty one.
        let values = (group, after.unwrap_or_default());
        let mut answers = Pages::new(cluster, task, &self.range, values).await?;
        let (mut page, mut bytes) = (MetaPage { records: Vec::new(), more: false }, 0);
        loop {
            let bytes_left = limits::META_RANGE_BYTES_MAX.saturating_sub(bytes) as u64;
            // One more than wanted tells whether more follow.
            let asked = self.row_bytes.rows_for(records_max - page.records.len() + 1, bytes_left);
            let Some(answer) = answers.next(asked).await? else {
                return Ok(page);
            };
            self.row_bytes.learn(Read { rows: answer.rows_num(), bytes: answer.rows_bytes_size() as u64 });
            let rows = answer.rows::<(&[u8], i64, bool, &[u8])>();
            for row in rows.map_err(|error| unreadable("records", error))? {
                let (name, version, removed, value) = row.map_err(|error| unreadable("records", error))?;
                if removed {
                    continue;
                }
                if page.records.len() == records_max || bytes >= limits::META_RANGE_BYTES_MAX {
                    page.more = true;
                    return Ok(page);
                }
                bytes += value.len();
                page.records.push(MetaRecord {
                    name: Bytes::copy_from_slice(name),
                    version: MetaVersion(version.cast_unsigned()),
                    value: Bytes::copy_from_slice(value),
                });
            }
        }
    }

    /// Changes a record if it is as expected.
    pub(crate) async fn cas(
        &self,
        cluster: &Cluster,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        let _alone = match self.lane(&key.group) {
            Some(lane) => Some(lane.lock().await),
            None => None,
        };
        let stamp = cluster.env.random.next_u64().cast_signed();
        let (removed, value) = match &change {
            MetaChange::Put(value) => (false, value.as_ref()),
            MetaChange::Remove => (true, &[][..]),
        };
        let cas = Cas { key, expected, stamp, removed, value };
        let outcome = self.settle(cluster, &cas).await?;
        if removed && matches!(outcome, CasOutcome::Applied(_)) {
            self.sweep(cluster, &cas).await;
        }
        Ok(outcome)
    }

    fn lane(&self, group: &[u8]) -> Option<&Mutex<()>> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(group);
        let lane = usize::try_from(hash % LANES as u64).unwrap_or(0);
        self.lanes.get(lane)
    }

    /// Tries, and looks how it went, until that is clear.
    async fn settle(&self, cluster: &Cluster, cas: &Cas<'_>) -> Result<CasOutcome> {
        // What the row holds: unknown at first, so taken to be as expected.
        let mut seen: Option<Stored> = None;
        let (mut failed, mut maybe_done): (Option<Failed>, bool) = (None, false);
        for attempt in 1..=transaction::ATTEMPTS_MAX {
            let (turn, version) = self.attempt(cluster, cas, seen.as_ref()).await?;
            match turn {
                Turn::Applied => return Ok(CasOutcome::Applied(version)),
                Turn::Refused => {}
                Turn::Unclear(failure) => {
                    maybe_done |= failure.verdict == Verdict::Unknown;
                    failed = Some(failure);
                    retry::back_off(&cluster.env, attempt).await;
                }
            }
            seen = match self.stored(cluster, cas.key).await {
                Ok(seen) => seen,
                Err(error) if maybe_done && error.kind() == ErrorKind::Unavailable => {
                    return Err(Error::new(ErrorKind::Unknown, error.to_string()).caused_by(error));
                }
                Err(error) => return Err(error),
            };
            match judge(cas.expected, version, cas.stamp, seen.as_ref()) {
                Judgement::Ours => return Ok(CasOutcome::Applied(version)),
                Judgement::AsExpected => {}
                Judgement::MovedOn if maybe_done => {
                    let message =
                        "a record changed several times while Cassandra gave no clear answer; read it";
                    return Err(Error::new(ErrorKind::Unknown, message));
                }
                Judgement::Theirs | Judgement::MovedOn => {
                    return Ok(CasOutcome::Conflict(seen.and_then(|seen| seen.record(&cas.key.name))));
                }
            }
        }
        Err(match failed {
            Some(failed) => failed.explain("change a record", maybe_done),
            None => Error::new(ErrorKind::Unavailable, "a record keeps changing; read it and try again"),
        })
    }

    /// One attempt, and the version that it makes.
    async fn attempt(
        &self,
        cluster: &Cluster,
        cas: &Cas<'_>,
        seen: Option<&Stored>,
    ) -> Result<(Turn, MetaVersion)> {
        let (what, group, name) = ("change a record", cas.key.group.as_ref(), cas.key.name.as_ref());
        // A row that says removed is no record: the next one goes over it.
        let over = match (cas.expected, seen) {
            (Some(expected), _) => Some((expected.0.cast_signed(), false)),
            (None, Some(seen)) => Some((seen.version, true)),
            (None, None) => None,
        };
        let version = over.map_or(0, |(version, _)| version).wrapping_add(1);
        let turn = match over {
            Some((expected, was_removed)) => {
                let values = (version, cas.stamp, cas.removed, cas.value, group, name, expected, was_removed);
                transaction::run(cluster, what, &self.update, &values).await?
            }
            None => {
                let values = (group, name, version, cas.stamp, cas.removed, cas.value);
                transaction::run(cluster, what, &self.insert, &values).await?
            }
        };
        Ok((turn, MetaVersion(version.cast_unsigned())))
    }

    /// Deletes the row of a removed record. If it stays it only takes room, until the name is used again.
    async fn sweep(&self, cluster: &Cluster, cas: &Cas<'_>) {
        let values = (cas.key.group.as_ref(), cas.key.name.as_ref(), cas.stamp);
        if let Err(error) = transaction::run(cluster, "delete a removed record", &self.delete, &values).await
        {
            tracing::debug!(%error, "the row of a removed record stays");
        }
    }
}
