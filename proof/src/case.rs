//! A case: a model, its bounds, the guards taken away, and what has to come of it. And the verdict on a run.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use crate::explore::explore;
use crate::{Explored, Guard, Mark, Marks, Want, Without, clock, cover, slice};

/// Which model, within which bounds.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// Covers of one partition.
    Cover(cover::Bounds),
    /// Leases and closed time in ticks.
    Clock(clock::Bounds),
    /// One slice and its keepers.
    Slice(slice::Bounds),
}

/// How long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Seconds; part of the tests.
    Small,
    /// Up to minutes.
    Large,
}

/// What has to come of it.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    /// Every property holds in every state, and these marks are reached.
    Holds(&'static [Mark]),
    /// This property is violated.
    Breaks(&'static str),
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// How to ask for it.
    pub name: &'static str,
    /// How long it takes.
    pub size: Size,
    /// What is explored.
    pub subject: Subject,
    /// What was taken away.
    pub without: &'static [Guard],
    /// What has to come of it.
    pub expect: Expect,
}

/// How a run compares with what was expected.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything holds, and everything that has to happen does.
    Holds,
    /// The expected property is violated, in so many steps.
    Caught(usize),
    /// A property is violated that should not be.
    Violated(&'static str, usize),
    /// Nothing is violated although a guard is missing.
    NotCaught,
    /// Everything holds, but these never happened: the bounds are too narrow to mean anything.
    NeverReached(Vec<Mark>),
    /// The run was cut short by its limit on states.
    Cut,
}

impl Verdict {
    /// Whether this is what the case expects.
    pub fn is_expected(&self) -> bool {
        matches!(self, Self::Holds | Self::Caught(_))
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => write!(f, "holds"),
            Self::Caught(steps) => write!(f, "caught in {steps} steps"),
            Self::Violated(property, steps) => write!(f, "VIOLATED in {steps} steps: {property}"),
            Self::NotCaught => write!(f, "NOT CAUGHT"),
            Self::NeverReached(marks) => write!(f, "NEVER REACHED: {marks:?}"),
            Self::Cut => write!(f, "CUT SHORT"),
        }
    }
}

impl Case {
    /// Whether it lacks a guard and has to be caught.
    pub fn is_mutant(&self) -> bool {
        matches!(self.expect, Expect::Breaks(_))
    }

    /// Explores it.
    pub fn run(&self, threads: usize, want: Want) -> (Explored, Verdict) {
        let marks = Arc::new(Marks::default());
        let without = Without::of(self.without);
        let noted = Arc::clone(&marks);
        let explored = match self.subject {
            Subject::Cover(bounds) => explore(&cover::Cover::new(bounds, without, noted), threads, want),
            Subject::Clock(bounds) => explore(&clock::Clocks::new(bounds, without, noted), threads, want),
            Subject::Slice(bounds) => explore(&slice::Slices::new(bounds, without, noted), threads, want),
        };
        let verdict = self.judge(&explored, &marks);
        (explored, verdict)
    }

    fn judge(&self, explored: &Explored, marks: &Marks) -> Verdict {
        match (&explored.violation, self.expect) {
            (Some(found), Expect::Breaks(property)) if found.property == property => {
                Verdict::Caught(found.steps.len())
            }
            (Some(found), _) => Verdict::Violated(found.property, found.steps.len()),
            (None, _) if !explored.complete => Verdict::Cut,
            (None, Expect::Breaks(_)) => Verdict::NotCaught,
            (None, Expect::Holds(needed)) => {
                let never: Vec<Mark> = needed.iter().filter(|mark| !marks.has(**mark)).copied().collect();
                if never.is_empty() { Verdict::Holds } else { Verdict::NeverReached(never) }
            }
        }
    }
}
