//! How settings are refused: in words for the operator, because nobody but the operator can act on it.

use std::io;
use std::path::PathBuf;

/// Settings that cannot be used. The message stands alone and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that was named is not there.
    #[error("{}: there is no such file, and {named_by} names it; correct the path or create the file", path.display())]
    NoFile {
        /// The path as it was named.
        path: PathBuf,
        /// The flag or the variable that names it.
        named_by: &'static str,
    },
    /// A file that is there cannot be read.
    #[error("{}: cannot be read ({source}); make it a readable text file, or name another with --config", path.display())]
    Unreadable {
        /// The path as it was named.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Mistakes in the file, the environment or the flags, in this order, one per line.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
}
