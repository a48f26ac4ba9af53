//! A line that moves for each split, where somebody looks at a terminal; nothing elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use api::admin::v1::Split;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::value;
use super::progress::{Progress, ended};

/// With a known end, and without.
const OF_BYTES: &str = "{prefix}  {bar:24} {percent:>3}%  {msg}";
const WAITS: &str = "{prefix}  {spinner} {msg}";
/// Characters of an id that fit beside a bar.
const ID_CHARS_MAX: usize = 40;

/// The lines.
pub(crate) struct Bars {
    shown: Option<MultiProgress>,
    bars: BTreeMap<String, ProgressBar>,
}

impl Bars {
    /// On stderr, if they are wanted and that is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        let terminal = wanted && std::io::stderr().is_terminal();
        let shown = terminal.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
        Self { shown, bars: BTreeMap::new() }
    }

    /// Whether there are any.
    pub(crate) fn are_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Moves the line of a split; one that has ended has none.
    pub(crate) fn show(&mut self, split: &Split) {
        let Some(shown) = &self.shown else { return };
        if ended(split).is_some() {
            if let Some(bar) = self.bars.remove(&split.id) {
                bar.finish_and_clear();
            }
            return;
        }
        let bar = self.bars.entry(split.id.clone()).or_insert_with(|| shown.add(ProgressBar::no_length()));
        let progress = Progress::of(split);
        let of_bytes = progress.as_ref().and_then(|progress| progress.of_bytes);
        // A template that is wrong shows the library's own line; the test below sees to it that it is right.
        let template = if of_bytes.is_some() { OF_BYTES } else { WAITS };
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_prefix(api::clip::clip(&value::printable(&split.id), ID_CHARS_MAX));
        if let Some(of_bytes) = of_bytes {
            bar.set_length(of_bytes);
        }
        let state = value::printable(&split.state).into_owned();
        bar.set_message(progress.as_ref().map_or(state, ToString::to_string));
        bar.set_position(progress.map_or(0, |progress| progress.bytes));
        bar.tick();
    }

    /// Writes something without tearing the lines.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.shown {
            Some(shown) => shown.suspend(write),
            None => write(),
        }
    }

    /// Takes the lines away.
    pub(crate) fn end(&self) {
        self.bars.values().for_each(ProgressBar::finish_and_clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_right() {
        for template in [OF_BYTES, WAITS] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
