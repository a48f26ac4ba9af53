//! [`FaultLayer`]: carries the faults out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use env::{BoxFuture, Env};

use super::late::Late;
use super::{Fault, FaultPlan};
use crate::layer::{Call, Layer, Op, Outcome};
use crate::{Error, ErrorKind, Result};

/// Injects faults. Clones share plan and counts, so a test keeps one and puts the other around a store.
#[derive(Clone)]
pub struct FaultLayer {
    shared: Arc<Shared>,
}

struct Shared {
    env: Env,
    state: Mutex<State>,
    late: Late,
}

struct State {
    plan: FaultPlan,
    happened: BTreeMap<Op, u64>,
}

impl FaultLayer {
    /// Injects what `plan` says: chances come from the randomness of `env`, waits from its clock, late changes run
    /// where it spawns.
    pub fn new(env: Env, plan: FaultPlan) -> Self {
        let state = Mutex::new(State { plan, happened: BTreeMap::new() });
        Self { shared: Arc::new(Shared { env, state, late: Late::default() }) }
    }

    /// Adds to the script: the next call of `op` that has none yet meets `fault`.
    pub fn inject(&self, op: Op, fault: Fault) {
        self.state().plan.push(op, Some(fault));
    }

    /// From now on another plan, as for the quiet end of a stormy run.
    pub fn replace(&self, plan: FaultPlan) {
        self.state().plan = plan;
    }

    /// How many calls of `op` have met a fault.
    pub fn happened(&self, op: Op) -> u64 {
        self.state().happened.get(&op).copied().unwrap_or(0)
    }

    /// Does every late change that still waits, and returns when all are done.
    pub async fn settle(&self) {
        self.shared.late.settle(false).await;
    }

    fn draw(&self, op: Op) -> Option<Fault> {
        let mut state = self.state();
        let fault = state.plan.draw(op, &*self.shared.env.random)?;
        *state.happened.entry(op).or_default() += 1;
        Some(fault)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply_late<T: Outcome>(
        &self,
        call: Call,
        wait: std::time::Duration,
        next: BoxFuture<'static, Result<T>>,
    ) {
        let unheard = async move {
            // Whoever asked for it has been told that nobody knows how it ends.
            let _unheard = next.await;
        };
        self.shared.late.start(&self.shared.env, wait, Box::pin(unheard), call.op.is_meta());
    }
}

impl Layer for FaultLayer {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        if call.op.is_meta() {
            self.shared.late.settle(true).await;
        }
        match self.draw(call.op) {
            None => next.await,
            Some(Fault::Refuse) => Err(unavailable(call.op)),
            Some(Fault::LoseCall) => Err(lost(call)),
            Some(Fault::LoseAnswer) => {
                let _lost = next.await;
                Err(lost(call))
            }
            Some(Fault::ApplyLate(wait)) => {
                if call.changes {
                    self.apply_late(call, wait, next);
                }
                Err(lost(call))
            }
            Some(Fault::Delay(wait)) => {
                self.shared.env.clock.sleep(wait).await;
                next.await
            }
        }
    }
}

fn unavailable(op: Op) -> Error {
    let op = op.as_str();
    Error::new(ErrorKind::Unavailable, format!("store call {op} was refused by an injected fault; try again"))
}

fn lost(call: Call) -> Error {
    if !call.changes {
        return unavailable(call.op);
    }
    let op = call.op.as_str();
    let message =
        format!("the answer of store call {op} was lost by an injected fault; read again what holds");
    Error::new(ErrorKind::Unknown, message)
}

#[cfg(test)]
mod tests;
