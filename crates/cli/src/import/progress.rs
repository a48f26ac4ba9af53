//! A line that moves while an import runs, where somebody looks at a terminal; nothing elsewhere. Also the way to say
//! something to people meanwhile.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use env::{BootTime, Clock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::report::{Counts, grouped, rate};
use crate::failure::talk;

/// Bytes with a known end, bytes without, events.
const BYTES_OF: &str = "{bar:30} {percent:>3}%  {bytes} of {total_bytes}  {msg}";
const BYTES: &str = "{spinner} {bytes}  {msg}";
const EVENTS_OF: &str = "{bar:30} {percent:>3}%  {msg}";

/// The line, and the way to say something beside it.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    done: Arc<AtomicU64>,
    clock: Arc<dyn Clock>,
    started: BootTime,
    say: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether the namespace is somebody's, who should know what happens to it.
    notes: bool,
}

impl Progress {
    /// A line on stderr, if that is a terminal: `read_bytes` grows up to `total_bytes`, where that is known.
    pub(crate) fn of_bytes(
        clock: &Arc<dyn Clock>,
        read_bytes: Arc<AtomicU64>,
        total_bytes: Option<u64>,
    ) -> Self {
        let template = if total_bytes.is_some() { BYTES_OF } else { BYTES };
        Self { bar: bar(total_bytes, template), ..Self::speaking(clock, read_bytes, talk) }
    }

    /// The same for events that are made and not read: `made` grows up to `total`. What happens to the namespace is of
    /// no interest then.
    pub(crate) fn of_events(clock: &Arc<dyn Clock>, made: Arc<AtomicU64>, total: u64) -> Self {
        let bar = bar(Some(total), EVENTS_OF);
        Self { bar, notes: false, ..Self::speaking(clock, made, talk) }
    }

    /// No line, and what there is to say goes to `say`.
    pub(super) fn speaking(
        clock: &Arc<dyn Clock>,
        done: Arc<AtomicU64>,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            bar: None,
            done,
            clock: Arc::clone(clock),
            started: clock.boot(),
            say: Box::new(say),
            notes: true,
        }
    }

    /// Shows the counts.
    pub(crate) fn show(&self, counts: &Counts) {
        let Some(bar) = &self.bar else { return };
        let took = self.clock.boot().since(self.started);
        let (accepted, rate) = (grouped(counts.accepted), grouped(rate(counts.accepted, took)));
        bar.set_message(format!("{accepted} events  {rate}/s"));
        bar.set_position(self.done.load(Ordering::Relaxed));
    }

    /// Says something to people without tearing the line.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| (self.say)(text)),
            None => (self.say)(text),
        }
    }

    /// Says what happens to the namespace.
    pub(crate) fn note(&self, text: &str) {
        if self.notes {
            self.say(&format!("{text}\n"));
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// None where nobody would see it.
fn bar(total: Option<u64>, template: &str) -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    // A template that is wrong shows the library's own line; the test below sees to it that it is right.
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    Some(bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_right() {
        for template in [BYTES_OF, BYTES, EVENTS_OF] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
