//! Explores a model exhaustively, breadth first, and says what came of it.
//!
//! States are told apart by a hash of 64 bits, which is how the checker keeps millions of them.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

use env::{Clock, SystemClock};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

/// Who needs more states than this made its bounds too wide.
const STATES_MAX: usize = 400_000_000;

/// What exploring found.
#[derive(Debug)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// Steps of the longest of all shortest ways to a state.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// All there is was seen, or a violation was.
    pub complete: bool,
    /// The property that does not hold, and the steps to where it does not.
    pub violation: Option<Violation>,
}

/// A property that does not hold.
#[derive(Debug)]
pub struct Violation {
    /// Its name.
    pub property: &'static str,
    /// The steps to the state that shows it.
    pub steps: Vec<String>,
}

/// How much work to put into a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Any.
    Any,
    /// One with the fewest steps.
    Shortest,
}

/// Explores all states of `model` with so many threads, or as many as it takes to see a violation.
pub(crate) fn explore<M>(model: &M, threads: usize, want: Want) -> Explored
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + Send + Sync + PartialEq + 'static,
    M::Action: Clone + Debug + Send + Sync + PartialEq + 'static,
{
    let began = SystemClock.boot();
    let (mut explored, mut found) = pass(model, threads, None);
    while let Some(violation) = found.take() {
        // The checker works through a block before it stops, and may replace what it found by something longer.
        if want == Want::Shortest {
            found = pass(model, threads, Some(violation.steps.len())).1;
        }
        explored.violation = Some(violation);
    }
    explored.took = SystemClock.boot().since(began);
    explored
}

fn pass<M>(model: &M, threads: usize, fewer_than: Option<usize>) -> (Explored, Option<Violation>)
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + Send + Sync + PartialEq + 'static,
    M::Action: Clone + Debug + Send + Sync + PartialEq + 'static,
{
    let mut builder = model.clone().checker().threads(threads).target_state_count(STATES_MAX);
    if let Some(steps) = fewer_than {
        // The checker counts states, and leaves out those at its limit.
        builder = builder.target_max_depth(steps + 1);
    }
    let checker = builder.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let always: Vec<&str> = model
        .properties()
        .iter()
        .filter(|property| property.expectation == Expectation::Always)
        .map(|property| property.name)
        .collect();
    let found = checker.discoveries().into_iter().filter(|(name, _)| always.contains(name));
    let violations = found.map(|(property, path)| Violation {
        property,
        steps: path.into_actions().iter().map(|action| format!("{action:?}")).collect(),
    });
    let shortest = violations.min_by_key(|violation| violation.steps.len());
    let explored = Explored {
        states: checker.unique_state_count(),
        depth: checker.max_depth().saturating_sub(1),
        took: Duration::ZERO,
        complete: checker.state_count() < STATES_MAX,
        violation: None,
    };
    (explored, shortest)
}
