//! Plays of many seeds: `SIM_SEEDS=n` or `SIM_SEEDS=from..to`, or one with `SIM_SEED=n`, which also keeps its trace.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sim::play::{Counts, Ended, Plot, play};

/// Seeds that a plain run plays.
const SEEDS: u64 = 300;
/// One in so many is played twice.
const TWICE: u64 = 50;
const THREADS: usize = 2;
/// Of a hundred plays of splits so many do this at least.
const SHARES: [Share; 6] = [
    Share { what: "finish a split", percent: 95, of: |counts| counts.completed },
    Share { what: "finish a packed split", percent: 40, of: |counts| counts.completed_packed },
    Share { what: "count packed targets", percent: 5, of: |counts| counts.counted_packed },
    Share {
        what: "crash a worker in the middle of a step",
        percent: 30,
        of: |counts| counts.crashed_at_work,
    },
    Share { what: "change the route of a read between two pages", percent: 20, of: |counts| counts.switched },
    Share { what: "roll a read mode back", percent: 10, of: |counts| counts.rolled_back },
];
/// Lines of the trace of a single seed.
const LINES: usize = 4_000_000;

/// What a part of the plays of splits has to do.
struct Share {
    what: &'static str,
    percent: u64,
    of: fn(&Counts) -> u64,
}

/// How many plays of splits there were, and how many did what.
#[derive(Default)]
struct Tally {
    plays: u64,
    did: [u64; SHARES.len()],
}

impl Tally {
    fn add(&mut self, seed: u64, counts: &Counts) {
        if Plot::of(seed).splits {
            self.plays += 1;
            self.did
                .iter_mut()
                .zip(&SHARES)
                .for_each(|(did, share)| *did += u64::from((share.of)(counts) > 0));
        }
    }

    /// All of them in words, and those that too few plays did.
    fn told(&self) -> (Vec<String>, Vec<String>) {
        let told = self.did.iter().zip(&SHARES).map(|(did, share)| {
            let percent = did * 100 / self.plays.max(1);
            let text =
                format!("{did} of {} ({percent} %, wanted {} %) {}", self.plays, share.percent, share.what);
            (text, did * 100 < self.plays * share.percent)
        });
        let told: Vec<(String, bool)> = told.collect();
        let few = told.iter().filter(|(_, too_few)| *too_few).map(|(text, _)| text.clone()).collect();
        (told.into_iter().map(|(text, _)| text).collect(), few)
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("SIM_SEEDS") else { return 0..SEEDS };
    let parsed =
        |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("SIM_SEEDS is no number: {text}"));
    match text.split_once("..") {
        Some((from, to)) => parsed(from)..parsed(to),
        None => 0..parsed(&text),
    }
}

/// Plays a seed; what is wrong with it.
fn check(seed: u64, lines: usize) -> Result<Ended, String> {
    let replay = format!("replay it: SIM_SEED={seed} cargo test -p sim --test play -- --nocapture");
    let ended = play(seed, lines).map_err(|failure| format!("seed {seed}: {failure}\n  {replay}"))?;
    if lines == 0 && !ended.wrongs.is_empty() {
        return Err(format!("seed {seed}: {}\n  {replay}", ended.wrongs.join("\n  ")));
    }
    if lines == 0 && seed.is_multiple_of(TWICE) && play(seed, 0).ok().as_ref() != Some(&ended) {
        return Err(format!("seed {seed} does not repeat\n  {replay}"));
    }
    Ok(ended)
}

#[test]
fn no_seed_loses_an_acknowledged_event_and_all_ends_well() {
    if let Some(seed) = number("SIM_SEED") {
        let ended = check(seed, LINES).unwrap_or_else(|wrong| panic!("{wrong}"));
        let file = std::env::temp_dir().join(format!("sim-{seed}.trace"));
        std::fs::write(&file, ended.trace.join("\n")).expect("the trace is written");
        println!("{:?} in {:?}; trace: {}", ended.counts, ended.took, file.display());
        assert!(ended.wrongs.is_empty(), "seed {seed}: {}", ended.wrongs.join("\n  "));
        return;
    }
    let (seeds, next) = (seeds(), AtomicU64::new(0));
    let (sum, wrongs) = (Mutex::new((Counts::default(), Tally::default())), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let seed = seeds.start + next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            match check(seed, 0) {
                Ok(ended) => {
                    let mut sum = sum.lock().unwrap();
                    sum.0.add(&ended.counts);
                    sum.1.add(seed, &ended.counts);
                }
                Err(wrong) => {
                    println!("{wrong}");
                    wrongs.lock().unwrap().push(seed);
                }
            }
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(worker))));
    let (sum, tally) = sum.into_inner().unwrap();
    let (shares, too_few) = tally.told();
    println!("{} seeds: {sum:?}\n  {}", seeds.end - seeds.start, shares.join("\n  "));
    let wrongs = wrongs.into_inner().unwrap();
    assert!(
        wrongs.is_empty(),
        "{} of {} seeds went wrong: {wrongs:?}",
        wrongs.len(),
        seeds.end - seeds.start
    );
    if seeds.end - seeds.start >= SEEDS {
        assert!(sum.missing().is_empty(), "never seen: {:?}", sum.missing());
        assert!(too_few.is_empty(), "too few plays: {too_few:?}");
    }
}
