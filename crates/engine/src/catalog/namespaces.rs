//! Making, changing and deleting namespaces. The decisions are pure; the log makes them happen.

use std::sync::Arc;
use std::time::Duration;

use model::NamespaceName;
use store::Named;

use super::known::{Incarnation, Known};
use super::record::{self, ModeRecord, NamespaceRecord, SegmentRecord};
use super::{Catalog, Dataset};
use crate::namespace::ReadMode;
use crate::view::{Cause, Decided, Put};
use crate::{Error, NamespaceSpec, Reason, Result};

impl Catalog {
    /// Makes a namespace. One that was deleted before gets the next incarnation, once nothing is left of the one before: a
    /// server that has not heard of the delete acknowledges and reads there, which nobody could tell from the new one.
    pub(crate) async fn create(
        &self,
        name: &NamespaceName,
        spec: NamespaceSpec,
        cause: &Cause,
    ) -> Result<Arc<Dataset>> {
        spec.check()?;
        let now = self.env.clock.wall();
        while !self.change(Some(cause), |known, epoch| created(known, epoch, name, &spec, now)).await?.0 {
            let of_name =
                |((other, _), left): (&Incarnation, &Arc<Dataset>)| (other == name).then(|| Arc::clone(left));
            let leaving: Vec<Arc<Dataset>> = self.known().leaving.iter().filter_map(of_name).collect();
            for left in leaving {
                self.clear(&left).await?;
            }
        }
        self.find(name)
    }

    /// Changes a namespace to `spec`. A new shape takes effect where the last existing slice ends.
    pub(crate) async fn update(
        &self,
        name: &NamespaceName,
        spec: NamespaceSpec,
        etag: Option<&str>,
        cause: &Cause,
    ) -> Result<Arc<Dataset>> {
        spec.check()?;
        let now = self.env.clock.wall();
        let decide = |known: &Known, epoch| updated((known, epoch), name, &spec, etag, now);
        self.change(Some(cause), decide).await?;
        // Where every server knows it already, as one alone does, limits count at once; else a keeper sees to it.
        if let Err(error) = self.narrow_limits().await {
            tracing::debug!(%error, "limits that were changed count later");
        }
        self.find(name)
    }

    /// Deletes a namespace. It is gone for everybody before the first table is dropped. Tables that this call does not come to
    /// drop are dropped later, by whichever server looks after slices.
    pub(crate) async fn delete(&self, name: &NamespaceName, etag: Option<&str>, cause: &Cause) -> Result<()> {
        let decide = |known: &Known, epoch| deleted(known, epoch, name, etag);
        let (incarnation, _) = self.change(Some(cause), decide).await?;
        let left = self.known().leaving.get(&(name.clone(), incarnation)).cloned();
        match left {
            Some(dataset) => self.clear(&dataset).await,
            None => Ok(()),
        }
    }
}

/// Makes a namespace; not yet where something is left of the one before.
fn created(
    known: &Known,
    epoch: u64,
    name: &NamespaceName,
    spec: &NamespaceSpec,
    now: i64,
) -> Result<Decided<bool>> {
    if known.live.contains_key(name) {
        let message =
            format!("namespace `{}` exists; change it instead, or choose another name", name.as_str());
        return Err(Error::new(Reason::NamespaceExists, message));
    }
    let before = known.deleted.get(name);
    let incarnation = before.map_or(1, |record| record.incarnation + 1);
    if before.is_some_and(|record| !record.leaving.is_empty()) {
        return Ok(Decided { puts: Vec::new(), answer: false });
    }
    let made = NamespaceRecord { epoch, ..NamespaceRecord::new(incarnation, now, spec.clone()) };
    put(name, &made, true)
}

fn updated(
    (known, epoch): (&Known, u64),
    name: &NamespaceName,
    spec: &NamespaceSpec,
    etag: Option<&str>,
    now: i64,
) -> Result<Decided<()>> {
    let present = present(known, name, etag)?;
    let mut changed = NamespaceRecord { epoch, ..present.record.clone() };
    let (before, after) = (changed.spec.read.mode, spec.read.mode);
    if after > before && after > ReadMode::Shadow {
        let message = format!(
            "reads of `{}` are {}; they move on to {} only through the gates, with `braid readmode advance`",
            name.as_str(),
            before.name(),
            after.name()
        );
        return Err(Error::new(Reason::ReadModeGateFailed, message));
    }
    if after != before {
        changed.mode = ModeRecord { epoch, since: now, held: false };
    }
    if spec.shape != changed.spec.shape {
        change_shape(&mut changed, present, spec.shape);
    }
    // Servers that have not heard of it may use the limits of before for a while.
    let narrowed = |base: Duration, limit: Duration| (base != limit).then_some(base);
    changed.base_accept = narrowed(widest(present.base_accept(), spec.accept_limit), spec.accept_limit);
    changed.base_close = narrowed(widest(present.base_close(), spec.close_after), spec.close_after);
    changed.base_delete = narrowed(widest(present.base_delete(), spec.delete_after), spec.delete_after);
    let futures = (present.future_for_writers(), present.future_of_any());
    changed.base_future = (futures != (spec.future_limit, spec.future_limit)).then_some(futures);
    changed.spec = spec.clone();
    put(name, &changed, ())
}

fn deleted(known: &Known, epoch: u64, name: &NamespaceName, etag: Option<&str>) -> Result<Decided<u32>> {
    let present = present(known, name, etag)?;
    let incarnation = present.namespace.incarnation;
    let mut leaving = present.record.leaving.clone();
    leaving.push(incarnation);
    let gone = NamespaceRecord { epoch, deleted: true, leaving, ..present.record.clone() };
    put(name, &gone, incarnation)
}

/// A change that puts one namespace.
pub(super) fn put<T>(name: &NamespaceName, record: &NamespaceRecord, answer: T) -> Result<Decided<T>> {
    Ok(Decided { puts: vec![Put::new(&record::namespace_key(name), record)?], answer })
}

fn present<'a>(known: &'a Known, name: &NamespaceName, etag: Option<&str>) -> Result<&'a Dataset> {
    let present = known.find(name)?;
    match etag {
        Some(asked) if asked != present.namespace.etag => {
            let message =
                format!("namespace `{}` changed since it was read; read it again and repeat", name.as_str());
            Err(Error::new(Reason::EtagMismatch, message))
        }
        _ => Ok(present),
    }
}

/// The wider of two limits; zero is none at all.
pub(super) fn widest(a: Duration, b: Duration) -> Duration {
    if a.is_zero() || b.is_zero() { Duration::ZERO } else { a.max(b) }
}

/// Adds the segment in which the new shape holds, or replaces one that no slice has used yet.
pub(super) fn change_shape(record: &mut NamespaceRecord, present: &Dataset, shape: crate::Shape) {
    let newest = record.segments.last().map_or(0, |segment| segment.from);
    match present.end_of_slices() {
        Some(end) if end > newest => record.segments.push(SegmentRecord { from: end, shape }),
        _ => {
            record.segments.pop();
            record.segments.push(SegmentRecord { from: newest, shape });
        }
    }
}
