//! The publisher in ticks: closed time within its limits, publication in two steps, and the barrier by reports or by
//! waiting behind which the cover is made.

use super::bounds::{BASE_LIMIT, LEASE, LOST_TICKS, MARGIN, WIDE_BASE};
use super::machine::Clocks;
use super::state::{Made, State, View};
use crate::{Guard, Mark};

/// Closed time does not go further than this; no event lies behind it.
const CLOSED_MAX: u8 = 3;
/// Views that are published.
const EPOCHS_MAX: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublisherStep {
    /// A view with this closed time is sent.
    Close(u8),
    /// A view with a shorter base limit is sent.
    ShrinkBase,
    /// What was sent is confirmed.
    Confirm,
    /// Every server has reported: the cover is made.
    CoverByReports,
    /// The wait is over: the cover is made.
    CoverByWaiting,
}

impl Clocks {
    /// How long a barrier waits for servers that do not report.
    pub(super) fn wait(&self) -> u8 {
        let longest = LEASE - u8::from(self.bounds.shorter_leases && self.lacks(Guard::LongestLease));
        let allowance = if self.keeps(Guard::RateAllowance) { LOST_TICKS } else { 0 };
        longest + allowance
    }

    pub(super) fn publisher_steps(&self, state: &State, mut offer: impl FnMut(PublisherStep)) {
        if state.sending.is_some() {
            return offer(PublisherStep::Confirm);
        }
        if state.cover.is_some() {
            return;
        }
        let View { epoch, closed, base, .. } = state.published;
        if epoch < EPOCHS_MAX {
            let margin = if self.keeps(Guard::Margin) { MARGIN } else { 0 };
            let until =
                (closed + 1..=CLOSED_MAX).filter(|until| until + self.limit(state) + margin <= state.now);
            until.for_each(|until| offer(PublisherStep::Close(until)));
            if self.bounds.shrinks && base > BASE_LIMIT {
                offer(PublisherStep::ShrinkBase);
            }
        }
        if closed > 0 {
            if self.reported(state) || self.lacks(Guard::ScanAfterBarrier) {
                offer(PublisherStep::CoverByReports);
            }
            if state.waited >= self.wait() {
                offer(PublisherStep::CoverByWaiting);
            }
        }
    }

    pub(super) fn publisher_step(&self, state: &mut State, step: PublisherStep) {
        let published = state.published;
        match step {
            PublisherStep::Close(closed) => {
                // What ends a backfill takes its limit back.
                let accept = published.base;
                self.send(state, View { closed, accept, ..published });
            }
            PublisherStep::ShrinkBase => {
                self.send(state, View { base: BASE_LIMIT, accept: BASE_LIMIT, ..published });
            }
            PublisherStep::Confirm => {
                let Some(view) = state.sending.take() else { return };
                state.before = published;
                state.published = view;
                if self.keeps(Guard::WaitFromConfirmed) {
                    state.waited = 0;
                }
            }
            PublisherStep::CoverByReports => self.cover(state),
            PublisherStep::CoverByWaiting => {
                self.marks.hit_if(!self.reported(state), Mark::BarrierByTime);
                self.cover(state);
            }
        }
    }

    fn send(&self, state: &mut State, view: View) {
        state.sending = Some(View { epoch: view.epoch + 1, ..view });
        if self.lacks(Guard::WaitFromConfirmed) {
            state.waited = 0;
        }
    }

    /// The widest limit by which a server may still accept without a lease.
    fn limit(&self, state: &State) -> u8 {
        let shrunk = self.bounds.shrinks && state.published.base == BASE_LIMIT;
        let by_waiting = state.waited >= self.wait() && self.lacks(Guard::BaseByReport);
        if shrunk && (self.reported(state) || by_waiting) {
            self.marks.hit(Mark::BaseShrunk);
            return BASE_LIMIT;
        }
        if self.bounds.shrinks { WIDE_BASE } else { BASE_LIMIT }
    }

    fn reported(&self, state: &State) -> bool {
        (0..self.bounds.servers).all(|at| state.servers[at].view.epoch >= state.published.epoch)
    }

    fn cover(&self, state: &mut State) {
        let made = Made { until: state.published.closed, has_write: state.landed };
        self.marks.hit_if(made.has_write && state.event < made.until, Mark::CoverHasAck);
        state.cover = Some(made);
    }
}
