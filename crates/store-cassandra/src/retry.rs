//! Sending an idempotent statement again, with back-off. What is not idempotent never comes here.

use std::time::Duration;

use env::Env;
use model::TableRef;
use scylla::errors::ExecutionError;
use store::{ErrorKind, Result};

use crate::failure::{self, Verdict};

/// Attempts of one statement.
const ATTEMPTS_MAX: u32 = 4;
/// No attempt begins later than this after the first.
const PATIENCE: Duration = Duration::from_secs(10);
/// The wait before the second attempt; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(20);

/// Waits before attempt number `attempt` (the first is 0): between half and all of a span that doubles.
pub(crate) async fn back_off(env: &Env, attempt: u32) {
    let span = FIRST_WAIT * 2_u32.saturating_pow(attempt.saturating_sub(1));
    let micros = u64::try_from(span.as_micros() / 2).unwrap_or(u64::MAX).max(1);
    env.clock.sleep(Duration::from_micros(micros + env.random.below(micros))).await;
}

/// What is tried, and whether it changes anything.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    /// For the message: `failed to ..`.
    pub(crate) what: &'a str,
    /// Which table is missing where one is.
    pub(crate) table: Option<&'a TableRef>,
    /// Whether it writes. A read that ended nobody knows how had no effect.
    pub(crate) writes: bool,
}

/// Runs an idempotent statement until it succeeds, can never succeed, or patience ends.
pub(crate) async fn idempotent<T, F>(
    env: &Env,
    task: Task<'_>,
    mut attempt: impl FnMut() -> F + Send,
) -> Result<T>
where
    F: Future<Output = std::result::Result<T, ExecutionError>> + Send,
{
    let (began, mut maybe_done) = (env.clock.boot(), false);
    for number in 1.. {
        let error = match attempt().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let verdict = match failure::judge(&error) {
            Verdict::Unknown if !task.writes => Verdict::NotDone,
            verdict => verdict,
        };
        maybe_done |= verdict == Verdict::Unknown;
        let patient = number < ATTEMPTS_MAX && env.clock.boot().since(began) < PATIENCE;
        if !verdict.is_passing() || !patient {
            // An earlier attempt may have done what the last one did not.
            let verdict = if verdict == Verdict::NotDone && maybe_done { Verdict::Unknown } else { verdict };
            return Err(failure::explain(task.what, verdict, error, task.table));
        }
        tracing::debug!(attempt = number, %error, "Cassandra failed to {}, trying again", task.what);
        back_off(env, number).await;
    }
    Err(store::Error::new(ErrorKind::Unavailable, "no attempt was made; try again"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use env::{ManualClock, SeededRandom, TokioSpawn};
    use scylla::errors::{DbError, RequestAttemptError};

    use super::*;

    async fn check(
        answers: &'static [Option<DbError>],
        writes: bool,
        expect: std::result::Result<u32, ErrorKind>,
    ) {
        let clock = ManualClock::starting_at(0);
        let env = Env {
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            spawn: Arc::new(TokioSpawn::current()),
        };
        let asked = AtomicU32::new(0);
        let task = Task { what: "test", table: None, writes };
        let run = idempotent(&env, task, || {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            let answer = answers.get(number as usize).cloned().flatten();
            std::future::ready(match answer {
                None => Ok(number),
                Some(error) => Err(RequestAttemptError::DbError(error, String::new()).into()),
            })
        });
        let wake = async {
            loop {
                clock.sleepers(1).await;
                clock.advance(Duration::from_secs(1));
            }
        };
        let found = tokio::select! {
            found = run => found,
            () = wake => unreachable!("it never ends"),
        };
        assert_eq!(found.map_err(|error| error.kind()), expect);
    }

    #[tokio::test]
    async fn what_may_pass_is_tried_again() {
        check(&[None], true, Ok(0)).await;
        check(&[Some(DbError::Overloaded), Some(DbError::ServerError), None], true, Ok(2)).await;
        check(&[Some(DbError::SyntaxError), None], true, Err(ErrorKind::Invalid)).await;
    }

    #[tokio::test]
    async fn the_end_of_patience_says_what_may_be_done() {
        const OVERLOADED: Option<DbError> = Some(DbError::Overloaded);
        const BROKEN: Option<DbError> = Some(DbError::ServerError);
        check(&[OVERLOADED, OVERLOADED, OVERLOADED, OVERLOADED, None], true, Err(ErrorKind::Unavailable))
            .await;
        check(&[BROKEN, OVERLOADED, OVERLOADED, OVERLOADED, None], true, Err(ErrorKind::Unknown)).await;
        check(&[BROKEN, BROKEN, BROKEN, BROKEN, None], false, Err(ErrorKind::Unavailable)).await;
    }
}
