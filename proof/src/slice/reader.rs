//! Reads of the slice's interval: which slices there are, the scan, and whether the answer may call itself complete.

use super::machine::Slices;
use super::state::{Deletion, Listed, Read, SERVERS, Stage, State};
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReaderStep {
    /// A read begins at this server, which takes the slices of its view.
    ByView(u8),
    /// A read begins at this server, which looks the slice records up.
    ByLookup(u8),
    /// The same at a replica that lags.
    ByOldLookup(u8),
    /// A read begins at this server, which can look nothing up and says that its answer is partial.
    Partial(u8),
    /// It scans the table.
    Scan,
    /// It looks whether the slice was dropped meanwhile, and answers.
    Answer,
}

impl Slices {
    pub(super) fn reader_steps(&self, state: &State, mut offer: impl FnMut(ReaderStep)) {
        match state.read {
            Read::None if state.reads_left > 0 => {
                for server in (0..SERVERS).filter(|at| state.servers[*at].joined) {
                    if state.servers[server].leased || self.lacks(Guard::LookSlicesUp) {
                        offer(ReaderStep::ByView(server));
                        continue;
                    }
                    offer(ReaderStep::ByLookup(server));
                    offer(ReaderStep::Partial(server));
                    if self.lacks(Guard::LinearizableLookup) {
                        offer(ReaderStep::ByOldLookup(server));
                    }
                }
            }
            Read::None => {}
            Read::Listed { .. } => offer(ReaderStep::Scan),
            Read::Scanned { .. } => offer(ReaderStep::Answer),
        }
    }

    pub(super) fn reader_step(&self, state: &mut State, step: ReaderStep) {
        match (step, state.read) {
            (ReaderStep::ByView(server), _) => {
                let view = state.servers[server].view;
                let stage = match view.listed {
                    Listed::Absent => Stage::Absent,
                    Listed::Open(_) | Listed::Closing => Stage::Open,
                    Listed::Dropped => Stage::Dropped,
                };
                self.begin(state, server, view.incarnation, stage);
            }
            (ReaderStep::ByLookup(server), _) => {
                self.marks.hit(Mark::SliceLookedUp);
                self.begin(state, server, state.view.incarnation, state.slice().stage);
            }
            (ReaderStep::ByOldLookup(server), _) => {
                self.begin(state, server, state.view.incarnation, state.slice().before);
            }
            (ReaderStep::Partial(_), _) => {
                state.reads_left -= 1;
                self.marks.hit(Mark::ReadPartial);
            }
            (ReaderStep::Scan, Read::Listed { server, incarnation, needs }) => {
                let slice = &state.slices[incarnation];
                if slice.table {
                    state.read = Read::Scanned { server, incarnation, needs, rows: slice.rows };
                } else {
                    self.truncated(state);
                }
            }
            (ReaderStep::Answer, Read::Scanned { server, incarnation, needs, rows }) => {
                let dropped = state.slices[incarnation].stage == Stage::Dropped;
                if !self.still_open(state, server, incarnation)
                    && dropped
                    && self.keeps(Guard::CheckSliceAfterScan)
                {
                    self.truncated(state);
                } else {
                    self.complete(state, needs, rows);
                }
            }
            _ => {}
        }
    }

    /// Begins with the slice in this stage, as the server sees it.
    fn begin(&self, state: &mut State, server: u8, incarnation: u8, stage: Stage) {
        state.reads_left -= 1;
        // Who reads a namespace that is being deleted may find anything or nothing.
        let there = matches!(state.deletion, Deletion::None | Deletion::Remade);
        let needs = if there { state.slice().acked } else { 0 };
        match stage {
            Stage::Absent => self.complete(state, needs, 0),
            Stage::Open | Stage::Closing => state.read = Read::Listed { server, incarnation, needs },
            Stage::Dropped => self.truncated(state),
        }
    }

    /// Under its lease the server knows without a lookup that the slice is there.
    fn still_open(&self, state: &State, server: u8, incarnation: u8) -> bool {
        let holder = &state.servers[server];
        holder.leased
            && holder.view.incarnation == incarnation
            && matches!(holder.view.listed, Listed::Open(_))
    }

    fn complete(&self, state: &mut State, needs: u8, rows: u8) {
        state.read = Read::None;
        state.wrong_answer |= needs & !rows != 0;
        self.marks.hit_if(needs != 0 && needs & !rows == 0, Mark::ReadComplete);
    }

    fn truncated(&self, state: &mut State) {
        state.read = Read::None;
        self.marks.hit(Mark::ReadTruncated);
    }
}
