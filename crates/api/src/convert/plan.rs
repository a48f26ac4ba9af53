//! Plans: a guess of a workload as it is asked for, and what was made of it.

use std::time::Duration;

use engine::{Error, Result};
use model::ShapeSpec;
use provision::{Choice, Cluster, Guess, Plan, Refusal, RunnerUp, Spread, WORLDS_DEFAULT, Workload};

use super::time::{duration_from_wire, duration_to_wire};
use crate::admin::v1;

/// What a namespace's reads are meant to take, where nobody says.
const READ_SLO: Duration = Duration::from_millis(500);
const REPLICAS: u32 = 3;

/// The workload that a request describes; what is absent has its default. Whether it can be planned for is not judged here.
pub fn plan_request(wire: &v1::PlanNamespaceRequest) -> Result<Workload> {
    let needed = |field: &str, guess: Option<v1::Guess>| {
        let missing = || Error::field(field, "is missing; give at least its mid");
        guess.map(guess_from_wire).ok_or_else(missing)
    };
    let or_zero = |guess: Option<v1::Guess>| guess.map_or(Guess::exactly(0.0), guess_from_wire);
    let duration = |field: &str, wire: Option<prost_types::Duration>| {
        wire.map_or(Ok(Duration::ZERO), |wire| duration_from_wire(field, wire))
    };
    Ok(Workload {
        events_per_second_per_id: needed("events_per_second_per_id", wire.events_per_second_per_id)?,
        ids: needed("ids", wire.ids)?,
        skew: or_zero(wire.skew),
        event_bytes: needed("event_bytes", wire.event_bytes)?,
        reads_per_second: or_zero(wire.reads_per_second),
        read_interval: duration("read_interval", wire.read_interval)?,
        retention: duration("retention", wire.retention)?,
        read_slo: match wire.read_slo {
            Some(slo) => duration_from_wire("read_slo", slo)?,
            None => READ_SLO,
        },
        replicas: if wire.replicas == 0 { REPLICAS } else { wire.replicas },
        seed: wire.seed,
        worlds: if wire.worlds == 0 { WORLDS_DEFAULT } else { wire.worlds },
    })
}

/// Why a workload is not planned for.
pub fn refused(refusal: Refusal) -> Error {
    Error::field(refusal.field, refusal.problem)
}

/// A plan as it is shown, with what it was made for.
pub fn plan_response(workload: &Workload, plan: Plan) -> v1::PlanNamespaceResponse {
    let baseline = plan.baseline.ok().map(|baseline| v1::PlanBaseline {
        rules: Some(v1::Shape {
            seconds_per_slice: baseline.rules.seconds_per_slice,
            seconds_per_bucket: baseline.rules.seconds_per_bucket,
            buckets_per_id: u32::from(baseline.rules.buckets_per_id),
        }),
        rotation_seconds: baseline.rules.rotation_seconds,
        read_amplification: baseline.rules.read_amplification,
        choice: Some(choice_to_wire(baseline.choice)),
        reason: baseline.reason,
    });
    v1::PlanNamespaceResponse {
        workload: Some(workload_to_wire(workload)),
        chosen: Some(choice_to_wire(plan.chosen)),
        baseline,
        runners_up: plan.runners_up.into_iter().map(runner_up_to_wire).collect(),
        notes: plan.notes,
    }
}

fn workload_to_wire(workload: &Workload) -> v1::PlanNamespaceRequest {
    let guess =
        |guess: Guess| Some(v1::Guess { low: Some(guess.low), mid: guess.mid, high: Some(guess.high) });
    v1::PlanNamespaceRequest {
        events_per_second_per_id: guess(workload.events_per_second_per_id),
        ids: guess(workload.ids),
        skew: guess(workload.skew),
        event_bytes: guess(workload.event_bytes),
        reads_per_second: guess(workload.reads_per_second),
        read_interval: Some(duration_to_wire(workload.read_interval)),
        retention: Some(duration_to_wire(workload.retention)),
        read_slo: Some(duration_to_wire(workload.read_slo)),
        seed: workload.seed,
        worlds: workload.worlds,
        replicas: workload.replicas,
    }
}

fn guess_from_wire(wire: v1::Guess) -> Guess {
    Guess { low: wire.low.unwrap_or(wire.mid), mid: wire.mid, high: wire.high.unwrap_or(wire.mid) }
}

fn choice_to_wire(choice: Choice) -> v1::PlanChoice {
    let Choice { shape, cluster, regret, forecast } = choice;
    let sizes = forecast.partition_sizes.into_iter().map(|size| v1::PlanSizes {
        bytes_max: i64::try_from(size.bytes_max).unwrap_or(i64::MAX),
        share: size.share,
    });
    v1::PlanChoice {
        shape: Some(shape_to_wire(shape)),
        cluster: Some(cluster_to_wire(cluster)),
        regret,
        partition_p50_bytes: spread_to_wire(forecast.partition_p50_bytes),
        partition_p99_bytes: spread_to_wire(forecast.partition_p99_bytes),
        partition_max_bytes: spread_to_wire(forecast.partition_max_bytes),
        partition_sizes: sizes.collect(),
        partitions_per_read: spread_to_wire(forecast.partitions_per_read),
        split_ids_share: spread_to_wire(forecast.split_ids_share),
        first_page_seconds: spread_to_wire(forecast.first_page_seconds),
        slow_reads_share: spread_to_wire(forecast.slow_reads_share),
        cores: spread_to_wire(forecast.cores),
        disk_gib: spread_to_wire(forecast.disk_gib),
        tables: forecast.tables,
        worlds_short: forecast.worlds_short,
    }
}

