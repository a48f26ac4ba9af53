//! A plan as it is shown.

use api::admin::v1::{PlanBaseline, PlanNamespaceRequest};

use super::*;

fn choice(bucket: u32, p99: f64) -> PlanChoice {
    let at = |p5, p50, p95| Some(Spread { p5, p50, p95 });
    PlanChoice {
        shape: Some(Shape { seconds_per_slice: 604_800, seconds_per_bucket: bucket, buckets_per_id: 1 }),
        cluster: Some(Cluster { nodes: 3, cores_per_node: 4, disk_gib_per_node: 400 }),
        regret: 0.166,
        partition_p50_bytes: at(500.0, 600.0, 700.0),
        partition_p99_bytes: at(p99 / 2.0, p99, p99 * 2.0),
        partition_max_bytes: at(2e9, 2e9, 2e9),
        partition_sizes: vec![
            PlanSizes { bytes_max: 512, share: 0.75 },
            PlanSizes { bytes_max: 1_024, share: 0.2496 },
            PlanSizes { bytes_max: 2_048, share: 0.0004 },
        ],
        partitions_per_read: at(1.0, 1.0, 1.0),
        split_ids_share: at(0.0, 0.000_02, 0.015),
        first_page_seconds: at(0.0016, 0.0016, 0.1),
        slow_reads_share: at(0.0, 0.0, 0.25),
        cores: at(0.3, 0.5, 133.2),
        disk_gib: at(193.0, 381.4, 885.0),
        tables: 5,
        worlds_short: 1,
    }
}

fn plan() -> PlanNamespaceResponse {
    let lost = PlanRunnerUp {
        shape: Some(Shape { seconds_per_slice: 86_400, seconds_per_bucket: 43_200, buckets_per_id: 2 }),
        reason: "a read asks 2.1 instead of 1.1 partitions".to_owned(),
        cluster: Some(Cluster { nodes: 6, cores_per_node: 4, disk_gib_per_node: 200 }),
        regret: 0.2,
        partition_p99_bytes: Some(Spread { p5: 1.0, p50: 2_048.0, p95: 3.0 }),
        partitions_per_read: Some(Spread { p5: 1.0, p50: 2.1, p95: 3.0 }),
        worlds_short: 7,
    };
    PlanNamespaceResponse {
        workload: Some(PlanNamespaceRequest { worlds: 128, seed: 7, ..PlanNamespaceRequest::default() }),
        chosen: Some(choice(604_800, 1_417_814.0)),
        baseline: Some(PlanBaseline {
            choice: Some(choice(60, 641.0)),
            reason: "partitions become smaller than they need to be".to_owned(),
            ..PlanBaseline::default()
        }),
        runners_up: vec![lost],
        notes: vec!["in 1 of 128 worlds the cluster is too small".to_owned()],
    }
}

#[test]
fn a_plan_for_people() {
    let expect = "\
A plan from 128 worlds, seed 7.

                 CHOSEN                         BASELINE
slice            7d                             7d
bucket           7d                             1m
buckets/id       1                              1
nodes            3                              3
cores a node     4                              4
disk a node      400 GiB                        400 GiB
regret           0.17                           0.17
too small in     1 of 128 worlds                1 of 128 worlds
tables           5                              5
partition p50    600 B (500 B - 700 B)          600 B (500 B - 700 B)
partition p99    1.4 MiB (692.3 KiB - 2.7 MiB)  641 B (320 B - 1.3 KiB)
partition max    1.9 GiB                        1.9 GiB
partitions/read  1.0                            1.0
ids to split     0.002% (0% - 1.5%)             0.002% (0% - 1.5%)
first page       1.6 ms (1.6 ms - 100.0 ms)     1.6 ms (1.6 ms - 100.0 ms)
pages over SLO   0% (0% - 25%)                  0% (0% - 25%)
cores needed     0.5 (0.3 - 133)                0.5 (0.3 - 133)
disk needed      381 GiB (193 GiB - 885 GiB)    381 GiB (193 GiB - 885 GiB)

The baseline lost because partitions become smaller than they need to be.

Sizes of partitions, as chosen:
  up to 512 B    75%  ##############################
  up to 1.0 KiB  25%  ##########

What else was looked at:
SLICE  BUCKET  BUCKETS/ID  NODES  CORES  DISK     REGRET  P99      READ  LOST BECAUSE
1d     12h     2           6      4      200 GiB  0.20    2.0 KiB  2.1   a read asks 2.1 instead of 1.1 partitions

note: in 1 of 128 worlds the cluster is too small
";
    assert_eq!(planned(&plan(), None), expect);
}

#[test]
fn without_a_baseline_there_is_none_to_lose() {
    let text = planned(&PlanNamespaceResponse { baseline: None, ..plan() }, None);
    assert!(!text.contains("BASELINE") && !text.contains("baseline"), "{text}");
}

#[test]
fn a_list_has_the_choice_the_baseline_and_the_others() {
    let plan = plan();
    let rows = plan_rows(&plan);
    let reasons: Vec<&str> = rows.iter().map(|row| row.reason.as_str()).collect();
    let baseline = "baseline: partitions become smaller than they need to be";
    assert_eq!(reasons, ["chosen", baseline, "a read asks 2.1 instead of 1.1 partitions"]);
    let line = PlanRecord(&rows[0]).lines().concat();
    assert_eq!(line.join(","), "604800,604800,1,3,4,400,0.166,1417814,1,1,chosen");
    assert_eq!(line.len(), PlanRecord::FIELDS.len());
    assert_eq!(PlanRecord(&rows[0]).row().len(), PlanRecord::COLUMNS.len());
}
