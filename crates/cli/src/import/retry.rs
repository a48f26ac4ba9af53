//! What to do after a write was answered: nothing, send some of it again, cut it in two, give up. Pure.
//!
//! Sending again is always safe: writing the same event twice changes nothing.

use std::time::Duration;

use api::v1::{WriteEventRecordsResponse, WriteResult};
use rpc::client::CallError;

/// Tries in a row that achieve nothing, before an import gives up: about half a minute.
pub(crate) const TRIES_MAX: u32 = 10;
/// The first wait; each further one is twice as long.
const WAIT_FIRST: Duration = Duration::from_millis(100);
/// No wait is longer, unless the server asks for it.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// What a server may ask for.
const WAIT_ASKED_MAX: Duration = Duration::from_secs(30);
/// Reasons for which the same event may be taken later.
const RETRYABLE: [&str; 4] = ["RATE_LIMITED", "BACKEND_OVERLOADED", "BACKEND_TIMEOUT", "NOT_READY"];
/// What a broken connection looks like from here, where the server did not say anything itself.
const BROKEN: [&str; 4] = ["UNAVAILABLE", "UNKNOWN", "CANCELLED", "DEADLINE_EXCEEDED"];

/// What became of a batch, and what to do next.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    /// Events that were taken.
    pub(crate) accepted: usize,
    /// Events that will never be taken.
    pub(crate) refused: Vec<WriteResult>,
    /// What to do with the others.
    pub(crate) next: Next,
}

/// What to do with the events that were neither taken nor refused.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// There are none.
    Done,
    /// Send those with these indexes again.
    Again {
        /// In ascending order.
        indexes: Vec<usize>,
        /// How long to wait before.
        wait: Duration,
        /// Tries in a row that achieved nothing.
        idle: u32,
        /// What the server said, or what became of it.
        why: String,
    },
    /// Something in it is refused and takes its neighbours with it: send each half by itself.
    Halve,
    /// Nothing will help now.
    GiveUp(CallError),
}

/// Judges the answer to a batch of `events` events, after `idle` tries in a row that achieved nothing.
pub(crate) fn judge(
    answer: Result<WriteEventRecordsResponse, CallError>,
    events: usize,
    idle: u32,
) -> Verdict {
    match answer {
        Ok(answer) => answered(answer, events, idle),
        Err(error) => failed(error, events, idle),
    }
}

fn answered(answer: WriteEventRecordsResponse, events: usize, idle: u32) -> Verdict {
    let accepted = usize::try_from(answer.accepted).unwrap_or(usize::MAX);
    if accepted.checked_add(answer.results.len()) != Some(events) {
        let (refused, code) = (answer.results.len(), "INTERNAL");
        let message = format!(
            "of {events} events the server took {accepted} and refused {refused}, which does not add up; \
             it must not be trusted, update it"
        );
        let error = CallError { code, reason: None, message, retry_after: None };
        return Verdict { accepted: 0, refused: Vec::new(), next: Next::GiveUp(error) };
    }
    let (later, refused): (Vec<WriteResult>, Vec<WriteResult>) =
        answer.results.into_iter().partition(|result| RETRYABLE.contains(&result.reason.as_str()));
    let Some(last) = later.last() else {
        return Verdict { accepted, refused, next: Next::Done };
    };
    let idle = if later.len() < events { 0 } else { idle + 1 };
    let next = if idle >= TRIES_MAX {
        Next::GiveUp(CallError {
            code: "UNAVAILABLE",
            reason: Some(last.reason.clone()),
            message: last.message.clone(),
            retry_after: None,
        })
    } else {
        let mut indexes: Vec<usize> =
            later.iter().filter_map(|result| usize::try_from(result.index).ok()).collect();
        indexes.sort_unstable();
        Next::Again { indexes, wait: back_off(idle), idle, why: last.message.clone() }
    };
    Verdict { accepted, refused, next }
}

fn failed(error: CallError, events: usize, idle: u32) -> Verdict {
    let idle = idle + 1;
    let broken = error.reason.is_none() && BROKEN.contains(&error.code);
    let asked = error.retry_after.or_else(|| broken.then_some(WAIT_FIRST));
    let next = match asked {
        Some(asked) if idle < TRIES_MAX => {
            let wait = back_off(idle).max(asked.min(WAIT_ASKED_MAX));
            Next::Again { indexes: (0..events).collect(), wait, idle, why: error.message }
        }
        Some(_) => Next::GiveUp(error),
        None if !matches!(error.code, "INVALID_ARGUMENT" | "OUT_OF_RANGE") => Next::GiveUp(error),
        None if events > 1 => Next::Halve,
        None => {
            let reason = error.reason.unwrap_or_else(|| error.code.to_owned());
            let refused = vec![WriteResult { index: 0, reason, message: error.message }];
            return Verdict { accepted: 0, refused, next: Next::Done };
        }
    };
    Verdict { accepted: 0, refused: Vec::new(), next }
}

