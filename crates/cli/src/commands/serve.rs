//! `braid serve`: wires the process around a server. What a server is, is in `crates/server`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use env::Env;
use server::Starting;
use server::config::{Flags, Level, Loaded, Log, LogFormat};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::{Failure, INTERRUPTED, talk};
use crate::run::Signals;

/// Read from the working directory where no file is named.
const FILE: &str = "braid.toml";
/// Whose lines the level in the settings chooses; of others only what may need somebody is logged.
const OURS: [&str; 8] =
    ["braid", "engine", "env", "rpc", "server", "store", "store_cassandra", "store_embedded"];

const EXAMPLES: &str = "\
Examples:
  braid serve                     data in ./braid-data, port 7420, only from here
  braid serve --data /var/lib/braid --listen 0.0.0.0:7420
  BRAID__LOG__LEVEL=debug braid serve --config braid.toml

A flag beats the environment, which beats the file, which beats the default;
`braid config show` lists them all. Stop with Ctrl-C: requests under way may
end. A second Ctrl-C stops at once. What was acknowledged is safe either way.
A Cassandra cluster that is not there is waited for; /readyz says so.";

/// What `serve` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Data directory; made if it does not exist [default: braid-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port; port 0 takes any free one [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// File with settings [default: braid.toml here, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Everything that is wrong with the settings is a matter of what was typed or written.
pub(crate) fn load(flags: &Flags) -> Result<Loaded, Failure> {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let env = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value)));
    server::config::load(flags, env, Some(Path::new(FILE))).map_err(|error| Failure::Usage(error.to_string()))
}

/// Serves until a signal comes.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let Args { data, listen, config } = args;
    let loaded = load(&Flags { config, data, listen })?;
    log(&loaded.config.log)?;
    let mut signals = Signals::new()?;
    let config = loaded.config;
    let starting = async { Starting::listen(config.clone(), Env::system()).await?.open_when_there().await };
    let server = tokio::select! {
        started = Box::pin(starting) => started.map_err(|error: server::Error| Failure::Other(error.to_string()))?,
        () = signals.next() => interrupted(),
    };
    let address = server.address().to_string();
    talk(&ready(config.log.format, &address, &config.store.place()));
    signals.next().await;
    if config.log.format == LogFormat::Text {
        let grace = crate::output::value::duration(config.server.shutdown_grace);
        talk(&format!("stopping: requests under way have {grace} to end; once more to stop at once\n"));
    }
    tokio::select! {
        () = Box::pin(server.stop()) => Ok(()),
        () = signals.next() => interrupted(),
    }
}

/// At once: what is under way would otherwise be waited for.
fn interrupted() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}

/// The line that says that requests are answered, in the form of the log around it.
fn ready(format: LogFormat, address: &str, data: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match format {
        LogFormat::Text => {
            format!("braid {version} is ready at http://{address}, data in {data}; stop with Ctrl-C\n")
        }
        LogFormat::Json => {
            let object = serde_json::json!({
                "level": "INFO", "message": "ready", "version": version, "address": address, "data": data,
            });
            format!("{object}\n")
        }
    }
}

/// Sends what the process logs to stderr.
fn log(log: &Log) -> Result<(), Failure> {
    let level = match log.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    // The driver tells of every connection that fails, again and again. What that means for us we say ourselves, once.
    let driver = if level >= LevelFilter::DEBUG { LevelFilter::WARN } else { LevelFilter::OFF };
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("scylla", driver)
        .with_targets(OURS.map(|name| (name, level)));
    let lines =
        tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let registry = tracing_subscriber::registry().with(targets);
    match log.format {
        LogFormat::Text => registry.with(lines).try_init(),
        LogFormat::Json => registry.with(lines.json()).try_init(),
    }
    .map_err(|error| Failure::Other(format!("cannot begin to log: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_said_in_the_form_of_the_log() {
        let version = env!("CARGO_PKG_VERSION");
        let say = |format| ready(format, "127.0.0.1:1", "a\"b");
        assert_eq!(
            say(LogFormat::Text),
            format!("braid {version} is ready at http://127.0.0.1:1, data in a\"b; stop with Ctrl-C\n")
        );
        let json: serde_json::Value = serde_json::from_str(&say(LogFormat::Json)).unwrap();
        assert_eq!((&json["message"], &json["data"]), (&"ready".into(), &"a\"b".into()));
    }
}
