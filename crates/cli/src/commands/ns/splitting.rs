//! What a namespace wishes of splits, as flags, and as the message that carries those that were given.

use api::admin::v1::SplitSettings;

use crate::input::parse_size;

/// The settings about splits, as far as they were given.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Splits of wide partitions")]
pub(super) struct Splitting {
    /// Who decides: auto (reads that find one wide), manual (they only list it) or off (default auto)
    #[arg(long, value_name = "POLICY")]
    split_policy: Option<String>,
    /// A partition with more bytes is wide (default 16MiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    split_threshold: Option<i64>,
    /// Bytes that a target should have; at most the threshold (default 4MiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    split_target: Option<i64>,
    /// Targets that a partition is split into at most, 2 to 16 (default 16)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    split_max_buckets: Option<u32>,
    /// How to cut: auto, event_bucket (by the hash of the event id) or time_range (default auto)
    #[arg(long, value_name = "NAME")]
    split_strategy: Option<String>,
    /// How targets keep events: auto, rows or packed (default auto)
    #[arg(long, value_name = "NAME")]
    split_layout: Option<String>,
}

impl Splitting {
    /// The message with these fields, and the path of each; what was not given is not sent.
    pub(super) fn message(&self, paths: &mut Vec<String>) -> Option<SplitSettings> {
        let named = |given: &Option<String>| given.clone().unwrap_or_default();
        let given = [
            ("split.policy", self.split_policy.is_some()),
            ("split.threshold_bytes", self.split_threshold.is_some()),
            ("split.target_bytes", self.split_target.is_some()),
            ("split.max_split_buckets", self.split_max_buckets.is_some()),
            ("split.strategy", self.split_strategy.is_some()),
            ("split.layout", self.split_layout.is_some()),
        ];
        paths.extend(given.iter().filter(|(_, given)| *given).map(|(path, _)| (*path).to_owned()));
        let settings = SplitSettings {
            policy: named(&self.split_policy),
            threshold_bytes: self.split_threshold.unwrap_or(0),
            target_bytes: self.split_target.unwrap_or(0),
            max_split_buckets: self.split_max_buckets.unwrap_or(0),
            strategy: named(&self.split_strategy),
            layout: named(&self.split_layout),
        };
        Some(settings).filter(|settings| *settings != SplitSettings::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(splitting: &Splitting) -> (Option<SplitSettings>, String) {
        let mut paths = Vec::new();
        let settings = splitting.message(&mut paths);
        (settings, paths.join(" "))
    }

    #[test]
    fn only_what_was_given_is_sent() {
        assert_eq!(given(&Splitting::default()), (None, String::new()));
        let splitting = Splitting {
            split_policy: Some("manual".to_owned()),
            split_target: Some(1 << 20),
            ..Splitting::default()
        };
        let expect =
            SplitSettings { policy: "manual".to_owned(), target_bytes: 1 << 20, ..SplitSettings::default() };
        assert_eq!(given(&splitting), (Some(expect), "split.policy split.target_bytes".to_owned()));
    }

    #[test]
    fn everything_can_be_given_and_an_empty_name_goes_back_to_the_default() {
        let name = |name: &str| Some(name.to_owned());
        let splitting = Splitting {
            split_policy: name(""),
            split_threshold: Some(2),
            split_target: Some(1),
            split_max_buckets: Some(8),
            split_strategy: name("time_range"),
            split_layout: name("rows"),
        };
        let (settings, paths) = given(&splitting);
        let expect = SplitSettings {
            policy: String::new(),
            threshold_bytes: 2,
            target_bytes: 1,
            max_split_buckets: 8,
            strategy: "time_range".to_owned(),
            layout: "rows".to_owned(),
        };
        assert_eq!(settings, Some(expect));
        assert_eq!(
            paths,
            "split.policy split.threshold_bytes split.target_bytes split.max_split_buckets split.strategy \
             split.layout"
        );
    }
}
