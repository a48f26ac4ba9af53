//! Which call meets which fault. Pure: the plan and the random numbers decide, nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use env::Random;

use crate::layer::Op;

/// What happens to one call. A fault that would leave a change unknown makes a read unavailable: a read has no
/// outcome to wonder about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not done; unavailable.
    Refuse,
    /// Done; the answer is lost: unknown.
    LoseAnswer,
    /// Not done, now or ever; unknown.
    LoseCall,
    /// Unknown at once; done in the background after so long. A read is not done.
    ApplyLate(Duration),
    /// Done after so long, and answered as it ends.
    Delay(Duration),
}

#[derive(Clone, Copy, Debug)]
struct Chance {
    per_thousand: u16,
    fault: Fault,
}

/// Scripted and random faults for each operation. Empty: no faults.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    script: BTreeMap<Op, VecDeque<Option<Fault>>>,
    chances: BTreeMap<Op, Vec<Chance>>,
}

impl FaultPlan {
    /// The next call of `op` that has no script yet meets `fault`.
    #[must_use]
    pub fn then(mut self, op: Op, fault: Fault) -> Self {
        self.push(op, Some(fault));
        self
    }

    /// The next call of `op` that has no script yet passes, whatever its chances.
    #[must_use]
    pub fn then_pass(mut self, op: Op) -> Self {
        self.push(op, None);
        self
    }

    /// Every call of `op` without a script meets `fault` with this chance. Chances of one operation add up.
    #[must_use]
    pub fn with_chance(mut self, op: Op, per_thousand: u16, fault: Fault) -> Self {
        self.chances.entry(op).or_default().push(Chance { per_thousand, fault });
        self
    }

    pub(super) fn push(&mut self, op: Op, fault: Option<Fault>) {
        self.script.entry(op).or_default().push_back(fault);
    }

    /// What the next call of `op` meets.
    pub(super) fn draw(&mut self, op: Op, random: &dyn Random) -> Option<Fault> {
        if let Some(scripted) = self.script.get_mut(&op).and_then(VecDeque::pop_front) {
            return scripted;
        }
        let chances = self.chances.get(&op)?;
        let mut drawn = random.below(1_000);
        for chance in chances {
            match drawn.checked_sub(u64::from(chance.per_thousand)) {
                Some(rest) => drawn = rest,
                None => return Some(chance.fault),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use env::SeededRandom;

    use super::*;

    #[test]
    fn a_script_is_consumed_in_order_and_per_operation() {
        let random = SeededRandom::new(1);
        let mut plan = FaultPlan::default()
            .then(Op::Scan, Fault::Refuse)
            .then_pass(Op::Scan)
            .then(Op::Scan, Fault::LoseCall)
            .then(Op::Upsert, Fault::LoseAnswer);
        let scans: Vec<_> = (0..4).map(|_| plan.draw(Op::Scan, &random)).collect();
        assert_eq!(scans, [Some(Fault::Refuse), None, Some(Fault::LoseCall), None]);
        assert_eq!(plan.draw(Op::Upsert, &random), Some(Fault::LoseAnswer));
    }

    #[test]
    fn chances_add_up_and_repeat_from_the_seed() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            let mut plan = FaultPlan::default().with_chance(Op::Scan, 100, Fault::Refuse).with_chance(
                Op::Scan,
                300,
                Fault::LoseCall,
            );
            (0..10_000).map(|_| plan.draw(Op::Scan, &random)).collect::<Vec<_>>()
        };
        let count = |fault| draw(5).iter().filter(|drawn| **drawn == fault).count();
        assert!((850..1_150).contains(&count(Some(Fault::Refuse))));
        assert!((2_700..3_300).contains(&count(Some(Fault::LoseCall))));
        assert!((5_700..6_300).contains(&count(None)));
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn a_script_goes_before_chances_and_an_empty_plan_does_nothing() {
        let random = SeededRandom::new(1);
        let mut plan = FaultPlan::default().then_pass(Op::Scan).with_chance(Op::Scan, 1_000, Fault::Refuse);
        assert_eq!(plan.draw(Op::Scan, &random), None);
        assert_eq!(plan.draw(Op::Scan, &random), Some(Fault::Refuse));
        assert_eq!(FaultPlan::default().draw(Op::Scan, &random), None);
    }
}
