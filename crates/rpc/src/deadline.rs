//! How long a client is willing to wait, as it says in the headers. Pure.

use std::time::Duration;

use http::HeaderMap;
use tonic::{Code, Status};

use crate::status::with_reason;

/// A call has its answer, or the beginning of its stream, within this: nobody holds a place by sending a request slowly.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// How JSON clients say it.
pub(crate) const TIMEOUT_HEADER: &str = "connect-timeout-ms";
/// Digits that either header may have.
const DIGITS_MAX: usize = 10;

/// What the client allows, within what the server does.
pub(crate) fn time_for(headers: &HeaderMap) -> Duration {
    deadline_of(headers).map_or(ANSWER_WITHIN, |deadline| deadline.min(ANSWER_WITHIN))
}

/// The client's deadline; none if it has none or says it in a way that is not known.
fn deadline_of(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    text("grpc-timeout")
        .and_then(grpc)
        .or_else(|| text(TIMEOUT_HEADER).and_then(number).map(Duration::from_millis))
}

fn grpc(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count = number(digits)?;
    Some(match unit {
        "H" => Duration::from_secs(count.checked_mul(3_600)?),
        "M" => Duration::from_secs(count.checked_mul(60)?),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

fn number(digits: &str) -> Option<u64> {
    let plain = digits.len() <= DIGITS_MAX && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// The time ran out.
pub(crate) fn exceeded() -> Status {
    let message = "the time for this call ran out before the answer was there; a write may still be stored, sending \
                   it again is safe; allow more time, or ask for less";
    with_reason(Code::DeadlineExceeded, "BACKEND_TIMEOUT", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_read_as_the_two_protocols_write_them() {
        let check = |name: &'static str, value: &str, expect: Option<Duration>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(deadline_of(&headers), expect, "{name}: {value}");
        };
        check("grpc-timeout", "2H", Some(Duration::from_secs(7_200)));
        check("grpc-timeout", "3M", Some(Duration::from_secs(180)));
        check("grpc-timeout", "10S", Some(Duration::from_secs(10)));
        check("grpc-timeout", "250m", Some(Duration::from_millis(250)));
        check("grpc-timeout", "7u", Some(Duration::from_micros(7)));
        check("grpc-timeout", "9n", Some(Duration::from_nanos(9)));
        check("connect-timeout-ms", "1500", Some(Duration::from_millis(1_500)));
        for bad in ["", "S", "+1S", "1", "99999999999S", "1x"] {
            check("grpc-timeout", bad, None);
        }
        assert_eq!(deadline_of(&HeaderMap::new()), None);
    }
}
