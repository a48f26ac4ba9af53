//! Why an export cannot be written.

use std::io;
use std::path::{Path, PathBuf};

/// The result of writing.
pub type Result<T> = std::result::Result<T, Error>;

/// Why it cannot be written. The message stands alone and ends with what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory is in the way.
    #[error("cannot {doing} {}: {source}; free it or choose another directory", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory holds something else.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// A failure of the system.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
