//! Plans for workloads that people have, and laws that hold for all.

use std::fmt::Write;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Guess;
use crate::forecast::Spread;
use crate::workload::tests::sensors;

const fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3_600)
}

/// Known within a factor of one and a half.
fn about(mid: f64) -> Guess {
    Guess { low: mid / 1.5, mid, high: mid * 1.5 }
}

/// The two published examples, with what they leave open.
fn published(interval: u64, retention: u64, events_per_day: f64, event_bytes: f64) -> Workload {
    Workload {
        events_per_second_per_id: about(events_per_day / 86_400.0),
        event_bytes: about(event_bytes),
        ids: about(100_000.0),
        skew: about(0.5),
        reads_per_second: about(100.0),
        read_interval: hours(interval),
        retention: hours(retention),
        ..sensors()
    }
}

/// An event in ten minutes, asked for by the minute: the published rules make buckets of a minute.
fn by_the_minute() -> Workload {
    Workload {
        events_per_second_per_id: about(1.0 / 600.0),
        ids: about(1e5),
        skew: about(0.3),
        event_bytes: about(500.0),
        read_interval: Duration::from_secs(60),
        retention: hours(14 * 24),
        ..sensors()
    }
}

/// Three series with very many events.
fn firehose() -> Workload {
    Workload {
        events_per_second_per_id: about(30_000.0),
        ids: Guess::exactly(3.0),
        skew: Guess::exactly(0.0),
        event_bytes: about(200.0),
        reads_per_second: about(1.0),
        read_interval: Duration::from_secs(60),
        retention: hours(48),
        ..sensors()
    }
}

fn workloads() -> Vec<(&'static str, Workload)> {
    vec![
        ("sensors", sensors()),
        ("sensors on one machine", Workload { replicas: 1, ids: about(1_000.0), ..sensors() }),
        ("published, a year", published(10, 360 * 24, 10.0, 10_000.0)),
        ("published, four days", published(24, 96, 1_000.0, 20_000.0)),
        ("by the minute", by_the_minute()),
        ("firehose", firehose()),
        ("an hour", Workload { retention: hours(1), ..sensors() }),
    ]
}

/// Coarse enough for every machine's logarithm.
fn line(choice: &Choice) -> String {
    let Choice { shape, cluster, forecast, .. } = choice;
    let spread = |spread: &Spread, unit: f64| {
        [spread.p5, spread.p50, spread.p95].map(|value| format!("{:.1}", value / unit)).join("/")
    };
    format!(
        "slice {}h bucket {}m x{} on {} x ({} cores, {} GiB); p99 {} KiB, {} partitions a read, {:.2} % split, {} short",
        shape.seconds_per_slice / 3_600,
        shape.seconds_per_bucket / 60,
        shape.buckets_per_id,
        cluster.nodes,
        cluster.cores_per_node,
        cluster.disk_gib_per_node,
        spread(&forecast.partition_p99_bytes, 1_024.0),
        spread(&forecast.partitions_per_read, 1.0),
        forecast.split_ids_share.p50 * 100.0,
        forecast.worlds_short,
    )
}

#[test]
fn plans_stay_what_they_are() {
    let mut text = String::new();
    for (name, workload) in workloads() {
        let plan = plan(&workload).unwrap();
        writeln!(text, "{name}\n  chosen: {}", line(&plan.chosen)).unwrap();
        match &plan.baseline {
            Ok(baseline) => {
                writeln!(text, "  baseline: {}\n    {}", line(&baseline.choice), baseline.reason).unwrap();
            }
            Err(refusal) => writeln!(text, "  no baseline: {refusal}").unwrap(),
        }
        for other in &plan.runners_up {
            writeln!(text, "  {}\n    {}", line(&other.choice), other.reason).unwrap();
        }
        for note in &plan.notes {
            writeln!(text, "  note: {note}").unwrap();
        }
    }
    assert_eq!(text, include_str!("../../golden/plans.txt"), "{text}");
}

#[test]
fn the_baseline_is_what_was_published() {
    let year = plan(&published(10, 360 * 24, 10.0, 10_000.0)).unwrap().baseline.unwrap().rules;
    assert_eq!(
        (year.seconds_per_slice, year.seconds_per_bucket, year.buckets_per_id),
        (15_552_000, 36_000, 1)
    );
    assert_eq!(year.read_amplification, 1);
    let days = plan(&published(24, 96, 1_000.0, 20_000.0)).unwrap().baseline.unwrap().rules;
    assert_eq!((days.seconds_per_slice, days.seconds_per_bucket, days.buckets_per_id), (86_400, 86_400, 5));
    assert_eq!((days.rotation_seconds, days.read_amplification), (5, 5));
}

