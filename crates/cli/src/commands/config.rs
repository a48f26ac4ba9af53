//! `braid config`.

use std::path::PathBuf;

use server::config::{Flags, Loaded};

use super::serve::load;
use crate::failure::Failure;
use crate::output::{Format, SettingRecord, Stdout};

const SHOW: &str = "\
Examples:
  braid config show
  braid config show --config braid.toml -o json
  BRAID__LOG__LEVEL=debug braid config show

ORIGIN says what decided: a variable, a line of a file, or the default.";

const CHECK: &str = "\
Examples:
  braid config check
  braid config check --config braid.toml && systemctl restart braid";

/// What `config` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show every setting, its value and where that comes from
    #[command(after_help = SHOW)]
    Show(File),
    /// Check the settings without starting anything; exits with 2 and says what is wrong
    #[command(after_help = CHECK)]
    Check(File),
}

#[derive(Debug, clap::Args)]
struct File {
    /// File with settings [default: braid.toml here, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Does what was asked; needs no server.
pub(crate) fn run(args: Args, format: Format) -> Result<(), Failure> {
    let (Verb::Show(File { config }) | Verb::Check(File { config })) = &args.verb;
    let loaded = load(&Flags { config: config.clone(), ..Flags::default() })?;
    let mut stdout = Stdout::new(format);
    match args.verb {
        Verb::Show(_) => {
            let settings = loaded.settings();
            let records: Vec<SettingRecord<'_>> = settings.iter().map(SettingRecord).collect();
            stdout.named_list("settings", &records)
        }
        Verb::Check(_) => {
            stdout.write(verdict(&loaded, format).as_bytes())?;
            stdout.flush()
        }
    }
}

/// What is said of settings that hold.
fn verdict(loaded: &Loaded, format: Format) -> String {
    let settings = loaded.settings();
    let changed = settings.iter().filter(|setting| setting.origin != "default").count();
    let file = loaded.file().map(|path| path.display().to_string());
    if matches!(format, Format::Json | Format::Ndjson) {
        let object = serde_json::json!({"changed": changed, "file": file, "settings": settings.len()});
        return format!("{object}\n");
    }
    let file = file.map_or_else(|| "no file".to_owned(), |file| format!("file {file}"));
    format!("ok: {} settings, {changed} not at their default, {file}\n", settings.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_hold_are_said_to() {
        let flags = Flags { listen: Some("127.0.0.1:1".to_owned()), ..Flags::default() };
        let loaded = server::config::load(&flags, [], None).unwrap();
        let count = loaded.settings().len();
        assert_eq!(
            verdict(&loaded, Format::Table),
            format!("ok: {count} settings, 1 not at their default, no file\n")
        );
        let expect = format!("{{\"changed\":1,\"file\":null,\"settings\":{count}}}\n");
        assert_eq!(verdict(&loaded, Format::Json), expect);
    }
}
