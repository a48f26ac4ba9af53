//! What was typed, and what it means. Pure.

/// What `--help` says.
pub(crate) const HELP: &str = "\
Checks the protocol of views, leases, covers and slices.

usage: proof model [option...] [name...]

`model` explores every state of each case within its bounds. A case is the protocol, where every property has to hold in
every state and everything that it is about has to happen, or a mutant: the protocol without one of its sentences, where
one property has to be violated. Without a name, all small cases run; a name is a case or the beginning of some, up to a
dash: `cover`, `slice-drop`, `clock-no-margin`.

  --large   the large cases too: minutes, and some GB of memory; one alone runs by its whole name
  --trace   print the shortest way to each violation, one step a line
  --list    name the cases and what they expect
  --help    this text

Each case prints one line: its name, states, depth, seconds, verdict.

exit status: 0 every verdict as expected, 1 one was not, 2 nothing was checked
";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Say how this works.
    Help,
    /// Explore models.
    Model(Model),
}

/// What of the models.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) large: bool,
    pub(crate) trace: bool,
    pub(crate) list: bool,
    pub(crate) names: Vec<String>,
}

/// Reads the arguments; the error says what to type instead.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        None | Some("--help" | "-h" | "help") => Ok(Command::Help),
        Some("model") => model(arguments),
        Some(other) => Err(format!("`{other}` is not a command; there is `model`; try --help")),
    }
}

fn model(arguments: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut model = Model::default();
    for argument in arguments {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--large" => model.large = true,
            "--trace" => model.trace = true,
            "--list" => model.list = true,
            option if option.starts_with('-') => {
                return Err(format!("`{option}` is not an option of `model`; try --help"));
            }
            _ => model.names.push(argument),
        }
    }
    Ok(Command::Model(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expect: Result<Command, &str>) {
        let parsed = parse(arguments.iter().map(|argument| (*argument).to_owned()));
        assert_eq!(parsed, expect.map_err(str::to_owned));
    }

    #[test]
    fn arguments_mean_what_help_says() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        check(&[], Ok(Command::Help));
        check(&["model", "--help"], Ok(Command::Help));
        check(&["model"], Ok(Command::Model(Model::default())));
        let all = Model { large: true, trace: true, list: true, names: names(&["cover", "clock-skew"]) };
        check(&["model", "--large", "cover", "--trace", "--list", "clock-skew"], Ok(Command::Model(all)));
        check(&["simulate"], Err("`simulate` is not a command; there is `model`; try --help"));
        check(&["model", "--huge"], Err("`--huge` is not an option of `model`; try --help"));
    }
}
