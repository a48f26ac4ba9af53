//! What the answers to one question cost together, and what is missing from them: for programs as one context, for
//! people as lines.

use std::time::Duration;

use api::v1;

use crate::output::value;

/// Why an answer is partial whose token leads no further for now.
const VIEW_STALE: &str = "VIEW_STALE";

/// Whether going on at once would give the same again.
pub(super) fn is_stale(partial: Option<&v1::Partial>) -> bool {
    partial.is_some_and(|partial| partial.reason == VIEW_STALE)
}

/// The contexts of all answers, added up.
#[derive(Debug, Default)]
pub(super) struct CostSum {
    context: v1::ResponseContext,
}

impl CostSum {
    /// Adds what a further answer cost.
    pub(super) fn add(&mut self, contexts: &[v1::ResponseContext]) {
        for context in contexts {
            let sum = &mut self.context;
            sum.namespace.clone_from(&context.namespace);
            let took = value::from_wire(sum.time_taken).saturating_add(value::from_wire(context.time_taken));
            sum.time_taken = Some(api::convert::duration_to_wire(took));
            sum.bytes_read = sum.bytes_read.saturating_add(context.bytes_read);
            sum.partitions = sum.partitions.saturating_add(context.partitions);
            sum.blocked_partitions = sum.blocked_partitions.saturating_add(context.blocked_partitions);
            // Answers to one question go through the same slices.
            sum.slices = sum.slices.max(context.slices);
            sum.fallbacks = sum.fallbacks.saturating_add(context.fallbacks);
            sum.partial |= context.partial;
            if let Some(routes) = context.routes {
                let total = sum.routes.get_or_insert_default();
                total.origin = total.origin.saturating_add(routes.origin);
                total.target = total.target.saturating_add(routes.target);
            }
        }
    }

    /// All of them as one; none where there was none.
    pub(super) fn contexts(&self) -> Vec<v1::ResponseContext> {
        let some = self.context != v1::ResponseContext::default();
        some.then(|| self.context.clone()).into_iter().collect()
    }

    /// The line for people after a table.
    pub(super) fn summary(&self, events: u64, took: Duration) -> String {
        let bytes = u64::try_from(self.context.bytes_read).unwrap_or(0);
        let partitions = u64::try_from(self.context.partitions).unwrap_or(0);
        format!(
            "{}, {} read from {}{} in {}\n",
            value::count(events, "event"),
            value::size(bytes),
            value::count(partitions, "partition"),
            self.routes(),
            value::took(took)
        )
    }

    /// Which partitions those were, where some of them were split.
    fn routes(&self) -> String {
        let number = |number: i64, what: &str| value::count(u64::try_from(number).unwrap_or(0), what);
        let routes = self.context.routes.unwrap_or_default();
        let fallbacks = match self.context.fallbacks {
            0 => String::new(),
            count => format!(", {}", number(count, "fallback")),
        };
        if routes.target == 0 && fallbacks.is_empty() {
            return String::new();
        }
        format!(" ({}, {}{fallbacks})", number(routes.origin, "origin"), number(routes.target, "target"))
    }

    /// What was passed over, for people.
    fn blocked(&self) -> String {
        match u64::try_from(self.context.blocked_partitions) {
            Ok(0) | Err(_) => String::new(),
            Ok(count) => {
                format!("{} passed over: their series are blocked\n", value::count(count, "partition"))
            }
        }
    }

    /// What is missing from the answer, for people.
    pub(super) fn gaps(&self, partial: Option<&v1::Partial>, retention_truncated: bool) -> String {
        let mut text = self.blocked();
        if let Some(partial) = partial {
            let whole = value::interval(partial.complete_interval.as_ref());
            let why = if partial.reason == VIEW_STALE {
                "the server has lost touch with the others and is sure of a part only; ask again or another one"
            } else {
                "not everything was read in time"
            };
            text += &format!("{why} ({}); complete: {whole}\n", partial.reason);
        }
        if retention_truncated {
            text += "a part of this time is gone: retention dropped its slices\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(bytes_read: i64, blocked_partitions: i64) -> v1::ResponseContext {
        v1::ResponseContext {
            namespace: "plays".to_owned(),
            time_taken: Some(prost_types::Duration { seconds: 0, nanos: 600_000_000 }),
            bytes_read,
            partitions: 2,
            slices: 3,
            routes: Some(v1::Routes { origin: 2, target: 0 }),
            blocked_partitions,
            ..v1::ResponseContext::default()
        }
    }

    #[test]
    fn contexts_add_up() {
        let mut sum = CostSum::default();
        assert_eq!(sum.contexts(), []);
        sum.add(&[context(10, 1)]);
        sum.add(&[v1::ResponseContext { partial: true, slices: 1, ..context(20, 0) }]);
        let expect = v1::ResponseContext {
            time_taken: Some(prost_types::Duration { seconds: 1, nanos: 200_000_000 }),
            partitions: 4,
            routes: Some(v1::Routes { origin: 4, target: 0 }),
            partial: true,
            ..context(30, 1)
        };
        assert_eq!(sum.contexts(), [expect]);
    }

    #[test]
    fn people_are_told_what_it_cost_and_what_was_passed_over() {
        let mut sum = CostSum::default();
        assert_eq!(sum.gaps(None, false), "");
        sum.add(&[context(2_048, 1)]);
        let took = Duration::from_millis(12);
        assert_eq!(sum.summary(1, took), "1 event, 2.0 KiB read from 2 partitions in 12.0 ms\n");
        assert_eq!(sum.summary(2, took), "2 events, 2.0 KiB read from 2 partitions in 12.0 ms\n");
        let mut split = CostSum::default();
        let routes = Some(v1::Routes { origin: 1, target: 4 });
        split.add(&[v1::ResponseContext { partitions: 5, routes, ..context(2_048, 0) }]);
        assert_eq!(
            split.summary(1, took),
            "1 event, 2.0 KiB read from 5 partitions (1 origin, 4 targets) in 12.0 ms\n"
        );
        split.add(&[v1::ResponseContext { fallbacks: 1, ..context(0, 0) }]);
        let said = split.summary(1, took);
        assert!(said.contains("7 partitions (3 origins, 4 targets, 1 fallback) in"), "{said}");
        assert_eq!(sum.gaps(None, false), "1 partition passed over: their series are blocked\n");
        let partial = v1::Partial { reason: "READ_MAX".to_owned(), complete_interval: None };
        assert_eq!(
            sum.gaps(Some(&partial), true),
            "1 partition passed over: their series are blocked\n\
             not everything was read in time (READ_MAX); complete: unknown\n\
             a part of this time is gone: retention dropped its slices\n"
        );
        assert!(!is_stale(Some(&partial)) && !is_stale(None));
        let stale = v1::Partial { reason: "VIEW_STALE".to_owned(), complete_interval: None };
        assert!(is_stale(Some(&stale)));
        let said = CostSum::default().gaps(Some(&stale), false);
        assert!(said.ends_with("; ask again or another one (VIEW_STALE); complete: unknown\n"), "{said}");
    }
}
