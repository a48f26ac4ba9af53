//! Plans through the wire.

use api::admin::v1 as admin;

use crate::fixture::Fixture;

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn guess(low: f64, mid: f64, high: f64) -> Option<admin::Guess> {
    Some(admin::Guess { low: Some(low), mid, high: Some(high) })
}

/// An event in ten minutes, asked for by the minute.
fn request() -> admin::PlanNamespaceRequest {
    admin::PlanNamespaceRequest {
        events_per_second_per_id: guess(0.001, 0.0017, 0.003),
        ids: guess(50_000.0, 100_000.0, 200_000.0),
        skew: guess(0.2, 0.3, 0.5),
        event_bytes: guess(300.0, 500.0, 800.0),
        reads_per_second: guess(10.0, 100.0, 500.0),
        read_interval: seconds(60),
        retention: seconds(14 * 86_400),
        worlds: 16,
        ..admin::PlanNamespaceRequest::default()
    }
}

#[tokio::test]
async fn a_plan_is_made_twice_the_same_and_its_shape_can_be_made() {
    let fixture = Fixture::start(&[]).await;
    let plan = fixture.client.plan_namespace(request()).await.unwrap();
    assert_eq!(fixture.client.plan_namespace(plan.workload.unwrap()).await.unwrap(), plan);
    let workload = plan.workload.unwrap();
    assert_eq!((workload.replicas, workload.seed, workload.worlds), (3, 0, 16));
    let baseline = plan.baseline.unwrap();
    let rules = baseline.rules.unwrap();
    assert_eq!((rules.seconds_per_slice, rules.seconds_per_bucket, rules.buckets_per_id), (604_800, 60, 1));
    let chosen = plan.chosen.unwrap();
    let shape = chosen.shape.unwrap();
    assert!(shape.seconds_per_bucket >= 86_400, "{shape:?}");
    assert!(chosen.regret < baseline.choice.unwrap().regret);
    assert!(plan.runners_up.len() >= 3 && plan.runners_up.iter().all(|other| !other.reason.is_empty()));

    let namespace =
        admin::Namespace { name: "planned".to_owned(), shape: Some(shape), ..admin::Namespace::default() };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    let made = fixture.client.create_namespace(request).await.unwrap();
    assert_eq!(made.shape, Some(shape));
}

#[tokio::test]
async fn what_cannot_be_planned_is_explained() {
    type Change = fn(&mut admin::PlanNamespaceRequest);
    let cases: [(Change, &str); 10] = [
        (
            |request| request.retention = None,
            "retention: is missing: what is kept for ever outgrows every disk",
        ),
        (
            |request| request.events_per_second_per_id = guess(0.0, 0.0, 0.0),
            "without events there is nothing to plan",
        ),
        (|request| request.events_per_second_per_id = None, "events_per_second_per_id: is missing"),
        (|request| request.read_slo = seconds(0), "read_slo: is under a round trip"),
        (
            |request| request.ids = guess(9.0, 5.0, 10.0),
            "ids: low is 9, mid 5, high 10; give them in this order",
        ),
        (|request| request.event_bytes = guess(1.0, 2.0, 1e9), "event_bytes: is 1000000000 at its highest"),
        (|request| request.skew = guess(0.0, f64::NAN, 1.0), "skew: has a part that is not a number"),
        (|request| request.worlds = 100_000, "worlds: is 100000; choose 1 to 512"),
        (|request| request.read_interval = seconds(15 * 86_400), "read_interval: reaches further back"),
        (|request| request.ids = guess(1e9, 1e10, 1e10), "at the middle of every guess"),
    ];
    let fixture = Fixture::start(&[]).await;
    for (change, expect) in cases {
        let mut asked = request();
        change(&mut asked);
        let error = fixture.client.plan_namespace(asked).await.unwrap_err();
        assert_eq!(
            (error.code, error.reason.as_deref()),
            ("INVALID_ARGUMENT", Some("FIELD_INVALID")),
            "{expect}"
        );
        assert!(error.message.contains(expect), "{}", error.message);
    }
}
