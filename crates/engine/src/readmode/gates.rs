//! Whether what was seen is enough for the next step. Pure.

use std::time::Duration;

use super::evidence::Evidence;
use crate::namespace::{ReadGates, ReadMode};

/// One condition of the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its name among the settings.
    pub name: &'static str,
    /// What is wanted.
    pub wanted: String,
    /// What is there.
    pub found: String,
    /// Whether that is enough.
    pub passed: bool,
    /// Only automatic steps wait for it.
    pub automatic_only: bool,
}

/// The conditions of the step behind `mode`, in which reads have been for `age`. None behind the last, and for switching
/// comparisons on.
pub(crate) fn gates(mode: ReadMode, gates: &ReadGates, seen: &Evidence, age: Duration) -> Vec<Gate> {
    if matches!(mode, ReadMode::Off | ReadMode::On) {
        return Vec::new();
    }
    let gate = |name, wanted, found, passed| Gate { name, wanted, found, passed, automatic_only: false };
    let mut all = vec![
        gate(
            "min_compared",
            format!("at least {}", gates.min_compared),
            seen.compared.to_string(),
            seen.compared >= gates.min_compared,
        ),
        gate(
            "max_differ_bytes",
            format!("at most {}", gates.max_differ_bytes),
            seen.differ_bytes.to_string(),
            seen.differ_bytes <= gates.max_differ_bytes,
        ),
    ];
    if mode == ReadMode::Canary {
        let share = seen.fallback_share();
        all.push(gate(
            "max_fallback_share",
            format!("at most {}", gates.max_fallback_share.of_one()),
            format!("{share:.4}"),
            share <= gates.max_fallback_share.of_one(),
        ));
    }
    let (most, ratio) = (f64::from(gates.max_latency_permille) / 1_000.0, seen.latency_ratio());
    let shown_only = gates.max_latency_permille == 0;
    all.push(gate(
        "max_latency_ratio",
        if shown_only { "shown only".to_owned() } else { format!("at most {most}") },
        ratio.map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.3}")),
        shown_only || ratio.is_some_and(|ratio| ratio <= most),
    ));
    all.push(Gate {
        name: "min_time",
        wanted: format!("at least {} s", gates.min_time.as_secs()),
        found: format!("{} s", age.as_secs()),
        passed: age >= gates.min_time,
        automatic_only: true,
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Share;

    fn failing(mode: ReadMode, wanted: &ReadGates, seen: &Evidence, seconds: u64) -> Vec<&'static str> {
        let all = gates(mode, wanted, seen, Duration::from_secs(seconds));
        all.into_iter().filter(|gate| !gate.passed).map(|gate| gate.name).collect()
    }

    #[test]
    fn each_gate_holds_for_its_own_reason() {
        let wanted = ReadGates::default();
        let good = Evidence { compared: 50, ..Evidence::default() };
        assert_eq!(failing(ReadMode::Off, &wanted, &Evidence::default(), 0), [""; 0]);
        assert_eq!(failing(ReadMode::Shadow, &wanted, &good, 600), [""; 0]);
        assert_eq!(
            failing(ReadMode::Shadow, &wanted, &Evidence { compared: 49, ..good }, 600),
            ["min_compared"]
        );
        assert_eq!(
            failing(ReadMode::Shadow, &wanted, &Evidence { differ_bytes: 1, ..good }, 600),
            ["max_differ_bytes"]
        );
        assert_eq!(failing(ReadMode::Shadow, &wanted, &good, 599), ["min_time"]);
        let falls = Evidence { target_pages: 98, fallback_pages: 2, ..good };
        assert_eq!(failing(ReadMode::Shadow, &wanted, &falls, 600), [""; 0], "nothing is served yet");
        assert_eq!(failing(ReadMode::Canary, &wanted, &falls, 600), ["max_fallback_share"]);
        let lenient = ReadGates { max_fallback_share: Share::parts(200), ..wanted };
        assert_eq!(failing(ReadMode::Canary, &lenient, &falls, 600), [""; 0]);
    }

    #[test]
    fn latency_is_shown_and_counts_only_where_that_is_wished() {
        let slow =
            Evidence { compared: 50, timed: 1, origin_nanos: 10, target_nanos: 15, ..Evidence::default() };
        let all = gates(ReadMode::Shadow, &ReadGates::default(), &slow, Duration::from_secs(600));
        let latency = all.iter().find(|gate| gate.name == "max_latency_ratio").unwrap();
        assert_eq!(
            (latency.found.as_str(), latency.wanted.as_str(), latency.passed),
            ("1.500", "shown only", true)
        );
        let strict = ReadGates { max_latency_permille: 1_400, ..ReadGates::default() };
        assert_eq!(failing(ReadMode::Shadow, &strict, &slow, 600), ["max_latency_ratio"]);
        let unmeasured = Evidence { compared: 50, ..Evidence::default() };
        assert_eq!(failing(ReadMode::Shadow, &strict, &unmeasured, 600), ["max_latency_ratio"]);
    }
}
