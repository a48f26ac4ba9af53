//! On what was measured: figures mean nothing without it.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result};
use env::{Clock, SystemClock};

use super::setting::Setting;

const LOAD: &str = "/proc/loadavg";
/// Syncs to time. The median counts, so that one slow one does not.
const SYNCS: usize = 15;
const SYNC_BYTES: usize = 4_096;

/// The machine before the first question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// Load average of the last minute. Above a fraction of a core, somebody else was measured too.
    pub(crate) load: f64,
    /// How long it takes to append a block to a file and sync it.
    pub(crate) sync: Duration,
}

impl Machine {
    /// Looks at the machine.
    pub(crate) fn look(setting: &Setting) -> Result<Self> {
        let cores = std::thread::available_parallelism().context("cannot count the cores")?.get();
        let load = std::fs::read_to_string(LOAD).context("no /proc/loadavg: the bench needs Linux")?;
        let load = parse_load(&load).context("/proc/loadavg does not read as a load average")?;
        Ok(Self { cores, load, sync: time_sync(setting).context("cannot time a sync")? })
    }

    /// One line about the machine and the run.
    pub(crate) fn line(&self, setting: &Setting) -> String {
        let run = if setting.quick { "QUICK" } else { "full" };
        format!(
            "machine: {} cores, load average {:.2}, a sync takes {:.2} ms; {run} run, {} rounds",
            self.cores,
            self.load,
            self.sync.as_secs_f64() * 1e3,
            setting.rounds
        )
    }
}

fn parse_load(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok()
}

fn time_sync(setting: &Setting) -> Result<Duration> {
    let directory = setting.directory()?;
    let mut file = File::create(directory.path().join("sync"))?;
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let start = SystemClock.boot();
        file.write_all(&[7; SYNC_BYTES])?;
        file.sync_data()?;
        times.push(SystemClock.boot().since(start));
    }
    times.sort();
    times.get(SYNCS / 2).copied().context("nothing was timed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_of_the_last_minute_is_read() {
        assert_eq!(parse_load("0.53 0.60 0.50 1/180 4242\n"), Some(0.53));
        assert_eq!(parse_load(""), None);
    }

    #[test]
    fn the_line_says_what_was_measured_on() {
        let machine = Machine { cores: 2, load: 1.5, sync: Duration::from_micros(1_234) };
        let expect = "machine: 2 cores, load average 1.50, a sync takes 1.23 ms; QUICK run, 3 rounds";
        assert_eq!(machine.line(&Setting::for_test(3)), expect);
    }
}
