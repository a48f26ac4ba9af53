//! [`MetricsLayer`]: counts calls, how they ended, how long they took and what they carried.
//!
//! Labels are operations and kinds of errors, never ids: their number is fixed. A call that is dropped before it ends
//! is not counted, so time-outs belong inside this layer.

use std::sync::Arc;
use std::time::Duration;

use env::{BoxFuture, Clock};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::{Call, Layer, Op, Outcome};
use crate::{ErrorKind, Result};

/// Upper edge of the first duration bucket, in seconds.
const FIRST_BUCKET_SECONDS: f64 = 0.000_1;
/// Buckets, each twice as wide as the one before: the last ends at 6.6 seconds.
const BUCKETS: u16 = 17;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    op: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OpLabels {
    op: &'static str,
}

impl From<Op> for OpLabels {
    fn from(op: Op) -> Self {
        Self { op: op.as_str() }
    }
}

/// Measures every call.
pub struct MetricsLayer {
    clock: Arc<dyn Clock>,
    calls: Family<CallLabels, Counter>,
    durations: Family<OpLabels, Histogram>,
    bytes: Family<OpLabels, Counter>,
}

impl MetricsLayer {
    /// Registers the metrics in `registry`; durations are measured on `clock`. Once per registry: a second layer
    /// would register the same names again.
    pub fn new(registry: &mut Registry, clock: Arc<dyn Clock>) -> Self {
        let durations = Family::<OpLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(FIRST_BUCKET_SECONDS, 2.0, BUCKETS))
        });
        let layer = Self { clock, calls: Family::default(), durations, bytes: Family::default() };
        registry.register("braid_store_calls", "Store calls by how they ended", layer.calls.clone());
        registry.register_with_unit(
            "braid_store_call_duration",
            "How long store calls took",
            Unit::Seconds,
            layer.durations.clone(),
        );
        registry.register_with_unit(
            "braid_store",
            "Logical bytes that successful store calls carried, in either direction",
            Unit::Bytes,
            layer.bytes.clone(),
        );
        layer
    }

    fn record<T: Outcome>(&self, call: Call, took: Duration, result: &Result<T>) {
        let outcome = match result {
            Ok(_) => "ok",
            Err(error) => label(error.kind()),
        };
        self.calls.get_or_create(&CallLabels { op: call.op.as_str(), outcome }).inc();
        self.durations.get_or_create(&call.op.into()).observe(took.as_secs_f64());
        if let Ok(answer) = result {
            self.bytes.get_or_create(&call.op.into()).inc_by(call.bytes.saturating_add(answer.bytes()));
        }
    }
}

impl Layer for MetricsLayer {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let start = self.clock.boot();
        let result = next.await;
        self.record(call, self.clock.boot().since(start), &result);
        result
    }
}

const fn label(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid",
        ErrorKind::NoTable => "no_table",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Unknown => "unknown",
        ErrorKind::Latched => "latched",
        ErrorKind::Corrupt => "corrupt",
    }
}

#[cfg(test)]
mod tests {
    use env::ManualClock;

    use super::*;
    use crate::{Error, ScanPage};

    fn text(registry: &Registry) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, registry).unwrap();
        text
    }

    fn assert_has(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "`{line}` is not in\n{text}");
        }
    }

    fn layer() -> (MetricsLayer, Registry, ManualClock) {
        let (mut registry, clock) = (Registry::default(), ManualClock::default());
        let layer = MetricsLayer::new(&mut registry, Arc::new(clock.clone()));
        (layer, registry, clock)
    }

    #[tokio::test]
    async fn calls_are_counted_by_how_they_ended() {
        let (layer, registry, _) = layer();
        let call = Call::new(Op::DropTable, 0);
        for kind in [ErrorKind::NoTable, ErrorKind::Unknown, ErrorKind::Unknown] {
            let failed: Result<()> =
                layer.around(call, Box::pin(async move { Err(Error::new(kind, "no")) })).await;
            assert_eq!(failed.unwrap_err().kind(), kind);
        }
        layer.around(call, Box::pin(async { Ok(()) })).await.unwrap();
        assert_has(
            &text(&registry),
            &[
                r#"braid_store_calls_total{op="drop_table",outcome="ok"} 1"#,
                r#"braid_store_calls_total{op="drop_table",outcome="no_table"} 1"#,
                r#"braid_store_calls_total{op="drop_table",outcome="unknown"} 2"#,
            ],
        );
    }

    #[tokio::test]
    async fn durations_are_measured_on_the_boot_clock_in_seconds() {
        let (layer, registry, clock) = layer();
        let slow = async move {
            clock.advance(Duration::from_millis(2_500));
            Ok(())
        };
        layer.around(Call::new(Op::Ready, 0), Box::pin(slow)).await.unwrap();
        assert_has(
            &text(&registry),
            &[
                r#"braid_store_call_duration_seconds_sum{op="ready"} 2.5"#,
                r#"braid_store_call_duration_seconds_count{op="ready"} 1"#,
            ],
        );
    }

    #[tokio::test]
    async fn bytes_are_counted_in_both_directions_where_the_call_succeeded() {
        let (layer, registry, _) = layer();
        let page = ScanPage { bytes: 40, ..ScanPage::default() };
        layer.around(Call::new(Op::Scan, 0), Box::pin(async { Ok(page) })).await.unwrap();
        layer.around(Call::new(Op::Upsert, 7), Box::pin(async { Ok(()) })).await.unwrap();
        let failed = Box::pin(async { Err::<(), _>(Error::invalid("no")) });
        layer.around(Call::new(Op::Upsert, 900), failed).await.unwrap_err();
        assert_has(
            &text(&registry),
            &[r#"braid_store_bytes_total{op="scan"} 40"#, r#"braid_store_bytes_total{op="upsert"} 7"#],
        );
    }
}
