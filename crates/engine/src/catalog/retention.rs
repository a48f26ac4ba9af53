//! Slices and time: which are open, closed or expired by one clock. Pure.

use std::time::Duration;

use model::Slice;

use super::Dataset;
use crate::SliceState;

/// Clocks of two servers differ by less than this, and by what a barrier waits.
pub(crate) const MARGIN: Duration = Duration::from_secs(10);

impl Dataset {
    /// Where in its life a slice is at `now`.
    pub(crate) fn state_of(&self, slice: Slice, now: i64) -> SliceState {
        let spec = &self.namespace.spec;
        if self.dropped.contains(slice.start()) || is_past(slice.end(), spec.delete_after, now) {
            SliceState::Expired
        } else if is_past(slice.end(), spec.close_after, now) {
            SliceState::Closed
        } else {
            SliceState::Open
        }
    }
}

/// Whether `after` has passed since `end`; zero is never.
pub(crate) fn is_past(end: i64, after: Duration, now: i64) -> bool {
    !after.is_zero() && end.saturating_add(nanos(after)) <= now
}

/// A duration as a span of time.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
