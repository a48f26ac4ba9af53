//! Default, file, environment, flags: put on top of each other in this order. Only [`load`] touches the world, to read
//! one file; everything is decided in [`resolve`], from data.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::given::{Flags, Given, Origin, from_environment, from_file, from_flags};
use super::keys::{KEYS, Key};
use super::settings::Config;

/// The variable that names the file. One underscore: it is not a setting.
const FILE_VARIABLE: &str = "BRAID_CONFIG";
/// Bytes that a file of settings may have; what is larger was named by mistake.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Mistakes that are told at once; after so many the file is of another program.
const MISTAKES_MAX: usize = 20;

/// Checked settings, and where each comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// By the name of the key; what is not here has its default.
    origins: BTreeMap<&'static str, Origin>,
    file: Option<PathBuf>,
}

/// One setting as an operator wants to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name with its section: `store.embedded.cache_bytes`.
    pub key: String,
    /// Its value, as TOML writes it.
    pub value: String,
    /// Where the value comes from: `default`, `braid.toml:3`, the name of a variable, or a flag.
    pub origin: String,
    /// What it does.
    pub help: &'static str,
}

impl Loaded {
    /// Every setting, in the order of the documentation.
    pub fn settings(&self) -> Vec<Setting> {
        let setting = |key: &Key| Setting {
            key: key.name.to_owned(),
            value: key.show(&self.config),
            origin: self.origins.get(key.name).map_or_else(|| "default".to_owned(), Origin::to_string),
            help: key.help,
        };
        KEYS.iter().map(setting).collect()
    }

    /// The file that was read, if any.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

/// Reads the file that `flags` or `BRAID_CONFIG` name, else `cwd_file` if it exists, and puts everything together.
///
/// `env` is the whole environment; what does not begin with `BRAID__` is passed over. Collect it with
/// `std::env::vars_os` and convert lossily: `std::env::vars` panics at a foreign variable that is not UTF-8.
pub fn load(
    flags: &Flags,
    env: impl IntoIterator<Item = (String, String)>,
    cwd_file: Option<&Path>,
) -> Result<Loaded, ConfigError> {
    let env: Vec<_> = env.into_iter().collect();
    let named = named_file(flags, &env);
    let chosen = named.or_else(|| cwd_file.map(|path| (path, None)));
    let file = match chosen {
        Some((path, named_by)) => read(path, named_by)?.map(|text| (path, text)),
        None => None,
    };
    resolve(flags, &env, file.as_ref().map(|(path, text)| (*path, text.as_str())))
}

/// The file that was asked for, and by what. A variable that is set to nothing names none.
fn named_file<'a>(flags: &'a Flags, env: &'a [(String, String)]) -> Option<(&'a Path, Option<&'static str>)> {
    let variable = || env.iter().find(|(name, path)| name == FILE_VARIABLE && !path.is_empty());
    match &flags.config {
        Some(path) => Some((path, Some("--config"))),
        None => variable().map(|(_, path)| (Path::new(path), Some(FILE_VARIABLE))),
    }
}

/// The text of the file. One that nobody named may be missing.
fn read(path: &Path, named_by: Option<&'static str>) -> Result<Option<String>, ConfigError> {
    let path = path.to_owned();
    match (read_bounded(&path), named_by) {
        (Ok(text), _) => Ok(Some(text)),
        (Err(error), None) if error.kind() == ErrorKind::NotFound => Ok(None),
        (Err(error), Some(named_by)) if error.kind() == ErrorKind::NotFound => {
            Err(ConfigError::NoFile { path, named_by })
        }
        (Err(source), _) => Err(ConfigError::Unreadable { path, source }),
    }
}

fn read_bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if u64::try_from(length).is_ok_and(|length| length <= FILE_BYTES_MAX) {
        Ok(text)
    } else {
        Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 64 KiB"))
    }
}

/// Puts the layers on top of each other. A value is checked even where a higher layer replaces it: the mistake would
/// come to light on the day that the higher layer is taken away.
pub(super) fn resolve(
    flags: &Flags,
    env: &[(String, String)],
    file: Option<(&Path, &str)>,
) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded {
        config: Config::default(),
        origins: BTreeMap::new(),
        file: file.map(|(path, _)| path.to_owned()),
    };
    let in_file = file.map(|(path, text)| from_file(path, text)).unwrap_or_default();
    let mut mistakes = Vec::new();
    for found in in_file.into_iter().chain(from_environment(env)).chain(from_flags(flags)) {
        if let Err(mistake) = found.and_then(|given| apply(&mut loaded, given)) {
            mistakes.push(mistake);
        }
    }
    if mistakes.is_empty() {
        mistakes = contradictions(&loaded);
    }
    if mistakes.is_empty() {
        return Ok(loaded);
    }
    let more = mistakes.len().saturating_sub(MISTAKES_MAX);
    mistakes.truncate(MISTAKES_MAX);
    if more > 0 {
        mistakes.push(format!("and {more} more; correct these first"));
    }
    Err(ConfigError::Refused(mistakes))
}

/// What only the whole shows: settings that are right by themselves and not together.
fn contradictions(loaded: &Loaded) -> Vec<String> {
    let told = |(name, advice): (&'static str, String)| {
        let origin = loaded.origins.get(name).map_or_else(|| "default".to_owned(), Origin::to_string);
        let key = KEYS.iter().find(|key| key.name == name);
        let value = key.map(|key| key.show(&loaded.config)).unwrap_or_default();
        format!("{origin}: {name} is {value}; {advice}")
    };
    let config = &loaded.config;
    config.cassandra_contradictions().into_iter().chain(config.queue_contradictions()).map(told).collect()
}

fn apply(loaded: &mut Loaded, given: Given) -> Result<(), String> {
    let Given { key, value, origin } = given;
    match key.set(&mut loaded.config, &value) {
        Ok(()) => {
            loaded.origins.insert(key.name, origin);
            Ok(())
        }
        Err(advice) => Err(format!("{origin}: {} is {}; {advice}", key.name, key.repeated(&value))),
    }
}
