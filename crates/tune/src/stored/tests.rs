//! The stored forms: golden, round trip, damage.

use proptest::prelude::{any, prop_assert_eq, proptest};

use super::*;
use crate::Proposal;

const GOLDEN: &str = include_str!("../../golden/stored.txt");

fn sizes(seed: u64, count: u32) -> SizeHistogram {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut sizes = SizeHistogram::default();
    for _ in 0..count {
        let bits = random.u32(1..50);
        sizes.record(random.u64(..1 << bits));
    }
    sizes
}

fn observation(seed: u64) -> Observation {
    let sizes_of = |more| sizes(seed.wrapping_add(more), 9);
    Observation {
        table: "data_20260328".to_owned(),
        start: 1_774_656_000_000_000_000,
        seconds_per_slice: 86_400,
        seconds_per_bucket: 3_600,
        buckets_per_id: 4,
        covered_seconds: 86_400,
        observed: 1_774_743_000_000_000_000,
        quality: HistogramQuality::PerFile,
        source: "jolokia".to_owned(),
        nodes_missing: u32::try_from(seed % 3).unwrap(),
        summary: sizes_of(0).summary(),
        sizes: sizes_of(0),
        series: seed.is_multiple_of(2).then(|| SeriesSizes {
            counted: Counted::Partitions,
            series: seed,
            sampled: true,
            rungs: vec![
                Rung { seconds: 3_600, sizes: sizes_of(1) },
                Rung { seconds: 86_400, sizes: sizes_of(2) },
            ],
        }),
    }
}

fn proposal(seed: u64) -> Proposal {
    let shape = ShapeSpec { seconds_per_slice: 604_800, seconds_per_bucket: 60, buckets_per_id: 2 };
    let seen = Seen { p50: 5_000, p99: 9_000, max: 9_999, partitions: seed };
    Proposal {
        id: seed,
        state: State::Accepted,
        made: 1,
        confirmed: 2,
        first_slice: 3,
        draft: Draft {
            direction: Direction::Fewer,
            from: shape,
            to: ShapeSpec { seconds_per_bucket: 604_800, ..shape },
            density: Density::default(),
            observed: seen,
            predicted: Seen { p99: 4 << 20, ..seen },
            histogram: sizes(seed, 5),
            basis: Basis::Series,
            evidence: vec![("data_20260328".to_owned(), 9_000, 16_780)],
            quality: HistogramQuality::Exact,
            may_apply: true,
            limits: Limit::ALL.to_vec(),
        },
        settled: Some(Settled {
            time: 4,
            author: "ann".to_owned(),
            reason: "yes".to_owned(),
            effective: Some(5),
        }),
        outcome: Some(Outcome { slices: 2, seen }),
    }
}

#[test]
fn records_are_written_and_read_as_they_always_were() {
    let (observation, proposal) = (observation(4), proposal(7));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let written =
        format!("{}\n{}\n", text(observation.encode().unwrap()), text(proposal.encode(12).unwrap()));
    assert_eq!(written, GOLDEN);
    let mut lines = GOLDEN.lines();
    assert_eq!(Observation::decode(lines.next().unwrap().as_bytes()).unwrap(), observation);
    assert_eq!(Proposal::decode(lines.next().unwrap().as_bytes()).unwrap(), (proposal, 12));
}

#[test]
fn another_version_field_or_name_is_refused() {
    let refused = |from: &str, to: &str| {
        assert!(GOLDEN.contains(from), "{from}");
        let changed = GOLDEN.replace(from, to);
        let mut lines = changed.lines();
        let observation = Observation::decode(lines.next().unwrap().as_bytes());
        let proposal = Proposal::decode(lines.next().unwrap().as_bytes());
        assert!(observation.is_err() || proposal.is_err(), "{to}");
    };
    refused("\"version\":1", "\"version\":2");
    refused("\"observed\":1774743", "\"more\":1,\"observed\":1774743");
    refused("\"per_file\"", "\"best\"");
    refused("\"basis\":\"series\"", "\"basis\":\"luck\"");
    refused("\"step_cap\"", "\"mood\"");
    refused("\"sizes\":\"01", "\"sizes\":\"+1");
}

proptest! {
    #[test]
    fn stored_forms_read_back(seed in any::<u64>(), epoch in any::<u64>()) {
        let (observation, proposal) = (observation(seed), proposal(seed));
        prop_assert_eq!(Observation::decode(&observation.encode().unwrap()).unwrap(), observation);
        prop_assert_eq!(Proposal::decode(&proposal.encode(epoch).unwrap()).unwrap(), (proposal, epoch));
    }

    #[test]
    fn damaged_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), at in 0_usize..2_000) {
        let _whatever = (Observation::decode(&bytes), Proposal::decode(&bytes));
        let mut stored = observation(2).encode().unwrap();
        let at = at % stored.len();
        stored[at] ^= 1;
        let _whatever = Observation::decode(&stored);
    }
}
