//! What a decision on a proposal does to the record of its namespace.

use model::ShapeSpec;

use super::Dataset;
use super::namespaces::change_shape;
use super::record::{NamespaceRecord, namespace_key};
use crate::view::Put;
use crate::{Result, Shape};

impl Dataset {
    /// Future slices have another shape, as proposal `id` says; also gives back where the first of them starts.
    pub(crate) fn reshaped(&self, epoch: u64, id: u64, to: ShapeSpec) -> Result<(Put, i64)> {
        let ShapeSpec { seconds_per_slice, seconds_per_bucket, buckets_per_id } = to;
        let shape = Shape { seconds_per_slice, seconds_per_bucket, buckets_per_id };
        let mut record = NamespaceRecord { epoch, tuned: id, ..self.record.clone() };
        change_shape(&mut record, self, shape);
        record.spec.shape = shape;
        record.spec.check()?;
        let from = record.segments.last().map_or(0, |segment| segment.from);
        Ok((Put::new(&namespace_key(&self.namespace.name), &record)?, from))
    }

    /// Proposal `id` was decided on, and nothing else has changed.
    pub(crate) fn tuned(&self, epoch: u64, id: u64) -> Result<Put> {
        let record = NamespaceRecord { epoch, tuned: id, ..self.record.clone() };
        Put::new(&namespace_key(&self.namespace.name), &record)
    }
}
