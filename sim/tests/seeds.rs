//! Seeds that once went wrong, with what they found. `docs/simulation.md` has the stories.

use sim::play::play;

const SEEDS: &[(u64, &str)] = &[
    (85, "a namespace was made again while the one before still left"),
    (187, "a server without a lease used an accept limit that counted for nobody else"),
    (290, "a slice was being made for ever"),
];

#[test]
fn seeds_that_once_went_wrong_go_well() {
    for (seed, story) in SEEDS {
        let ended = play(*seed, 0).unwrap_or_else(|failure| panic!("seed {seed} ({story}): {failure}"));
        assert!(ended.wrongs.is_empty(), "seed {seed} ({story}): {}", ended.wrongs.join("\n  "));
    }
}
