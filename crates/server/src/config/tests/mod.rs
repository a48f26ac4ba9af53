//! The settings as data: what is given, and what is told. One file per behaviour.

mod docs;
mod files;
mod layers;
mod refusals;
mod values;

use std::path::Path;

use super::loading::resolve;
use super::{ConfigError, Flags, Loaded};

/// Puts `text` as `braid.toml`, `NAME=value` variables and no flags together.
fn given(text: &str, variables: &[&str]) -> Result<Loaded, ConfigError> {
    given_with(&Flags::default(), text, variables)
}

fn given_with(flags: &Flags, text: &str, variables: &[&str]) -> Result<Loaded, ConfigError> {
    resolve(flags, &environment(variables), Some((Path::new("braid.toml"), text)))
}

fn environment(variables: &[&str]) -> Vec<(String, String)> {
    let pair = |variable: &&str| variable.split_once('=').map(|(name, value)| (name.into(), value.into()));
    variables.iter().filter_map(pair).collect()
}
