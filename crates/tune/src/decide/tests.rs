//! Decisions as data: what was seen, what is proposed.

use model::{HistogramQuality, PartitionKey, SeriesId};

use super::*;
use crate::{Counted, Proposal, Walk};

const SECOND: i64 = model::time::NANOS_PER_SECOND;
const DAY: u32 = 86_400;
const WEEK: u32 = 7 * DAY;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A slice of `series` with so many filled time buckets each, of so many bytes per partition.
fn slice(at: i64, shape: ShapeSpec, series: &[(u32, u64)]) -> Observation {
    let mut walk = Walk::new(Counted::Bytes, 1 << 18);
    let buckets = shape.seconds_per_slice / shape.seconds_per_bucket;
    for (number, (filled, bytes)) in series.iter().enumerate() {
        for bucket in 0..(*filled).min(buckets) {
            // Spread over the slice.
            let time_bucket = bucket * (buckets / (*filled).min(buckets));
            for event_bucket in 0..u32::from(shape.buckets_per_id) {
                let series = SeriesId::new(&format!("s{number}")).unwrap();
                walk.add(&PartitionKey { series, time_bucket, event_bucket }, *bytes);
            }
        }
    }
    let width = shape.seconds_per_slice;
    let (sizes, series) = walk.finish(width, shape.seconds_per_bucket, width);
    Observation {
        table: format!("data_{at}"),
        start: at * i64::from(width) * SECOND,
        seconds_per_slice: width,
        seconds_per_bucket: shape.seconds_per_bucket,
        buckets_per_id: shape.buckets_per_id,
        covered_seconds: width,
        observed: (at + 1) * i64::from(width) * SECOND,
        quality: HistogramQuality::Exact,
        source: "scan".to_owned(),
        nodes_missing: 0,
        summary: sizes.summary(),
        sizes,
        series: Some(series),
    }
}

fn shape(slice: u32, bucket: u32, buckets: u16) -> ShapeSpec {
    ShapeSpec { seconds_per_slice: slice, seconds_per_bucket: bucket, buckets_per_id: buckets }
}

fn decided(observations: &[Observation], shape: ShapeSpec) -> Decision {
    let now = observations.iter().map(|seen| seen.observed).max().unwrap_or(0);
    decide(&Situation { density: Density::default(), shape, observations, changes: &[], rejected: &[], now })
}

fn draft(observations: &[Observation], shape: ShapeSpec) -> Draft {
    match decided(observations, shape) {
        Decision::Propose(draft) => *draft,
        Decision::Leave(finding) => panic!("{finding:?}"),
    }
}

fn finding(observations: &[Observation], shape: ShapeSpec) -> Finding {
    match decided(observations, shape) {
        Decision::Leave(finding) => finding,
        Decision::Propose(draft) => panic!("{draft:?}"),
    }
}

#[test]
fn the_published_case() {
    // Minutes of at most 9 KB, in a slice of a week of which each id uses a twentieth.
    let minute = shape(WEEK, 60, 1);
    let series: Vec<(u32, u64)> = (0..40).map(|at| (400 + at, 5_000 + u64::from(at) * 100)).collect();
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, minute, &series)).collect();
    assert!(seen[0].summary.max < 10_000);
    let draft = draft(&seen, minute);
    assert_eq!((draft.to.seconds_per_bucket, draft.to.buckets_per_id), (604_800, 1));
    assert_eq!((draft.direction, draft.basis, draft.may_apply), (Direction::Fewer, Basis::Series, true));
    assert!(draft.predicted.p99 > 3 * MIB && draft.predicted.p99 <= 8 * MIB, "{:?}", draft.predicted);
    assert_eq!((draft.observed.partitions, draft.predicted.partitions), (16_780, 40));
    let text = Proposal::new(1, draft, 0, 0).rendered("my_dataset_1", "data_20260328");
    assert_eq!(text, include_str!("../../golden/proposal.txt"));
}

#[test]
fn the_widest_bucket_that_stays_inside_the_density() {
    // Full minutes of 8 KB are 11.25 MiB a day.
    let minute = shape(DAY, 60, 1);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, minute, &[(1_440, 8 * KIB); 20])).collect();
    let draft = draft(&seen, minute);
    assert_eq!((draft.to.seconds_per_bucket, draft.limits.as_slice()), (43_200, &[Limit::Density][..]));
    assert!((5 * MIB..=7 * MIB).contains(&draft.predicted.p99), "{:?}", draft.predicted);
}

#[test]
fn event_buckets_come_last_and_in_steps() {
    // A whole day of 400 KB in eight event buckets.
    let day = shape(DAY, DAY, 8);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, day, &[(1, 50 * KIB); 20])).collect();
    let to = draft(&seen, day);
    assert_eq!((to.to.seconds_per_bucket, to.to.buckets_per_id), (DAY, 4));
    assert_eq!(to.limits, [Limit::WholeSlice, Limit::StepCap]);
    // And up: one bucket of a minute with 30 MiB.
    let minute = shape(3_600, 60, 1);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, minute, &[(60, 30 * MIB); 4])).collect();
    let to = draft(&seen, minute);
    assert_eq!((to.to.seconds_per_bucket, to.to.buckets_per_id), (60, 2));
    assert_eq!(to.limits, [Limit::NarrowestBucket, Limit::StepCap]);
}

#[test]
fn under_partitioned_slices_get_narrower_buckets_within_a_step() {
    let day = shape(DAY, DAY, 2);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, day, &[(1, 20 * MIB); 60])).collect();
    let to = draft(&seen, day);
    assert_eq!((to.direction, to.to.seconds_per_bucket, to.to.buckets_per_id), (Direction::More, 28_800, 2));
    assert_eq!((to.basis, to.limits.len()), (Basis::Scaled, 0));
    // A gigabyte would need more than one step may do.
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, day, &[(1, 1_024 * MIB); 60])).collect();
    let to = draft(&seen, day);
    assert_eq!((to.to.seconds_per_bucket, to.to.buckets_per_id), (10_800, 4));
    assert_eq!(to.limits, [Limit::StepCap]);
}

