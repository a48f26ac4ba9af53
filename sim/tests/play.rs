//! Plays of many seeds: `SIM_SEEDS=n` or `SIM_SEEDS=from..to`, or one with `SIM_SEED=n`, which also keeps its trace.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sim::play::{Counts, Ended, play};

/// Seeds that a plain run plays.
const SEEDS: u64 = 300;
/// One in so many is played twice.
const TWICE: u64 = 50;
const THREADS: usize = 2;
/// Lines of the trace of a single seed.
const LINES: usize = 4_000_000;

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
    let (sum, wrongs) = (Mutex::new(Counts::default()), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let seed = seeds.start + next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            match check(seed, 0) {
                Ok(ended) => sum.lock().unwrap().add(&ended.counts),
                Err(wrong) => {
                    println!("{wrong}");
                    wrongs.lock().unwrap().push(seed);
                }
            }
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(worker))));
    let sum = sum.into_inner().unwrap();
    println!("{} seeds: {sum:?}", seeds.end - seeds.start);
    let wrongs = wrongs.into_inner().unwrap();
    assert!(
        wrongs.is_empty(),
        "{} of {} seeds went wrong: {wrongs:?}",
        wrongs.len(),
        seeds.end - seeds.start
    );
    if seeds.end - seeds.start >= SEEDS {
        assert!(sum.missing().is_empty(), "never seen: {:?}", sum.missing());
    }
}
