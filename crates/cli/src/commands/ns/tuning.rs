//! What a namespace wishes of the tuner, as flags, and as the message that carries those that were given.

use api::admin::v1::TuneSettings;

use crate::input::parse_size;

/// The settings about tuning, as far as they were given.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Tuning of future slices")]
pub(super) struct Tuning {
    /// Who decides: propose (an operator), auto (the servers) or off (default propose)
    #[arg(long, value_name = "POLICY")]
    tune_policy: Option<String>,
    /// Below this p99 of partition sizes there are too many (default 2MiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    density_min: Option<i64>,
    /// Above it they are too large; at least 3 times the smallest (default 10MiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    density_max: Option<i64>,
}

impl Tuning {
    /// The message with these fields, and the path of each; what was not given is not sent.
    pub(super) fn message(&self, paths: &mut Vec<String>) -> Option<TuneSettings> {
        let given = [
            ("tune.policy", self.tune_policy.is_some()),
            ("tune.density_min_bytes", self.density_min.is_some()),
            ("tune.density_max_bytes", self.density_max.is_some()),
        ];
        paths.extend(given.iter().filter(|(_, given)| *given).map(|(path, _)| (*path).to_owned()));
        let settings = TuneSettings {
            policy: self.tune_policy.clone().unwrap_or_default(),
            density_min_bytes: self.density_min.unwrap_or(0),
            density_max_bytes: self.density_max.unwrap_or(0),
        };
        Some(settings).filter(|settings| *settings != TuneSettings::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_sent_and_named() {
        let mut paths = Vec::new();
        assert_eq!(Tuning::default().message(&mut paths), None);
        let tuning =
            Tuning { tune_policy: Some("auto".to_owned()), density_max: Some(5), density_min: Some(1) };
        let expect = TuneSettings { policy: "auto".to_owned(), density_min_bytes: 1, density_max_bytes: 5 };
        assert_eq!(tuning.message(&mut paths), Some(expect));
        assert_eq!(paths, ["tune.policy", "tune.density_min_bytes", "tune.density_max_bytes"]);
    }
}
