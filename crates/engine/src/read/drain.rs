//! The rows of one group, to whoever takes them.

use super::group::GroupReader;
use super::patience::Patience;
use super::take::{InPlace, Taker, Wants};
use super::walk::Filled;
use crate::Result;

/// Feeds the taker with the rows of one group, up to `bytes_max` and the event that this falls into.
pub(super) async fn drain(
    reader: &mut GroupReader,
    taker: &mut impl Taker,
    bytes_max: u64,
    patience: &mut Patience<'_>,
) -> Result<Filled> {
    let mut drain = Drain { reader, untold: false, is_first: true };
    let filled = loop {
        if drain.reader.has_to_wait() {
            drain.tell(taker);
            let Some(settled) = patience.wait(drain.reader.settle()).await else {
                taker.abandon_event();
                break Filled::TimeOver;
            };
            settled?;
        } else if drain.reader.is_unsettled() {
            drain.reader.settle().await?;
        }
        if let Some(filled) = drain.step(taker, bytes_max) {
            break filled;
        }
    };
    drain.tell(taker);
    Ok(filled)
}

struct Drain<'a> {
    reader: &'a mut GroupReader,
    /// The last event was passed in place, and the taker does not know which it was.
    untold: bool,
    is_first: bool,
}

impl Drain<'_> {
    /// Hands over one row, or a whole event where it can be looked at in place; none while more are wanted.
    fn step(&mut self, taker: &mut impl Taker, bytes_max: u64) -> Option<Filled> {
        let Some(head) = self.reader.head() else { return Some(Filled::Over) };
        let mut taken = head.row();
        let mut in_place = InPlace::Wanted;
        if !taker.goes_on_with(&head) {
            if !std::mem::take(&mut self.is_first) && self.reader.bytes >= bytes_max {
                return Some(Filled::Limit);
            }
            taker.close_event();
            if taker.wants() == Wants::Nothing {
                return Some(Filled::Full);
            }
            if let Some(whole) = head.whole_event() {
                in_place = taker.take_in_place(&head, whole.rows);
                taken = if in_place == InPlace::Passed { whole } else { taken };
            }
        }
        match in_place {
            InPlace::NoRoom => return Some(Filled::Full),
            InPlace::Passed => self.untold = true,
            InPlace::Wanted => {
                if std::mem::take(&mut self.untold)
                    && let Some(last) = self.reader.last_taken()
                {
                    taker.passed(&last);
                }
                taker.extend_event(&head);
            }
        }
        self.reader.take(taken);
        (taker.wants() == Wants::Nothing).then_some(Filled::Full)
    }

    /// Tells the taker which event it has passed last, before its page is turned.
    fn tell(&mut self, taker: &mut impl Taker) {
        if std::mem::take(&mut self.untold)
            && let Some(last) = self.reader.last_taken()
        {
            taker.passed(&last);
        }
    }
}