#[test]
fn buckets_are_not_cut_to_the_read_where_that_leaves_crumbs() {
    let plan = plan(&by_the_minute()).unwrap();
    let baseline = plan.baseline.unwrap();
    assert_eq!(baseline.choice.shape.seconds_per_bucket, 60);
    assert!(baseline.choice.forecast.partition_p99_bytes.p50 < 10_240.0);
    assert!(baseline.reason.contains("smaller than they need to be"), "{}", baseline.reason);
    assert!(plan.chosen.shape.seconds_per_bucket >= 86_400, "{:?}", plan.chosen.shape);
    assert!(plan.chosen.regret < baseline.choice.regret / 2.0);
}

#[test]
fn a_few_busy_series_are_spread_over_event_buckets() {
    let plan = plan(&firehose()).unwrap();
    assert!(plan.chosen.shape.buckets_per_id >= 4, "{:?}", plan.chosen.shape);
}

#[test]
fn what_fits_no_cluster_is_explained() {
    let refused = |workload: Workload| plan(&workload).unwrap_err().to_string();
    let busy = Workload { ids: about(5.0), events_per_second_per_id: about(20_000.0), ..sensors() };
    let read = Workload { retention: hours(24), ..busy };
    let said = refused(read);
    assert!(said.starts_with("reads_per_second: at the middle of every guess "), "{said}");
    assert!(said.ends_with("read less often or a shorter interval"), "{said}");
    let kept = Workload { ids: about(1e9), retention: hours(9 * 365 * 24), ..sensors() };
    let said = refused(kept);
    assert!(
        said.starts_with("ids: ") && said.contains("largest cluster of 3 replicas has 6144 and 245760"),
        "{said}"
    );
    assert_eq!(refused(Workload { worlds: 0, ..sensors() }), "worlds: is 0; choose 1 to 512, 128 are plenty");
}

#[test]
fn a_seed_decides() {
    let short = Workload { worlds: 16, ..sensors() };
    assert_eq!(plan(&short), plan(&short));
    assert_ne!(
        plan(&short).unwrap().chosen.forecast,
        plan(&Workload { seed: 8, ..short }).unwrap().chosen.forecast
    );
}

prop_compose! {
    fn any_guess(from: f64, to: f64)(
        mid in from.ln()..to.ln(), under in 1.0_f64..30.0, over in 1.0_f64..30.0,
    ) -> Guess {
        let mid = mid.exp();
        Guess { low: mid / under, mid, high: mid * over }
    }
}

prop_compose! {
    fn any_workload()(
        events_per_second_per_id in any_guess(1e-5, 10.0), ids in any_guess(100.0, 1e6), skew in any_guess(0.01, 0.1),
        event_bytes in any_guess(40.0, 1e5), reads_per_second in any_guess(0.1, 1e3),
        interval in 1_u64..100_000, retention in 3_600_u64..300_000_000, slo in 1_u64..1_000, replicas in 1_u32..=5, seed: u64,
    ) -> Workload {
        Workload {
            events_per_second_per_id, ids, skew, event_bytes, reads_per_second,
            read_interval: Duration::from_secs(interval.min(retention)),
            retention: Duration::from_secs(retention),
            read_slo: Duration::from_millis(slo),
            replicas, seed, worlds: 4,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is guessed, it is planned well or refused.
    #[test]
    fn nothing_that_is_shown_beats_the_choice(workload in any_workload()) {
        let Ok(plan) = plan(&workload) else { return Ok(()) };
        prop_assert!(plan.chosen.shape.freeze().is_ok());
        prop_assert!(plan.chosen.regret.is_finite() && plan.chosen.regret >= 0.0);
        for other in &plan.runners_up {
            prop_assert!(other.choice.regret >= plan.chosen.regret, "{:?}", other);
            prop_assert!(!other.reason.is_empty());
            prop_assert!(other.choice.shape.freeze().is_ok());
        }
        let shares: f64 = plan.chosen.forecast.partition_sizes.iter().map(|size| size.share).sum();
        prop_assert!((shares - 1.0).abs() < 1e-6);
        if let Ok(baseline) = &plan.baseline {
            prop_assert!(baseline.choice.shape.freeze().is_ok());
        }
    }
}
