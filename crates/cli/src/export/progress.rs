//! A line that moves while an export runs, where somebody looks at a terminal; nothing elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;

use env::{BootTime, Clock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::share::WHOLE;
use crate::failure::talk;
use crate::import::{grouped, rate};
use crate::output::value::size;

/// Tables, and what has come of them. The bar moves inside of a table, too.
const TEMPLATE: &str = "{bar:30} {percent:>3}%  {msg}";

/// The line, and the way to say something beside it.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    clock: Arc<dyn Clock>,
    started: BootTime,
    tables: u64,
    done: u64,
    rows: u64,
    bytes: u64,
}

impl Progress {
    /// A line on stderr, if that is a terminal, of which `done` tables are behind it.
    pub(super) fn new(clock: &Arc<dyn Clock>, tables: usize, done: usize) -> Self {
        let target = std::io::stderr().is_terminal().then(ProgressDrawTarget::stderr);
        Self::drawn(clock, target, tables, done)
    }

    fn drawn(clock: &Arc<dyn Clock>, target: Option<ProgressDrawTarget>, tables: usize, done: usize) -> Self {
        let (tables, done) = (tables as u64, done as u64);
        let bar = target.map(|target| {
            let bar = ProgressBar::with_draw_target(Some(tables.saturating_mul(WHOLE)), target);
            // A template that is wrong shows the library's own line; the test below sees to it that it is right.
            let style = ProgressStyle::with_template(TEMPLATE);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_position(done.saturating_mul(WHOLE));
            bar
        });
        Self { bar, clock: Arc::clone(clock), started: clock.boot(), tables, done, rows: 0, bytes: 0 }
    }

    /// Whether somebody looks.
    pub(super) fn is_shown(&self) -> bool {
        self.bar.is_some()
    }

    /// Rows and bytes that came.
    pub(super) fn add(&mut self, rows: u64, bytes: u64) {
        (self.rows, self.bytes) = (self.rows + rows, self.bytes + bytes);
        self.show();
    }

    fn show(&self) {
        let Some(bar) = &self.bar else { return };
        let took = self.clock.boot().since(self.started);
        let (shown, per_second) = (grouped(self.rows), grouped(rate(self.rows, took)));
        let (done, tables, bytes) = (self.done, self.tables, size(self.bytes));
        bar.set_message(format!("{done}/{tables} tables  {shown} rows  {bytes}  {per_second} rows/s"));
    }

    /// So much of a table is there, from 0 to [`WHOLE`].
    pub(super) fn inside(&self, share: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.done.saturating_mul(WHOLE).saturating_add(share));
        }
    }

    /// A table is done.
    pub(super) fn table(&mut self) {
        self.done += 1;
        self.inside(0);
        self.show();
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
    use std::io;
    use std::sync::Mutex;
    use std::time::Duration;

    use env::ManualClock;
    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps the line it shows.
    #[derive(Clone, Debug, Default)]
    struct Shown(Arc<Mutex<String>>);

    impl TermLike for Shown {
        fn width(&self) -> u16 {
            120
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_line_moves_while_one_table_is_exported() {
        let (manual, shown) = (ManualClock::starting_at(0), Shown::default());
        let clock: Arc<dyn Clock> = Arc::new(manual.clone());
        let target = ProgressDrawTarget::term_like(Box::new(shown.clone()));
        let mut progress = Progress::drawn(&clock, Some(target), 2, 1);
        manual.advance(Duration::from_secs(1));
        let mut after = |act: fn(&mut Progress)| {
            act(&mut progress);
            let line = shown.0.lock().unwrap().clone();
            let (bar, rest) = line.split_at(line.find(char::is_numeric).unwrap_or(line.len()));
            (bar.matches('\u{2588}').count(), rest.trim_end().to_owned())
        };
        let told = "1/2 tables  5 rows  1.0 KiB  5 rows/s";
        let done = told.replace("1/2", "2/2");
        assert_eq!(after(|line| line.add(5, 1_024)), (15, format!("50%  {told}")));
        assert_eq!(after(|line| line.inside(WHOLE / 2)), (22, format!("75%  {told}")));
        assert_eq!(after(|line| line.inside(WHOLE - 20)), (29, format!("99%  {told}")));
        assert_eq!(after(Progress::table), (30, format!("100%  {done}")));
    }
}
