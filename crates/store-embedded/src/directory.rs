//! The data directory: who owns it, and whether this version may open it.
//!
//! Nothing in a directory is touched before its format was read and found to be ours and its lock was taken.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use store::{Error, ErrorKind, Result};

use crate::keys::format;

const LOCK_FILE: &str = "LOCK";
const ENGINE: &str = "engine";

/// A data directory that this process owns until it drops this.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    // The operating system frees the lock when the file is closed, also after kill -9.
    lock: File,
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A child process that is being started has a copy of the file until it runs its own program; closing this one would
        // leave the lock to that.
        if let Err(error) = self.lock.unlock() {
            tracing::debug!(%error, "the lock of a data directory is freed when its file is closed");
        }
    }
}

impl Directory {
    /// Takes the directory, making it if it does not exist.
    pub(crate) fn own(path: &Path) -> Result<Self> {
        let failed = |what: &str, error: std::io::Error| {
            let message =
                format!("cannot {what} data directory {}: {error}; check path and rights", path.display());
            Error::new(ErrorKind::Unavailable, message).caused_by(error)
        };
        let written = read_format(path).map_err(|error| failed("read", error))?;
        if let Some(content) = &written {
            format::check(content, path)?;
        } else if fs::read_dir(path)
            .is_ok_and(|mut entries| entries.next().is_some_and(|entry| !is_lock(entry)))
        {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!(
                    "directory {} holds other files; choose an empty one for braid's data",
                    path.display()
                ),
            ));
        }
        fs::create_dir_all(path).map_err(|error| failed("create", error))?;
        let lock = lock(path).map_err(|error| failed("lock", error))??;
        if written.is_none() {
            write_format(path).map_err(|error| failed("prepare", error))?;
        }
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Where the engine keeps its files.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }
}

fn is_lock(entry: std::io::Result<fs::DirEntry>) -> bool {
    // A process that was killed between taking the lock and writing the format leaves only the lock.
    entry.is_ok_and(|entry| entry.file_name() == LOCK_FILE)
}

fn read_format(path: &Path) -> std::io::Result<Option<String>> {
    match fs::read_to_string(path.join(format::FILE)) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_format(path: &Path) -> std::io::Result<()> {
    // Written beside and renamed, so that a crash leaves no half file.
    let beside = path.join("FORMAT.new");
    let mut file = File::create(&beside)?;
    file.write_all(format::encode().as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path.join(format::FILE))?;
    File::open(path)?.sync_all()
}

fn lock(path: &Path) -> std::io::Result<Result<File>> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path.join(LOCK_FILE))?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
            Ok(Ok(file))
        }
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            file.seek(SeekFrom::Start(0))?;
            file.read_to_string(&mut owner)?;
            let owner =
                if owner.is_empty() { "another process".to_owned() } else { format!("process {owner}") };
            Ok(Err(Error::new(
                ErrorKind::Unavailable,
                format!(
                    "data directory {} is in use by {owner}; stop that process or choose another directory",
                    path.display()
                ),
            )))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_told_who_has_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("data");
        let first = Directory::own(&path).unwrap();
        let second = Directory::own(&path).unwrap_err();
        assert!(
            second.to_string().contains(&format!("in use by process {}", std::process::id())),
            "{second}"
        );
        drop(first);
        Directory::own(&path).unwrap();
    }

    #[test]
    fn a_newer_format_is_refused_untouched() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(format::FILE), "braid embedded store, format 99\n").unwrap();
        let refusal = Directory::own(scratch.path()).unwrap_err();
        assert!(refusal.to_string().contains("format 99"), "{refusal}");
        let files: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(files, [format::FILE]);
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("thesis.txt"), "x").unwrap();
        let refusal = Directory::own(scratch.path()).unwrap_err();
        assert!(refusal.to_string().contains("other files"), "{refusal}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
