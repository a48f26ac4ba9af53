//! A line that moves while an export runs, where somebody looks at a terminal; nothing elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;

use env::{BootTime, Clock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::talk;
use crate::import::{grouped, rate};
use crate::output::value::size;

/// Tables, and what has come of them.
const TEMPLATE: &str = "{bar:30} {pos}/{len} tables  {msg}";

/// The line, and the way to say something beside it.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    clock: Arc<dyn Clock>,
    started: BootTime,
    rows: u64,
    bytes: u64,
}

impl Progress {
    /// A line on stderr, if that is a terminal, of which `done` tables are behind it.
    pub(super) fn new(clock: &Arc<dyn Clock>, tables: usize, done: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(tables as u64), ProgressDrawTarget::stderr());
            // A template that is wrong shows the library's own line; the test below sees to it that it is right.
            let style = ProgressStyle::with_template(TEMPLATE);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_position(done as u64);
            bar
        });
        Self { bar, clock: Arc::clone(clock), started: clock.boot(), rows: 0, bytes: 0 }
    }

    /// Rows and bytes that came.
    pub(super) fn add(&mut self, rows: u64, bytes: u64) {
        (self.rows, self.bytes) = (self.rows + rows, self.bytes + bytes);
        let Some(bar) = &self.bar else { return };
        let took = self.clock.boot().since(self.started);
        let (shown, per_second) = (grouped(self.rows), grouped(rate(self.rows, took)));
        bar.set_message(format!("{shown} rows  {}  {per_second} rows/s", size(self.bytes)));
    }

    /// A table is done.
    pub(super) fn table(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Says something to people without tearing the line.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| talk(&format!("{text}\n"))),
            None => talk(&format!("{text}\n")),
        }
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_right() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