#[test]
fn few_wide_ids_point_at_splitting() {
    let hour = shape(DAY, 3_600, 1);
    let mut series = vec![(24, 3 * MIB); 97];
    series.extend([(24, 80 * MIB); 3]);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, hour, &series)).collect();
    let found = finding(&seen, hour);
    assert!(matches!(found, Finding::Outliers { wide: 72, .. }), "{found:?}");
    assert!(found.to_string().contains("split"), "{found}");
}

#[test]
fn nothing_is_proposed_without_enough_fresh_evidence() {
    let hour = shape(DAY, 3_600, 1);
    assert_eq!(finding(&[], hour), Finding::NoHistogram);
    let small = |at| slice(at, hour, &[(24, KIB); 10]);
    let two = [small(0), small(1)];
    assert_eq!(finding(&two, hour), Finding::LittleEvidence { slices: 2, partitions: 480 });
    let few: Vec<Observation> = (0..4).map(|at| slice(at, hour, &[(24, KIB)])).collect();
    assert_eq!(finding(&few, hour), Finding::LittleEvidence { slices: 4, partitions: 96 });
    // Of another shape, nothing is known.
    let three = [small(0), small(1), small(2)];
    assert_eq!(finding(&three, shape(DAY, 7_200, 1)), Finding::LittleEvidence { slices: 0, partitions: 0 });
    let later = Situation {
        density: Density::default(),
        shape: hour,
        observations: &three,
        changes: &[],
        rejected: &[],
        now: three[2].observed + 4 * i64::from(DAY) * SECOND,
    };
    let found = decide(&later);
    assert_eq!(found, Decision::Leave(Finding::StaleHistogram { age_seconds: 4 * 86_400 }));
    assert!(matches!(&found, Decision::Leave(found) if found.to_string().contains("4 days old")));
}

#[test]
fn closed_buckets_of_a_long_open_slice_are_enough() {
    let hour = shape(30 * DAY, 3_600, 1);
    let open = |days: u32| {
        let mut seen = slice(0, hour, &[(720, 4 * KIB); 10]);
        let mut walk = Walk::new(Counted::Bytes, 1 << 18);
        for series in 0..10 {
            for time_bucket in 0..days * 24 {
                let series = SeriesId::new(&format!("s{series}")).unwrap();
                walk.add(&PartitionKey { series, time_bucket, event_bucket: 0 }, 4 * KIB);
            }
        }
        let (sizes, series) = walk.finish(30 * DAY, 3_600, days * DAY);
        (seen.summary, seen.sizes, seen.series) = (sizes.summary(), sizes, Some(series));
        seen.covered_seconds = days * DAY;
        seen
    };
    assert!(matches!(finding(&[open(2)], hour), Finding::LittleEvidence { slices: 0, .. }));
    let to = draft(&[open(3)], hour);
    // 2.8 MiB a month: the whole slice.
    assert_eq!((to.to.seconds_per_bucket, to.basis), (30 * DAY, Basis::Scaled));
}

#[test]
fn estimates_may_propose_and_never_apply() {
    let hour = shape(DAY, 3_600, 1);
    let mut seen: Vec<Observation> = (0..3).map(|at| slice(at, hour, &[(24, KIB); 10])).collect();
    assert!(draft(&seen, hour).may_apply);
    seen[1].quality = HistogramQuality::PerFile;
    assert!(draft(&seen, hour).may_apply);
    seen[1].nodes_missing = 1;
    assert!(!draft(&seen, hour).may_apply);
    (seen[1].nodes_missing, seen[2].quality) = (0, HistogramQuality::Estimated);
    let draft = draft(&seen, hour);
    assert_eq!((draft.may_apply, draft.quality), (false, HistogramQuality::Estimated));
}

#[test]
fn one_large_slice_changes_nothing() {
    let hour = shape(DAY, 3_600, 1);
    let of = |at, bytes| slice(at, hour, &[(24, bytes); 10]);
    let burst = [of(0, 5 * MIB), of(1, 5 * MIB), of(2, 200 * MIB)];
    assert!(matches!(finding(&burst, hour), Finding::InWindow { .. }));
    let lasting = [of(0, 5 * MIB), of(1, 40 * MIB), of(2, 40 * MIB)];
    assert_eq!(draft(&lasting, hour).direction, Direction::More);
}

#[test]
fn what_was_rejected_comes_again_only_when_sizes_have_changed() {
    let hour = shape(DAY, 3_600, 1);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, hour, &[(24, 10 * KIB); 10])).collect();
    let to = draft(&seen, hour);
    let again = |p99| {
        let rejected = [(7, to.to, p99)];
        let now = seen[2].observed;
        let (density, changes) = (Density::default(), &[][..]);
        decide(&Situation { density, shape: hour, observations: &seen, changes, rejected: &rejected, now })
    };
    assert_eq!(again(to.observed.p99), Decision::Leave(Finding::Rejected { id: 7 }));
    assert!(matches!(again(to.observed.p99 * 2), Decision::Propose(_)));
}

#[test]
fn the_smallest_there_can_be_is_left_alone() {
    let day = shape(DAY, DAY, 1);
    let seen: Vec<Observation> = (0..3).map(|at| slice(at, day, &[(1, KIB); 60])).collect();
    assert!(matches!(finding(&seen, day), Finding::AtLimit { .. }));
}
