//! Backfills: asked for, and as they are.

use engine::{Backfill, Error, Result};
use model::{Interval, NamespaceName};

use super::namespace::namespace_name;
use super::time::{time_from_wire, timestamp_to_wire};
use crate::admin::v1;

/// The namespace and the range that a request opens.
pub fn new_backfill(wire: &v1::BeginBackfillRequest) -> Result<(NamespaceName, Interval)> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let time = |field: &str, time: Option<prost_types::Timestamp>| {
        let missing = || Error::field(field, "is missing; send a time such as 2026-03-28T00:00:00Z");
        time_from_wire(field, time.ok_or_else(missing)?)
    };
    let (start, end) = (time("start", wire.start)?, time("end", wire.end)?);
    if end <= start {
        return Err(Error::field("end", "is not behind start; send a start and a later end"));
    }
    let interval = Interval::new(start, end).map_err(|error| Error::field("end", error))?;
    Ok((namespace, interval))
}

/// A backfill as it is.
pub fn backfill_to_wire(backfill: Backfill) -> v1::Backfill {
    v1::Backfill {
        id: backfill.id,
        start: Some(timestamp_to_wire(backfill.interval.start())),
        end: Some(timestamp_to_wire(backfill.interval.end())),
        open: backfill.open,
    }
}

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::*;

    fn at(seconds: i64) -> Option<Timestamp> {
        Some(Timestamp { seconds, nanos: 0 })
    }

    #[test]
    fn a_range_has_a_start_and_a_later_end() {
        let asked = |start, end| {
            let request =
                v1::BeginBackfillRequest { namespace: "plays".to_owned(), start, end, ..Default::default() };
            new_backfill(&request).map(|(_, interval)| interval).map_err(|error| error.to_string())
        };
        let interval = asked(at(1), at(2)).unwrap();
        assert_eq!((interval.start(), interval.end()), (1_000_000_000, 2_000_000_000));
        assert_eq!(asked(at(-9), at(i64::MAX)), Ok(Interval::ALL));
        let wrong = "end: is not behind start; send a start and a later end";
        assert_eq!(asked(at(1), at(1)), Err(wrong.to_owned()));
        assert_eq!(asked(at(-2), at(-1)), Err(wrong.to_owned()));
        assert_eq!(
            asked(None, at(1)),
            Err("start: is missing; send a time such as 2026-03-28T00:00:00Z".to_owned())
        );
        assert!(asked(at(1), None).unwrap_err().starts_with("end: is missing"));
        let shown = backfill_to_wire(Backfill { id: 7, interval, open: true });
        assert_eq!(shown, v1::Backfill { id: 7, start: at(1), end: at(2), open: true });
    }
}
