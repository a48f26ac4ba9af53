//! What is known of a workload, and what of it cannot be planned for.

use std::time::Duration;

use crate::Guess;

/// Worlds that are sampled where nobody says how many.
pub const WORLDS_DEFAULT: u32 = 128;
/// Worlds that one plan may ask for: what it takes grows with them.
pub const WORLDS_MAX: u32 = 512;

/// A page of a read cannot come back sooner: one question to a replica and its answer.
const ROUND_TRIP: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
/// The longest that a namespace can keep anything.
const RETENTION_MAX: Duration = Duration::from_secs(3_660 * 86_400);
const SLO_MAX: Duration = Duration::from_secs(3_600);
const REPLICAS_MAX: u32 = 5;

/// What a namespace is expected to carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Events of a series in a second, as the mean over all series.
    pub events_per_second_per_id: Guess,
    /// How many series there are at a time.
    pub ids: Guess,
    /// How unevenly events are spread over them: 0 is evenly, 1 gives the second busiest half of what the busiest has.
    pub skew: Guess,
    /// Bytes that a client sends for one event.
    pub event_bytes: Guess,
    /// Reads of the whole namespace in a second.
    pub reads_per_second: Guess,
    /// How much time one read asks for.
    pub read_interval: Duration,
    /// How long events have to be kept.
    pub retention: Duration,
    /// What the first page of a read may take.
    pub read_slo: Duration,
    /// Machines that hold each event. One is a single machine, the embedded store.
    pub replicas: u32,
    /// Decides which worlds are sampled.
    pub seed: u64,
    /// How many.
    pub worlds: u32,
}

/// A workload that is not planned for: what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The field of the workload.
    pub field: &'static str,
    /// What is wrong with it, and what to send instead.
    pub problem: String,
}

impl Refusal {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for Refusal {}

/// What a guess may be: from, to, and what a value outside means.
struct Bounds {
    field: &'static str,
    guess: Guess,
    min: f64,
    max: f64,
    below: &'static str,
    above: &'static str,
}

impl Workload {
    /// Refuses what is impossible or absurd.
    pub fn check(&self) -> Result<(), Refusal> {
        for bounds in self.bounds() {
            bounds.check()?;
        }
        self.check_times()?;
        if !(1..=REPLICAS_MAX).contains(&self.replicas) {
            let problem = format!("is {}; choose 1 (a single machine) to {REPLICAS_MAX}", self.replicas);
            return Err(Refusal::new("replicas", problem));
        }
        if !(1..=WORLDS_MAX).contains(&self.worlds) {
            let problem =
                format!("is {}; choose 1 to {WORLDS_MAX}, {WORLDS_DEFAULT} are plenty", self.worlds);
            return Err(Refusal::new("worlds", problem));
        }
        Ok(())
    }

    fn bounds(&self) -> [Bounds; 5] {
        [
            Bounds {
                field: "events_per_second_per_id",
                guess: self.events_per_second_per_id,
                min: 1e-8,
                max: 1e6,
                below: "without events there is nothing to plan; give the rate of one series, 10 a day is 0.000116",
                above: "no series takes over a million events a second; give the mean of one series, not of all",
            },
            Bounds {
                field: "ids",
                guess: self.ids,
                min: 1.0,
                max: 1e10,
                below: "there is at least one series",
                above: "at most ten thousand million series are planned for; spread them over several namespaces",
            },
            Bounds {
                field: "skew",
                guess: self.skew,
                min: 0.0,
                max: 3.0,
                below: "0 is the least: all series have the same rate",
                above: "at most 3: there, the busiest series has over four fifths of all events",
            },
            Bounds {
                field: "event_bytes",
                guess: self.event_bytes,
                min: 1.0,
                max: 4_194_304.0,
                below: "an event has at least one byte",
                above: "an event has to fit into a request of 4 MiB; store larger values elsewhere and keep a reference",
            },
            Bounds {
                field: "reads_per_second",
                guess: self.reads_per_second,
                min: 0.0,
                max: 1e7,
                below: "0 is the least: nobody reads",
                above: "at most ten million reads a second are planned for",
            },
        ]
    }

