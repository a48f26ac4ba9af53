//! What holds in every state of the cover model: the three invariants of splitting.

use stateright::{Model, Property};

use super::machine::Cover;
use super::state::{KEYS, SERVERS, State};

/// I1.
pub const ACKED_IN_ORIGIN: &str = "I1 the origin holds every acknowledged write";
/// I2.
pub const TARGETS_COMPLETE: &str =
    "I2 targets that a leased server may route to hold every acknowledged write of their range";
/// I3.
pub const PAGES_WHOLE: &str =
    "I3 a paged read returns every event acknowledged before it began once and in order";

pub(super) fn all() -> Vec<Property<Cover>> {
    vec![
        Property::<Cover>::always(ACKED_IN_ORIGIN, |_, state| acked_in_origin(state)),
        Property::<Cover>::always(TARGETS_COMPLETE, targets_complete),
        Property::<Cover>::always(PAGES_WHOLE, |_, state| !state.wrong_page),
    ]
}

fn acked_in_origin(state: &<Cover as Model>::State) -> bool {
    state.dropped || (0..KEYS).all(|key| state.origin[key] >= state.acked[key])
}

fn targets_complete(model: &Cover, state: &State) -> bool {
    (0..SERVERS).filter(|at| state.servers[*at].holder.leased).all(|at| {
        model.route(state, at).is_none_or(|entry| {
            (0..entry.covered_until).all(|key| {
                let destination = entry.destination[key];
                !state.deleted[destination] && state.targets[destination][key] >= state.acked[key]
            })
        })
    })
}