/// The wait after so many tries that achieved nothing; a try that achieved something is followed up soon.
pub(crate) fn back_off(idle: u32) -> Duration {
    let doubled = WAIT_FIRST.saturating_mul(2_u32.saturating_pow(idle.saturating_sub(1)));
    doubled.min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(accepted: u32, refused: &[(u32, &str)]) -> Result<WriteEventRecordsResponse, CallError> {
        let result = |(index, reason): &(u32, &str)| WriteResult {
            index: *index,
            reason: (*reason).to_owned(),
            message: format!("message {index}"),
        };
        let results = refused.iter().map(result).collect();
        Ok(WriteEventRecordsResponse { accepted, results, ..WriteEventRecordsResponse::default() })
    }

    fn error(code: &'static str, reason: Option<&str>, retry_ms: Option<u64>) -> CallError {
        CallError {
            code,
            reason: reason.map(str::to_owned),
            message: "why".to_owned(),
            retry_after: retry_ms.map(Duration::from_millis),
        }
    }

    fn again(indexes: &[usize], wait_ms: u64, idle: u32) -> Next {
        let wait = Duration::from_millis(wait_ms);
        Next::Again { indexes: indexes.to_vec(), wait, idle, why: String::new() }
    }

    fn next(answer: Result<WriteEventRecordsResponse, CallError>, events: usize, idle: u32) -> Next {
        without_why(judge(answer, events, idle).next)
    }

    fn without_why(next: Next) -> Next {
        match next {
            Next::Again { indexes, wait, idle, why } => {
                assert!(!why.is_empty());
                Next::Again { indexes, wait, idle, why: String::new() }
            }
            other => other,
        }
    }

    #[test]
    fn what_was_taken_or_refused_for_good_is_done() {
        assert_eq!(next(answer(3, &[]), 3, 5), Next::Done);
        let verdict = judge(answer(1, &[(0, "EVENT_TOO_OLD"), (2, "FIELD_INVALID")]), 3, 0);
        assert_eq!((verdict.accepted, verdict.next), (1, Next::Done));
        assert_eq!(verdict.refused.iter().map(|result| result.index).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn only_what_may_be_taken_later_is_sent_again() {
        let mixed = [(3, "NOT_READY"), (0, "RATE_LIMITED"), (1, "EVENT_TOO_OLD"), (2, "BACKEND_TIMEOUT")];
        let verdict = judge(answer(1, &mixed), 5, 4);
        assert_eq!((verdict.accepted, verdict.refused.len()), (1, 1));
        assert_eq!(without_why(verdict.next), again(&[0, 2, 3], 100, 0));
        // The last index may be the only one that is left.
        assert_eq!(next(answer(4, &[(4, "BACKEND_OVERLOADED")]), 5, 0), again(&[4], 100, 0));
    }

    #[test]
    fn tries_that_achieve_nothing_are_limited_and_others_are_not() {
        let nothing = || answer(0, &[(0, "RATE_LIMITED"), (1, "RATE_LIMITED")]);
        assert_eq!(next(nothing(), 2, 0), again(&[0, 1], 100, 1));
        assert_eq!(next(nothing(), 2, 3), again(&[0, 1], 800, 4));
        let Next::GiveUp(error) = next(nothing(), 2, TRIES_MAX - 1) else { panic!("not given up") };
        assert_eq!((error.exit_code(), error.message.as_str()), (6, "message 1"));
        // Eight new slices a request: each try gets further, however many it takes.
        assert_eq!(next(answer(1, &[(1, "RATE_LIMITED")]), 2, TRIES_MAX - 1), again(&[1], 100, 0));
        assert_eq!(
            next(answer(0, &[(0, "FIELD_INVALID"), (1, "RATE_LIMITED")]), 2, TRIES_MAX - 1),
            again(&[1], 100, 0)
        );
    }

    #[test]
    fn a_call_that_failed_is_sent_again_where_that_can_help() {
        let overloaded = || Err(error("UNAVAILABLE", Some("BACKEND_OVERLOADED"), Some(1_000)));
        assert_eq!(next(overloaded(), 2, 0), again(&[0, 1], 1_000, 1));
        assert_eq!(next(overloaded(), 2, 5), again(&[0, 1], 3_200, 6));
        assert!(matches!(next(overloaded(), 2, TRIES_MAX - 1), Next::GiveUp(_)));
        assert_eq!(next(Err(error("UNAVAILABLE", None, Some(90_000_000))), 1, 0), again(&[0], 30_000, 1));
        // A connection that breaks in the middle of a call.
        assert_eq!(next(Err(error("UNKNOWN", None, None)), 1, 0), again(&[0], 100, 1));
        assert!(matches!(next(Err(error("UNKNOWN", Some("NEW"), None)), 1, 0), Next::GiveUp(_)));
        for (code, reason) in [("NOT_FOUND", "NAMESPACE_NOT_FOUND"), ("PERMISSION_DENIED", "ROLE_REQUIRED")] {
            let failed = error(code, Some(reason), None);
            assert_eq!(next(Err(failed.clone()), 9, 0), Next::GiveUp(failed));
        }
    }

    #[test]
    fn a_request_refused_as_a_whole_is_halved_down_to_the_event_that_is_wrong() {
        let wrong = || Err(error("INVALID_ARGUMENT", Some("FIELD_INVALID"), None));
        assert_eq!(next(wrong(), 2, 0), Next::Halve);
        let verdict = judge(wrong(), 1, 0);
        assert_eq!((verdict.accepted, verdict.next), (0, Next::Done));
        let one = WriteResult { index: 0, reason: "FIELD_INVALID".to_owned(), message: "why".to_owned() };
        assert_eq!(verdict.refused, [one]);
    }

    #[test]
    fn an_answer_that_does_not_add_up_is_not_believed() {
        for (accepted, refused) in [(1, &[][..]), (3, &[]), (2, &[(0, "EVENT_TOO_OLD")])] {
            assert!(
                matches!(next(answer(accepted, refused), 2, 0), Next::GiveUp(_)),
                "{accepted} {refused:?}"
            );
        }
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let waits: Vec<u128> = (0..9).map(|idle| back_off(idle).as_millis()).collect();
        assert_eq!(waits, [100, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(back_off(u32::MAX), WAIT_MAX);
    }
}
