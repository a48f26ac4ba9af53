//! The corruptor: damages a stored row of a target now and then. What it damages before the targets are read back must never
//! be completed; what it damages later is for the next comparison, and may be served until then.

use std::time::Duration;

use split::{Record, State};

use super::dice::Dice;
use super::stage::Stage;
use super::targets::targets_of;
use crate::cluster::Corruption;

/// How often it looks whether there is anything to damage.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Of a thousand looks at a split that is being copied, or is completed, so many are not harmless.
const COPYING_PER_THOUSAND: u64 = 40;
const COMPLETED_PER_THOUSAND: u64 = 4;

/// The corruptor.
pub(super) struct Corruptor {
    pub(super) stage: Stage,
    pub(super) dice: Dice,
}

impl Corruptor {
    pub(super) async fn live(self) {
        while !self.stage.is_over() {
            for record in self.stage.records.all(&self.stage) {
                let chance = match record.state {
                    State::Copying => COPYING_PER_THOUSAND,
                    State::Verifying | State::Completed => COMPLETED_PER_THOUSAND,
                    _ => 0,
                };
                if self.dice.below(1_000) < chance {
                    self.damage(&record);
                }
            }
            self.stage.sleep(LOOK_EVERY).await;
        }
    }

    fn damage(&self, record: &Record) -> Option<()> {
        let (table, targets) = targets_of(record)?;
        let at = self.dice.index(targets.len());
        let partition = targets.get(at)?;
        let other = targets.get((at + 1) % targets.len())?.clone();
        let how = match self.dice.below(5) {
            0 => Corruption::Flip,
            1 => Corruption::Drop,
            2 => Corruption::Double(other),
            3 => Corruption::Vanish,
            _ => Corruption::Misplace(other),
        };
        if self.stage.cluster.corrupt(&table, partition, self.dice.index(1_000), &how) {
            let is_late = record.state != State::Copying;
            self.stage.ledger.count(|counts| {
                counts.damaged += u64::from(!is_late);
                counts.damaged_late += u64::from(is_late);
            });
            if is_late {
                self.stage.records.taint(record);
            }
        }
        Some(())
    }
}