fn runner_up_to_wire(runner_up: RunnerUp) -> v1::PlanRunnerUp {
    let RunnerUp { choice, reason } = runner_up;
    v1::PlanRunnerUp {
        shape: Some(shape_to_wire(choice.shape)),
        reason,
        cluster: Some(cluster_to_wire(choice.cluster)),
        regret: choice.regret,
        partition_p99_bytes: spread_to_wire(choice.forecast.partition_p99_bytes),
        partitions_per_read: spread_to_wire(choice.forecast.partitions_per_read),
        worlds_short: choice.forecast.worlds_short,
    }
}

fn shape_to_wire(shape: ShapeSpec) -> v1::Shape {
    v1::Shape {
        seconds_per_slice: shape.seconds_per_slice,
        seconds_per_bucket: shape.seconds_per_bucket,
        buckets_per_id: u32::from(shape.buckets_per_id),
    }
}

fn cluster_to_wire(cluster: Cluster) -> v1::Cluster {
    let Cluster { nodes, cores_per_node, disk_gib_per_node } = cluster;
    v1::Cluster { nodes, cores_per_node, disk_gib_per_node }
}

fn spread_to_wire(spread: Spread) -> Option<v1::Spread> {
    let Spread { p5, p50, p95 } = spread;
    Some(v1::Spread { p5, p50, p95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(mid: f64) -> Option<v1::Guess> {
        Some(v1::Guess { low: None, mid, high: None })
    }

    fn least() -> v1::PlanNamespaceRequest {
        v1::PlanNamespaceRequest {
            events_per_second_per_id: guess(0.5),
            ids: Some(v1::Guess { low: Some(10.0), mid: 100.0, high: Some(200.0) }),
            event_bytes: guess(300.0),
            read_interval: Some(duration_to_wire(Duration::from_secs(3_600))),
            retention: Some(duration_to_wire(Duration::from_secs(86_400))),
            ..v1::PlanNamespaceRequest::default()
        }
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let found = plan_request(&least()).unwrap();
        let expect = Workload {
            events_per_second_per_id: Guess::exactly(0.5),
            ids: Guess { low: 10.0, mid: 100.0, high: 200.0 },
            skew: Guess::exactly(0.0),
            event_bytes: Guess::exactly(300.0),
            reads_per_second: Guess::exactly(0.0),
            read_interval: Duration::from_secs(3_600),
            retention: Duration::from_secs(86_400),
            read_slo: Duration::from_millis(500),
            replicas: 3,
            seed: 0,
            worlds: 128,
        };
        assert_eq!(found, expect);
        // An SLO of nothing is not the same as none: it is under a round trip.
        let none = v1::PlanNamespaceRequest { read_slo: Some(prost_types::Duration::default()), ..least() };
        assert_eq!(plan_request(&none).unwrap().read_slo, Duration::ZERO);
    }

    #[test]
    fn what_has_no_default_is_asked_for() {
        let refused = |change: fn(&mut v1::PlanNamespaceRequest)| {
            let mut wire = least();
            change(&mut wire);
            plan_request(&wire).unwrap_err().to_string()
        };
        assert_eq!(refused(|wire| wire.ids = None), "ids: is missing; give at least its mid");
        assert!(
            refused(|wire| wire.events_per_second_per_id = None).starts_with("events_per_second_per_id: ")
        );
        assert!(refused(|wire| wire.event_bytes = None).starts_with("event_bytes: is missing"));
        let negative = |wire: &mut v1::PlanNamespaceRequest| {
            wire.retention = Some(prost_types::Duration { seconds: -1, nanos: 0 });
        };
        assert!(refused(negative).starts_with("retention: "));
    }

    #[test]
    fn a_plan_says_what_it_was_made_for_and_can_be_made_again() {
        let workload = Workload { worlds: 4, seed: 7, ..plan_request(&least()).unwrap() };
        let shown = plan_response(&workload, provision::plan(&workload).unwrap());
        let again = plan_request(shown.workload.as_ref().unwrap()).unwrap();
        assert_eq!(again, workload);
        assert_eq!(plan_response(&again, provision::plan(&again).unwrap()), shown);
        let chosen = shown.chosen.unwrap();
        assert!(chosen.shape.unwrap().seconds_per_slice >= 3_600 && chosen.cluster.unwrap().nodes >= 3);
        assert!(!chosen.partition_sizes.is_empty() && !shown.runners_up.is_empty());
        assert_eq!(shown.baseline.unwrap().rules.unwrap().seconds_per_bucket, 3_600);
    }
}
