//! [`Trace`]: everything that happened in a run, as one number.
//!
//! Whoever does something that another run of the seed must do too records it here with the simulated time. The lines
//! themselves are kept only where somebody asked, and then the last ones. Invariant: two traces are equal only if the
//! same lines were recorded in the same order (but for a collision of 64 bits).

use std::collections::VecDeque;
use std::fmt::{Arguments, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What happened so far. Clones share it.
#[derive(Clone, Default)]
pub struct Trace {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    hash: u64,
    events: u64,
    line: String,
    kept: VecDeque<String>,
    kept_max: usize,
}

impl Trace {
    /// Keeps the last `lines_max` lines from now on, for whoever looks for the place where two runs part.
    pub fn keep(&self, lines_max: usize) {
        let mut state = self.locked();
        state.kept_max = lines_max;
        state.forget();
    }

    /// Adds that `what` happened `at` this time since the world began.
    pub fn record(&self, at: Duration, what: Arguments<'_>) {
        let mut state = self.locked();
        let mut line = std::mem::take(&mut state.line);
        line.clear();
        // Writing into a string fails only where a `Display` does; such a line is recorded as far as it came.
        let _partly = write!(line, "{:>12} {what}", at.as_micros());
        state.hash = xxh3_64_with_seed(line.as_bytes(), state.hash);
        state.events += 1;
        if state.kept_max > 0 {
            state.kept.push_back(line.clone());
            state.forget();
        }
        state.line = line;
    }

    /// The number that stands for everything recorded, in its order.
    pub fn hash(&self) -> u64 {
        self.locked().hash
    }

    /// How much was recorded.
    pub fn events(&self) -> u64 {
        self.locked().events
    }

    /// The lines that were kept: microseconds since the world began, and what happened.
    pub fn lines(&self) -> Vec<String> {
        self.locked().kept.iter().cloned().collect()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock panics half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget(&mut self) {
        let over = self.kept.len().saturating_sub(self.kept_max);
        self.kept.drain(..over);
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.locked();
        write!(f, "{} events, {:016x}", state.events, state.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(lines: &[(u64, &str)]) -> Trace {
        let trace = Trace::default();
        trace.keep(2);
        for (at, what) in lines {
            trace.record(Duration::from_micros(*at), format_args!("{what}"));
        }
        trace
    }

    #[test]
    fn what_when_and_in_which_order_all_count() {
        let one = trace(&[(1, "a"), (2, "b")]);
        assert_eq!(one.hash(), trace(&[(1, "a"), (2, "b")]).hash());
        for other in [[(1, "a"), (2, "c")], [(1, "a"), (3, "b")], [(2, "b"), (1, "a")]] {
            assert_ne!(one.hash(), trace(&other).hash(), "{other:?}");
        }
        assert_ne!(one.hash(), trace(&[(1, "a")]).hash());
    }

    #[test]
    fn the_last_lines_are_kept() {
        let trace = trace(&[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(trace.events(), 3);
        assert_eq!(trace.lines().iter().map(|line| line.trim()).collect::<Vec<_>>(), ["2 b", "3 c"]);
    }
}
