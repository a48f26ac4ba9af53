//! A client that waits only so long gets what is there before it is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use env::{BootTime, BoxFuture, Clock, Env, SystemClock};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NAMESPACE, event, start_with};
use crate::http::send;

/// Every look at it is a second later than the one before; waiting takes as long as it does.
#[derive(Default)]
struct Hurrying(AtomicU64);

impl Clock for Hurrying {
    fn wall(&self) -> i64 {
        SystemClock.wall()
    }

    fn boot(&self) -> BootTime {
        BootTime::from_boot(Duration::from_secs(self.0.fetch_add(1, Ordering::SeqCst)))
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(wait)
    }
}

/// Calls as JSON with a deadline in milliseconds.
async fn call(fixture: &Fixture, method: &str, deadline: Option<&str>, body: &Value) -> Value {
    let path = format!("/braid.v1.TimeSeriesService/{method}");
    let mut request = ::http::Request::post(path).header("content-type", "application/json");
    if let Some(deadline) = deadline {
        request = request.header("connect-timeout-ms", deadline);
    }
    let answer = send(&fixture.address(), request.body(Full::new(body.to_string().into())).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn what_is_there_is_answered_before_the_client_is_gone() {
    let mut fixture = Fixture::with_namespace().await;
    fixture.write((0..500).map(|second| event("s", second * 100, b"x")).collect()).await;
    fixture.server.take().unwrap().stop().await;
    let env = Env { clock: Arc::new(Hurrying::default()), ..Env::system() };
    fixture.server = Some(start_with(&fixture.home, &[], env).await);
    let interval = json!({"start": "1970-01-01T00:00:00Z", "end": "1970-01-02T00:00:00Z"});
    let read = json!({"namespace": NAMESPACE, "timeSeriesId": "s", "timeInterval": interval, "pageSize": 1000,
        "maxLatency": "3600s"});
    let mut count = read.clone();
    count["aggregationQuery"] = json!({"count": {}});
    for (method, body) in [
        ("ReadEventRecords", &read),
        ("SearchEventRecords", &read),
        ("ExplainRead", &read),
        ("AggregateEventRecords", &count),
    ] {
        // Of 20 s, one is left for the way.
        let cut = call(&fixture, method, Some("20000"), body).await;
        assert_eq!(cut["partial"]["reason"], "DEADLINE", "{method}: {cut}");
        assert_ne!(cut["next_page_token"], Value::Null, "{method}: {cut}");
        assert_eq!(cut["response_context"][0]["partial"], true, "{method}");
    }
    // Without one, the server's own limit of a minute is the deadline.
    let whole = call(&fixture, "ReadEventRecords", None, &read).await;
    assert_eq!(whole["partial"]["reason"], "DEADLINE", "{whole}");
    let few = json!({"namespace": NAMESPACE, "timeSeriesId": "s", "timeInterval": interval, "pageSize": 2,
        "order": "OLDEST_FIRST", "maxLatency": "3600s"});
    let page = call(&fixture, "ReadEventRecords", None, &few).await;
    assert_eq!((page["records"].as_array().unwrap().len(), &page["partial"]), (2, &Value::Null), "{page}");
    fixture.server.take().unwrap().stop().await;
}
