//! What a process uses, this one or a server beside it: CPU time and anonymous memory.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Of the fields in `/proc/PID/stat`, how many lie between the name of the program and the CPU time.
const FIELDS_BEFORE_CPU: usize = 11;

/// A process that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    /// This one.
    This,
    /// A server with this id.
    Other(u32),
}

impl Process {
    /// CPU time of all its threads so far. Of another process it comes in steps of 10 ms.
    pub(crate) fn cpu_time(self) -> Result<Duration> {
        if self == Self::This {
            return Ok(own_cpu_time());
        }
        let stat = self.read("stat")?;
        let ticks = parse_cpu_ticks(&stat).context("/proc/PID/stat does not read as it should")?;
        Ok(Duration::from_secs(ticks).div_f64(rustix::param::clock_ticks_per_second() as f64))
    }

    /// Anonymous memory: what it allocated and touched, without files.
    pub(crate) fn anonymous_bytes(self) -> Result<u64> {
        let status = self.read("status")?;
        parse_anonymous(&status).context("no RssAnon in /proc/PID/status: the bench needs Linux 4.5 or newer")
    }

    fn read(self, file: &str) -> Result<String> {
        let path = match self {
            Self::This => format!("/proc/self/{file}"),
            Self::Other(id) => format!("/proc/{id}/{file}"),
        };
        std::fs::read_to_string(&path).with_context(|| format!("no {path}: did the process end?"))
    }
}

fn own_cpu_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = Duration::from_nanos(u64::try_from(tv_nsec).unwrap_or(0));
    Duration::from_secs(u64::try_from(tv_sec).unwrap_or(0)) + nanos
}

/// Ticks in the program and in the kernel. The name of a program may hold anything, so fields count from behind it.
fn parse_cpu_ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_whitespace().skip(FIELDS_BEFORE_CPU);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
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
    }

    #[test]
    fn cpu_time_is_read_whatever_the_program_is_called() {
        let stat = "77 (a) b (c) S 1 77 77 0 -1 4194560 1406 0 3 0 25 17 0 0 20 0 9 0 812 1 2 3";
        assert_eq!(parse_cpu_ticks(stat), Some(42));
        assert_eq!(parse_cpu_ticks("77 (braid"), None);
    }

    #[test]
    fn both_ways_to_look_at_this_process_work() {
        for process in [Process::This, Process::Other(std::process::id())] {
            assert!(process.anonymous_bytes().unwrap() > 0);
            process.cpu_time().unwrap();
        }
        assert!(Process::Other(u32::MAX).cpu_time().is_err());
    }
}
