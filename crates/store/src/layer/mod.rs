//! Layers: what surrounds the calls of any store, one concern each.
//!
//! A [`Layer`] is written once for all calls; [`Layered`] puts it around a store and is a store again, so layers
//! stack. A layer decides when and whether a call runs and what is counted; it never looks into rows or records.
//! Invariant: a layer that has nothing to say changes nothing, which the conformance suite over all of them proves.
//!
//! Outermost first, a server stacks metrics, time-outs, lanes, throttle: then a wait for a lane or for the throttle counts
//! against the deadline, and a call that ran out of time is counted as one.

mod call;
mod fault;
mod lanes;
mod layered;
mod metrics;
mod throttle;
mod timeout;

pub use call::{Call, Op, Outcome};
pub use fault::{Fault, FaultLayer, FaultPlan};
pub use lanes::{LaneLayer, Lanes, SMALL_SCAN_ROWS_MAX};
pub use layered::{Layer, Layered};
pub use metrics::MetricsLayer;
pub use throttle::{ByteRate, ThrottleLayer};
pub use timeout::{Deadlines, TimeoutLayer};
