//! How long does it take until the binary is of use, and how large is it?
//!
//! A start is timed from before the process is made until `GET /readyz` answers 200, on a directory that is empty. The
//! server says where it listens; asking begins at once after that and goes on without a pause of more than a millisecond.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use env::{Clock, SystemClock, TokioSpawn};
use tokio::runtime::Builder;

use super::Question;
use crate::braid::{self, Braid};
use crate::harness::{Answer, Goal, Latency, Setting, Unit};

pub(crate) const QUESTION: Question = Question {
    name: "start",
    asks: "braid serve until it is ready on an empty directory, braid --version, and the size of the binary",
    answer,
};

/// In each round; their median counts.
const SERVES: usize = 5;
const VERSIONS: usize = 20;
const ASK_EVERY: Duration = Duration::from_millis(1);
const READY_MAX_MS: f64 = 1_000.0;
const VERSION_MAX_MS: f64 = 30.0;
const BINARY_MAX_MB: f64 = 60.0;
const MIB: f64 = (1 << 20) as f64;

fn answer(setting: &Setting) -> Result<Answer> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    let (mut ready_ms, mut version_ms, mut idle_bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..setting.rounds {
        ready_ms.push(median_ms(SERVES, || {
            let (time, bytes) = serve(setting)?;
            idle_bytes = idle_bytes.max(bytes);
            Ok(time)
        })?);
        version_ms.push(median_ms(VERSIONS, version)?);
    }
    let bytes = std::fs::metadata(braid::binary()?)?.len();
    let goals = [
        Goal::Figures { what: "braid serve until ready, ms", values: ready_ms, at_most: READY_MAX_MS },
        Goal::Figures { what: "braid --version, ms", values: version_ms, at_most: VERSION_MAX_MS },
        Goal::Figures { what: "binary, MB", values: vec![bytes as f64 / 1e6], at_most: BINARY_MAX_MB },
    ];
    Ok(Answer::new(QUESTION.name, Unit::Starts, Vec::new(), &goals)?
        .note(format!("the median of {SERVES} starts and of {VERSIONS} calls in each round; the binary has {bytes} bytes"))
        .note(format!(
            "a server that is ready and idle has at most {:.1} MiB of anonymous memory",
            idle_bytes as f64 / MIB
        )))
}

/// The median of so many runs.
fn median_ms(runs: usize, mut run: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let times = (0..runs).map(|_| run()).collect::<Result<Vec<_>>>()?;
    Ok(Latency::of(times).context("nothing was timed")?.p50.as_secs_f64() * 1e3)
}

/// How long a server took to be ready, and its anonymous memory then.
fn serve(setting: &Setting) -> Result<(Duration, u64)> {
    let directory = setting.directory()?;
    let start = SystemClock.boot();
    let braid = Braid::serve(directory.path(), &[], &TokioSpawn::current())?;
    while !braid.is_ready()? {
        std::thread::park_timeout(ASK_EVERY);
    }
    let time = SystemClock.boot().since(start);
    let bytes = braid.process().anonymous_bytes()?;
    braid.stop()?;
    Ok((time, bytes))
}

fn version() -> Result<Duration> {
    let start = SystemClock.boot();
    let status = braid::command()?.arg("--version").stdout(Stdio::null()).status();
    let time = SystemClock.boot().since(start);
    ensure!(status.context("cannot run braid --version")?.success(), "braid --version failed");
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_counts() {
        let mut times = [9, 1, 2].into_iter().map(Duration::from_millis);
        let median = median_ms(3, || times.next().context("too many runs")).unwrap();
        assert!((median - 2.0).abs() < 1e-9);
    }
}
