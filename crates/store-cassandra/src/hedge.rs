//! A second attempt beside one that takes long, and how many there may be.
//!
//! Not the driver's speculative execution: its policy is asked once, before the first attempt, and never told whether a
//! second one was sent. So it could be limited only by guessing, and not counted. Only reads come here. Invariant: in the long run one
//! attempt in twenty has a second one beside it, so a cluster that is slow as a whole is not loaded twice.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use futures::future::{Either, select};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Attempts that earn one hedge.
const ATTEMPTS_PER_HEDGE: u32 = 20;
/// Hedges that can be saved up for a bad moment.
const SAVED_MAX: u32 = 10;

/// What may be spent on hedges. Pure.
#[derive(Debug)]
struct Budget {
    /// In parts of a hedge.
    saved: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { saved: SAVED_MAX * ATTEMPTS_PER_HEDGE }
    }
}

impl Budget {
    /// An attempt was made.
    fn earn(&mut self) {
        self.saved = (self.saved + 1).min(SAVED_MAX * ATTEMPTS_PER_HEDGE);
    }

    /// Pays for a hedge, if there is enough.
    fn spend(&mut self) -> bool {
        let left = self.saved.checked_sub(ATTEMPTS_PER_HEDGE);
        self.saved = left.unwrap_or(self.saved);
        left.is_some()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    outcome: &'static str,
}

/// The hedges of one store.
#[derive(Debug, Default)]
pub(crate) struct Hedges {
    budget: Mutex<Budget>,
    counts: Family<Labels, Counter>,
}

impl Hedges {
    /// Shows what became of them in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Reads that took long: asked of another node too (sent), answered by it (won), or over budget (refused)";
        // From the start, so that a rate is one from the first.
        for outcome in ["sent", "won", "refused"] {
            drop(self.counts.get_or_create(&Labels { outcome }));
        }
        registry.register("braid_store_hedges", help, self.counts.clone());
    }

    fn count(&self, outcome: &'static str) {
        self.counts.get_or_create(&Labels { outcome }).inc();
    }

    fn earn(&self) {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).earn();
    }

    fn spend(&self) -> bool {
        let paid = self.budget.lock().unwrap_or_else(PoisonError::into_inner).spend();
        self.count(if paid { "sent" } else { "refused" });
        paid
    }

    /// What `first` answers, or, once it is `late`, whichever of it and `second` succeeds first. `second` gives none
    /// where nobody else can be asked. Both may run to their end: they must be reads.
    pub(crate) async fn run<T, E, S>(
        &self,
        first: impl Future<Output = Result<T, E>>,
        late: impl Future<Output = ()>,
        second: impl FnOnce() -> Option<S>,
    ) -> Result<T, E>
    where
        S: Future<Output = Result<T, E>>,
    {
        self.earn();
        let mut first = pin!(first);
        tokio::select! {
            // Whoever reads ahead looks late: an answer that is there counts before the time does.
            biased;
            answer = &mut first => return answer,
            () = late => {}
        }
        let second = match second() {
            Some(second) if self.spend() => pin!(second),
            _ => return first.await,
        };
        match select(first, second).await {
            Either::Left((Ok(answer), _)) => Ok(answer),
            Either::Left((Err(error), second)) => match second.await {
                Ok(answer) => Ok(self.won(answer)),
                Err(_) => Err(error),
            },
            Either::Right((Ok(answer), _)) => Ok(self.won(answer)),
            Either::Right((Err(_), first)) => first.await,
        }
    }

    fn won<T>(&self, answer: T) -> T {
        self.count("won");
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, pending, ready};

    use futures::FutureExt;

    use super::*;

    fn spent(budget: &mut Budget) -> u32 {
        (0..).take_while(|_| budget.spend()).count().try_into().unwrap()
    }

    #[test]
    fn a_few_hedges_come_at_once_and_then_one_in_twenty() {
        let mut budget = Budget::default();
        assert_eq!(spent(&mut budget), 10);
        (0..19).for_each(|_| budget.earn());
        assert_eq!(spent(&mut budget), 0);
        budget.earn();
        assert_eq!(spent(&mut budget), 1);
        (0..1_000_000).for_each(|_| budget.earn());
        assert_eq!(spent(&mut budget), 10);
    }

    #[test]
    fn a_cluster_that_is_always_slow_is_asked_one_time_in_twenty_more() {
        let mut budget = Budget::default();
        let hedges = (0..10_000)
            .filter(|_| {
                budget.earn();
                budget.spend()
            })
            .count();
        // What the first one earns is more than can be saved.
        assert_eq!(hedges, 10 + 9_999 / 20);
    }

    type Answer = Result<&'static str, &'static str>;
    const FIRST: Answer = Ok("first");
    const SECOND: Answer = Ok("second");

    /// How many were sent, won and refused.
    fn counts(hedges: &Hedges) -> [u64; 3] {
        ["sent", "won", "refused"].map(|outcome| hedges.counts.get_or_create(&Labels { outcome }).get())
    }

    fn none() -> Option<Ready<Answer>> {
        None
    }

    #[test]
    fn an_answer_that_is_there_counts_before_the_time_does() {
        let hedges = Hedges::default();
        let second = || Some(ready(SECOND));
        assert_eq!(hedges.run(ready(FIRST), ready(()), second).now_or_never(), Some(FIRST));
        assert_eq!(hedges.run(ready(Err("no")), ready(()), second).now_or_never(), Some(Err("no")));
        assert_eq!(hedges.run(pending::<Answer>(), pending(), second).now_or_never(), None);
        assert_eq!(counts(&hedges), [0, 0, 0]);
    }

    #[test]
    fn late_the_first_success_counts_and_of_two_failures_the_first() {
        // Comes with the second look at it.
        async fn slow(answer: Answer) -> Answer {
            tokio::task::yield_now().await;
            answer
        }
        let run = async |first: Answer, second: Answer| {
            let hedges = Hedges::default();
            let answer = hedges.run(slow(first), ready(()), || Some(slow(second))).await;
            (answer, counts(&hedges))
        };
        let check = |first, second, expect, expect_counts| {
            let found = futures::executor::block_on(run(first, second));
            assert_eq!(found, (expect, expect_counts), "{first:?} {second:?}");
        };
        check(FIRST, SECOND, FIRST, [1, 0, 0]);
        check(Err("one"), SECOND, SECOND, [1, 1, 0]);
        check(Err("one"), Err("two"), Err("one"), [1, 0, 0]);
        let hedges = Hedges::default();
        let hung = hedges.run(pending(), ready(()), || Some(ready(SECOND)));
        assert_eq!(hung.now_or_never(), Some(SECOND));
        assert_eq!(counts(&hedges), [1, 1, 0]);
        let useless = hedges.run(pending::<Answer>(), ready(()), || Some(ready(Err("two"))));
        assert_eq!(useless.now_or_never(), None);
        assert_eq!(counts(&hedges), [2, 1, 0]);
    }

    #[test]
    fn without_credit_or_another_node_only_the_first_is_asked() {
        let hedges = Hedges::default();
        assert_eq!(hedges.run(pending::<Answer>(), ready(()), none).now_or_never(), None);
        assert_eq!(counts(&hedges), [0, 0, 0]);
        for _ in 0..10 {
            let answer = hedges.run(pending(), ready(()), || Some(ready(SECOND))).now_or_never();
            assert_eq!(answer, Some(SECOND));
        }
        let refused = hedges.run(pending(), ready(()), || Some(ready(SECOND))).now_or_never();
        assert_eq!((refused, counts(&hedges)), (None, [10, 10, 1]));
    }
}
