//! The formats.

/// How results are written to stdout. What each is, is not said in a doc comment: clap would then spread every verb's
/// help over several lines a flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    // Aligned columns, for people.
    #[default]
    Table,
    // The API's own message.
    Json,
    // One record a line, as JSON.
    Ndjson,
    // Comma-separated values with a header.
    Csv,
}
