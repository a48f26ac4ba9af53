//! One run of one side: wall time, CPU time of the whole process, and the peak of its anonymous memory.
//!
//! Everything outside the closure is free: opening, warming up and removing are not part of a measurement. CPU time
//! and memory are those of the process, background threads included, so nothing else may run at the same time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use env::{Clock, SystemClock};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// How often memory is looked at. A look costs some 30 µs, so sampling takes less than 1 % of a core.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);
const STATUS: &str = "/proc/self/status";

/// What one run of one side took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Work done: events, bytes.
    pub(crate) units: u64,
    /// Wall time.
    pub(crate) wall: Duration,
    /// CPU time of all threads.
    pub(crate) cpu: Duration,
    /// Anonymous memory when the run began, in bytes.
    pub(crate) memory_start: u64,
    /// Its peak during the run.
    pub(crate) memory_peak: u64,
}

impl Sample {
    /// Work per second of wall time.
    pub(crate) fn rate(&self) -> f64 {
        self.units as f64 / self.wall.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Anonymous memory beyond what there was at the start, in bytes.
    pub(crate) fn growth(&self) -> u64 {
        self.memory_peak.saturating_sub(self.memory_start)
    }
}

/// Runs `work`, which returns how much it did.
pub(crate) fn measure(work: impl FnOnce() -> Result<u64>) -> Result<Sample> {
    let memory_start = anonymous_bytes()?;
    let (stop, stopped) = sync_channel::<()>(0);
    thread::scope(|scope| {
        let sampler = scope.spawn(move || peak_until(&stopped, memory_start));
        let (wall, cpu) = (SystemClock.boot(), cpu_time());
        let done = work();
        let (wall, cpu) = (SystemClock.boot().since(wall), cpu_time().saturating_sub(cpu));
        drop(stop);
        let memory_peak = sampler.join().map_err(|_| anyhow!("the memory sampler panicked"))??;
        Ok(Sample { units: done?, wall, cpu, memory_start, memory_peak })
    })
}

/// The highest anonymous memory seen until the other end of `stopped` is dropped, one look at the end included.
fn peak_until(stopped: &Receiver<()>, start: u64) -> Result<u64> {
    let mut peak = start;
    loop {
        let waited = stopped.recv_timeout(SAMPLE_EVERY);
        peak = peak.max(anonymous_bytes()?);
        if waited != Err(RecvTimeoutError::Timeout) {
            return Ok(peak);
        }
    }
}

fn cpu_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = Duration::from_nanos(u64::try_from(tv_nsec).unwrap_or(0));
    Duration::from_secs(u64::try_from(tv_sec).unwrap_or(0)) + nanos
}

fn anonymous_bytes() -> Result<u64> {
    let status = std::fs::read_to_string(STATUS).context("no /proc/self/status: the bench needs Linux")?;
    parse_anonymous(&status).context("no RssAnon in /proc/self/status: the bench needs Linux 4.5 or newer")
}

fn parse_anonymous(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_memory_is_read_from_the_status() {
        let status = "VmRSS:\t    9000 kB\nRssAnon:\t    1234 kB\nRssFile:\t    1 kB\n";
        assert_eq!(parse_anonymous(status), Some(1234 * 1024));
        assert_eq!(parse_anonymous("VmRSS:\t 1 kB\n"), None);
        assert!(anonymous_bytes().unwrap() > 0);
    }

    #[test]
    fn work_is_counted_and_memory_that_was_used_is_seen() {
        let sample = measure(|| Ok(vec![1_u8; 64 << 20].iter().map(|byte| u64::from(*byte)).sum())).unwrap();
        assert_eq!(sample.units, 64 << 20);
        assert!(sample.memory_peak >= sample.memory_start);
        assert!(measure(|| Err(anyhow!("no"))).is_err());
    }

    #[test]
    fn rate_and_growth_follow_from_the_sample() {
        let sample = Sample {
            units: 300,
            wall: Duration::from_millis(1_500),
            cpu: Duration::from_secs(1),
            memory_start: 10,
            memory_peak: 25,
        };
        assert!((sample.rate() - 200.0).abs() < 1e-9);
        assert_eq!(sample.growth(), 15);
        assert_eq!(Sample { memory_peak: 5, ..sample }.growth(), 0);
    }
}