    fn check_times(&self) -> Result<(), Refusal> {
        if self.retention.is_zero() {
            let problem = "is missing: what is kept for ever outgrows every disk; say how long events have to be kept, \
                           or the longest time to plan for";
            return Err(Refusal::new("retention", problem));
        }
        if !(HOUR..=RETENTION_MAX).contains(&self.retention) {
            let problem = "has to be an hour at least and ten years at most; choose a time between them";
            return Err(Refusal::new("retention", problem));
        }
        if self.read_interval.is_zero() {
            let problem =
                "is missing: without it nobody knows how much a read asks for; say how much time one covers";
            return Err(Refusal::new("read_interval", problem));
        }
        if self.read_interval > self.retention {
            let problem =
                "reaches further back than events are kept; make it at most retention, or keep them longer";
            return Err(Refusal::new("read_interval", problem));
        }
        if self.read_slo < ROUND_TRIP {
            let problem = "is under a round trip to a replica (1 ms): no shape and no cluster can answer sooner; allow more";
            return Err(Refusal::new("read_slo", problem));
        }
        if self.read_slo > SLO_MAX {
            let problem = "is over an hour, which is no goal; say what the first page of a read may take";
            return Err(Refusal::new("read_slo", problem));
        }
        Ok(())
    }
}

impl Bounds {
    fn check(self) -> Result<(), Refusal> {
        let Guess { low, mid, high } = self.guess;
        let refused = |problem: String| Err(Refusal::new(self.field, problem));
        if ![low, mid, high].into_iter().all(f64::is_finite) {
            return refused("has a part that is not a number; give low, mid and high as numbers".to_owned());
        }
        if low > mid || mid > high {
            return refused(format!(
                "low is {low}, mid {mid}, high {high}; give them in this order, smallest first"
            ));
        }
        if low < self.min {
            return refused(format!("is {low} at its lowest; {}", self.below));
        }
        if high > self.max {
            return refused(format!("is {high} at its highest; {}", self.above));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Sensors that report every minute, read by the hour.
    pub(crate) fn sensors() -> Workload {
        Workload {
            events_per_second_per_id: Guess { low: 0.005, mid: 0.02, high: 0.1 },
            ids: Guess { low: 1_000.0, mid: 10_000.0, high: 100_000.0 },
            skew: Guess { low: 0.5, mid: 0.8, high: 1.1 },
            event_bytes: Guess { low: 200.0, mid: 400.0, high: 1_000.0 },
            reads_per_second: Guess { low: 10.0, mid: 100.0, high: 500.0 },
            read_interval: HOUR,
            retention: Duration::from_secs(30 * 86_400),
            read_slo: Duration::from_millis(100),
            replicas: 3,
            seed: 7,
            worlds: WORLDS_DEFAULT,
        }
    }

    #[track_caller]
    fn refused(change: impl FnOnce(&mut Workload), expect: &str) {
        let mut workload = sensors();
        change(&mut workload);
        let refusal = workload.check().unwrap_err().to_string();
        assert!(refusal.contains(expect), "{refusal}");
    }

    #[test]
    fn what_is_possible_is_taken() {
        assert_eq!(sensors().check(), Ok(()));
        let never_read = Workload { reads_per_second: Guess { low: 0.0, mid: 0.0, high: 5.0 }, ..sensors() };
        assert_eq!(never_read.check(), Ok(()));
    }

    #[test]
    fn impossible_times_are_explained() {
        refused(
            |w| w.retention = Duration::ZERO,
            "retention: is missing: what is kept for ever outgrows every disk",
        );
        refused(|w| w.retention = Duration::from_secs(60), "retention: has to be an hour at least");
        refused(|w| w.retention = Duration::from_secs(400_000_000), "ten years at most");
        refused(|w| w.read_interval = Duration::ZERO, "read_interval: is missing");
        refused(
            |w| w.read_interval = Duration::from_secs(31 * 86_400),
            "read_interval: reaches further back",
        );
        refused(
            |w| w.read_slo = Duration::from_micros(999),
            "read_slo: is under a round trip to a replica (1 ms)",
        );
        refused(|w| w.read_slo = Duration::from_secs(3_601), "read_slo: is over an hour");
    }

    #[test]
    fn absurd_numbers_are_explained() {
        refused(
            |w| w.events_per_second_per_id = Guess::exactly(0.0),
            "events_per_second_per_id: is 0 at its lowest; without events",
        );
        refused(|w| w.events_per_second_per_id.low = 0.0, "without events there is nothing to plan");
        refused(|w| w.events_per_second_per_id.high = 2e6, "give the mean of one series");
        refused(|w| w.ids.low = 0.0, "ids: is 0 at its lowest; there is at least one series");
        refused(|w| w.ids.high = 1e12, "ids: is 1000000000000 at its highest");
        refused(
            |w| w.ids.low = 20_000.0,
            "ids: low is 20000, mid 10000, high 100000; give them in this order",
        );
        refused(|w| w.skew.high = 0.1, "skew: low is 0.5, mid 0.8, high 0.1; give them in this order");
        refused(|w| w.skew.high = 4.0, "skew: is 4 at its highest; at most 3");
        refused(
            |w| w.event_bytes.high = 5e6,
            "event_bytes: is 5000000 at its highest; an event has to fit into a request",
        );
        refused(|w| w.event_bytes.mid = f64::NAN, "event_bytes: has a part that is not a number");
        refused(|w| w.ids.high = f64::INFINITY, "ids: has a part that is not a number");
        refused(|w| w.reads_per_second.low = -1.0, "reads_per_second: is -1 at its lowest");
    }

    #[test]
    fn what_a_plan_takes_is_limited() {
        refused(|w| w.worlds = 0, "worlds: is 0; choose 1 to 512");
        refused(|w| w.worlds = 513, "worlds: is 513; choose 1 to 512");
        refused(|w| w.replicas = 0, "replicas: is 0; choose 1 (a single machine) to 5");
        refused(|w| w.replicas = 6, "replicas: is 6");
    }
}
