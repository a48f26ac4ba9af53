//! What holds in every state of the slice model.

use stateright::Property;

use super::machine::Slices;
use super::state::{Extension, Stage, State};

/// S1.
pub const ACKED_STORED: &str = "S1 until a slice is dropped its table holds every acknowledged event";
/// S2.
pub const ACK_BEFORE_DROP: &str = "S2 nothing is acknowledged in a slice that was dropped";
/// S3.
pub const READS_WHOLE: &str =
    "S3 an answer that calls itself complete has every event acknowledged before the read began";
/// S4.
pub const PROMISE_KEPT: &str = "S4 a slice is not dropped after a longer retention was promised for it";

pub(super) fn all() -> Vec<Property<Slices>> {
    vec![
        Property::<Slices>::always(ACKED_STORED, |_, state| acked_stored(state)),
        Property::<Slices>::always(ACK_BEFORE_DROP, |_, state| !state.late_ack),
        Property::<Slices>::always(READS_WHOLE, |_, state| !state.wrong_answer),
        Property::<Slices>::always(PROMISE_KEPT, |_, state| {
            state.extension != Extension::Promised || state.slices[0].stage != Stage::Dropped
        }),
    ]
}

fn acked_stored(state: &State) -> bool {
    state.slices.iter().all(|slice| slice.stage == Stage::Dropped || slice.acked & !slice.rows == 0)
}
