//! One run of one side: wall time, CPU time of the whole process, and the peak of its anonymous memory.
//!
//! Everything outside the closure is free: opening, warming up and removing are not part of a measurement. CPU time
//! and memory are those of the process, background threads included, so nothing else may run at the same time. Where a
//! server is measured, they are the server's, and the CPU time of this process, its client, is kept apart.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use env::{Clock, SystemClock};

use super::latency::Latency;
use super::process::Process;

/// How often memory is looked at. A look costs some 30 µs, so sampling takes less than 1 % of a core.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);

/// What one run of one side took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Work done: events, bytes.
    pub(crate) units: u64,
    /// Wall time.
    pub(crate) wall: Duration,
    /// CPU time of all threads.
    pub(crate) cpu: Duration,
    /// CPU time of a client in a process of its own; zero where there is none.
    pub(crate) client_cpu: Duration,
    /// Anonymous memory when the run began, in bytes.
    pub(crate) memory_start: u64,
    /// Its peak during the run.
    pub(crate) memory_peak: u64,
    /// How long single calls took, where that was looked at.
    pub(crate) latency: Option<Latency>,
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

/// Runs `work`, which this process does itself and which returns how much it did.
pub(crate) fn measure(work: impl FnOnce() -> Result<u64>) -> Result<Sample> {
    measure_in(Process::This, work)
}

/// Runs `work`, which makes `process` do something and returns how much that was.
pub(crate) fn measure_in(process: Process, work: impl FnOnce() -> Result<u64>) -> Result<Sample> {
    let client_cpu = Process::This.cpu_time()?;
    let sample = run(process, work)?;
    if process == Process::This {
        return Ok(sample);
    }
    Ok(Sample { client_cpu: Process::This.cpu_time()?.saturating_sub(client_cpu), ..sample })
}

fn run(process: Process, work: impl FnOnce() -> Result<u64>) -> Result<Sample> {
    let memory_start = process.anonymous_bytes()?;
    let (stop, stopped) = sync_channel::<()>(0);
    thread::scope(|scope| {
        let sampler = scope.spawn(move || peak_until(process, &stopped, memory_start));
        let (wall, cpu) = (SystemClock.boot(), process.cpu_time()?);
        let done = work();
        let (wall, cpu) = (SystemClock.boot().since(wall), process.cpu_time()?.saturating_sub(cpu));
        drop(stop);
        let memory_peak = sampler.join().map_err(|_| anyhow!("the memory sampler panicked"))??;
        Ok(Sample { units: done?, wall, cpu, memory_start, memory_peak, ..Sample::default() })
    })
}

/// The highest anonymous memory seen until the other end of `stopped` is dropped, one look at the end included.
fn peak_until(process: Process, stopped: &Receiver<()>, start: u64) -> Result<u64> {
    let mut peak = start;
    loop {
        let waited = stopped.recv_timeout(SAMPLE_EVERY);
        peak = peak.max(process.anonymous_bytes()?);
        if waited != Err(RecvTimeoutError::Timeout) {
            return Ok(peak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_and_memory_that_was_used_is_seen() {
        let sample = measure(|| Ok(vec![1_u8; 64 << 20].iter().map(|byte| u64::from(*byte)).sum())).unwrap();
        assert_eq!(sample.units, 64 << 20);
        assert!(sample.memory_peak >= sample.memory_start);
        assert!(measure(|| Err(anyhow!("no"))).is_err());
    }

    #[test]
    fn a_server_and_its_client_are_kept_apart() {
        let sample = measure_in(Process::Other(std::process::id()), || Ok(3)).unwrap();
        assert!((sample.units, sample.memory_start > 0) == (3, true));
        assert_eq!(measure(|| Ok(3)).unwrap().client_cpu, Duration::ZERO);
    }

    #[test]
    fn rate_and_growth_follow_from_the_sample() {
        let sample = Sample {
            units: 300,
            wall: Duration::from_millis(1_500),
            cpu: Duration::from_secs(1),
            memory_start: 10,
            memory_peak: 25,
            ..Sample::default()
        };
        assert!((sample.rate() - 200.0).abs() < 1e-9);
        assert_eq!(sample.growth(), 15);
        assert_eq!(Sample { memory_peak: 5, ..sample }.growth(), 0);
    }
}
