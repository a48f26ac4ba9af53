//! Everything that was found out about one question.

use anyhow::Result;

use super::beside::Beside;
use super::goal::{Goal, Judged, judge};
use super::rounds::Runs;

/// What a rate counts, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Events per second, shown in thousands.
    Events,
    /// Bytes per second, shown in millions.
    Bytes,
    /// Starts of a process per second.
    Starts,
    /// Calls of a store per second.
    Calls,
}

impl Unit {
    /// What is counted.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Bytes => "bytes",
            Self::Starts => "starts",
            Self::Calls => "calls",
        }
    }

    /// How a rate is labelled.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Events => "1000 events/s",
            Self::Bytes => "MB/s",
            Self::Starts => "starts/s",
            Self::Calls => "calls/s",
        }
    }

    /// A rate in the unit of its label.
    pub(crate) fn shown(self, rate: f64) -> String {
        let scale = match self {
            Self::Events => 1e3,
            Self::Bytes => 1e6,
            Self::Starts | Self::Calls => 1.0,
        };
        format!("{:.1}", rate / scale)
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Which question.
    pub(crate) question: &'static str,
    /// What rates count.
    pub(crate) unit: Unit,
    /// The rounds of each side; none where the figures beside the goals say it all.
    pub(crate) runs: Vec<Runs>,
    /// The goals beside what was measured.
    pub(crate) judged: Vec<Judged>,
    /// Ways beside each other, where that says it best.
    pub(crate) beside: Option<Beside>,
    /// What a reader of the figures has to know.
    pub(crate) notes: Vec<String>,
}

impl Answer {
    /// Judges the rounds.
    pub(crate) fn new(question: &'static str, unit: Unit, runs: Vec<Runs>, goals: &[Goal]) -> Result<Self> {
        let judged = goals.iter().map(|goal| judge(goal, &runs)).collect::<Result<Vec<_>>>()?;
        Ok(Self { question, unit, runs, judged: judged.concat(), beside: None, notes: Vec::new() })
    }

    /// Shows ways beside each other.
    pub(crate) fn beside(mut self, beside: Beside) -> Self {
        self.beside = Some(beside);
        self
    }

    /// Adds what a reader has to know.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether a goal was missed.
    pub(crate) fn missed(&self) -> bool {
        self.judged.iter().any(|judged| judged.met == Some(false))
    }
}
