//! The directory of an export: one writer at a time, files that are complete or not there, a manifest that is never half.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, FileEntry, HashedFile, Manifest, Result, SplitLine, SplitsEntry};

const MANIFEST: &str = "manifest.json";
const LOCK: &str = ".lock";
const SPLITS: &str = "splits.ndjson";
/// The splits as they were when the export began.
const SPLITS_BEFORE: &str = ".splits-before.ndjson";

/// The directory of an export, held by this process.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
    _lock: File,
}

impl Directory {
    /// Takes a directory, which is made where there is none; and the manifest of the export that it holds, if it does. One
    /// that holds anything else is refused.
    pub fn open(root: &Path) -> Result<(Self, Option<Manifest>)> {
        fs::create_dir_all(root).map_err(Error::io("make the directory", root))?;
        let lock = root.join(LOCK);
        let is_new = fs::read_dir(root).map_err(Error::io("read the directory", root))?.next().is_none();
        let manifest = match fs::read(root.join(MANIFEST)) {
            Ok(json) => Some(Manifest::parse(&json).map_err(|problem| {
                let shown = root.join(MANIFEST);
                Error::Refused(format!("{} {problem}; choose another directory", shown.display()))
            })?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io("read", &root.join(MANIFEST))(error)),
        };
        // Killed before its first manifest, an export has left nothing but its lock.
        if manifest.is_none() && !is_new && !only_lock(root)? {
            let root = root.display();
            return Err(Error::Refused(format!(
                "{root} is not empty and holds no export; choose another directory"
            )));
        }
        let file = File::create(&lock).map_err(Error::io("make", &lock))?;
        match file.try_lock() {
            Ok(()) => Ok((Self { root: root.to_owned(), _lock: file }, manifest)),
            Err(TryLockError::WouldBlock) => {
                let root = root.display();
                let message =
                    format!("another export writes to {root}; wait for it or choose another directory");
                Err(Error::Refused(message))
            }
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &lock)(error)),
        }
    }

    /// Puts the manifest in place, as a whole.
    pub fn keep(&self, manifest: &Manifest) -> Result<()> {
        self.put(MANIFEST, &manifest.to_json())
    }

    /// Checks that the files of a manifest are still there, by their size.
    pub fn check(&self, manifest: &Manifest) -> Result<()> {
        for file in manifest.tables.iter().flat_map(|table| &table.files) {
            let path = self.root.join(&file.path);
            let bytes = fs::metadata(&path).map_err(Error::io("find", &path))?.len();
            if bytes != file.bytes {
                let (path, expect) = (path.display(), file.bytes);
                let message = format!(
                    "{path} has {bytes} bytes and should have {expect}; export again into another directory"
                );
                return Err(Error::Refused(message));
            }
        }
        Ok(())
    }

    /// Begins the part with this number of a table.
    pub fn begin_part(&self, table: &str, number: usize, extension: &str) -> Result<(HashedFile, PartPath)> {
        let below = format!("data/table={table}");
        let directory = self.root.join(&below);
        fs::create_dir_all(&directory).map_err(Error::io("make the directory", &directory))?;
        let name = format!("part-{number:05}.{extension}");
        let path =
            PartPath { below: format!("{below}/{name}"), draft: directory.join(format!(".{name}.tmp")) };
        let file = File::create(&path.draft).map_err(Error::io("make", &path.draft))?;
        Ok((HashedFile::new(file), path))
    }

    /// Puts a part in place. It belongs to the export once a manifest that names it is kept.
    pub fn finish_part(&self, file: HashedFile, path: &PartPath, rows: u64) -> Result<FileEntry> {
        let (bytes, sha256) = file.finish().map_err(Error::io("write", &path.draft))?;
        let place = self.root.join(&path.below);
        fs::rename(&path.draft, &place).map_err(Error::io("name", &place))?;
        sync_parent(&place)?;
        Ok(FileEntry { path: path.below.clone(), rows, bytes, sha256 })
    }

    /// Removes what a part has so far, and its directory where it is the only one.
    pub fn abandon_part(&self, path: &PartPath) -> Result<()> {
        fs::remove_file(&path.draft).map_err(Error::io("remove", &path.draft))?;
        if let Some(parent) = path.draft.parent() {
            // Not empty where other parts are there.
            let _others = fs::remove_dir(parent);
        }
        Ok(())
    }

    /// Removes files that are no part of the export any more, and the directories that they leave empty.
    pub fn remove(&self, files: &[FileEntry]) -> Result<()> {
        for file in files {
            let path = self.root.join(&file.path);
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            if let Some(parent) = path.parent() {
                let _others = fs::remove_dir(parent);
            }
        }
        Ok(())
    }

    /// Keeps the splits as they are before anything is exported.
    pub fn keep_splits_before(&self, splits: &[SplitLine]) -> Result<()> {
        self.put(SPLITS_BEFORE, &lines(splits))
    }

    /// The splits as they were before.
    pub fn splits_before(&self) -> Result<Vec<SplitLine>> {
        let path = self.root.join(SPLITS_BEFORE);
        let text = fs::read(&path).map_err(Error::io("read", &path))?;
        let broken = |error: serde_json::Error| {
            Error::Refused(format!(
                "{} does not read: {error}; export into another directory",
                path.display()
            ))
        };
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).map_err(broken)).collect()
    }

    /// Puts the split records in place.
    pub fn finish_splits(&self, splits: &[SplitLine]) -> Result<SplitsEntry> {
        let (draft, place) = (self.root.join(format!(".{SPLITS}.tmp")), self.root.join(SPLITS));
        let mut file = HashedFile::new(File::create(&draft).map_err(Error::io("make", &draft))?);
        file.write_all(&lines(splits)).map_err(Error::io("write", &draft))?;
        let (bytes, sha256) = file.finish().map_err(Error::io("write", &draft))?;
        fs::rename(&draft, &place).map_err(Error::io("name", &place))?;
        sync_parent(&place)?;
        Ok(SplitsEntry { path: SPLITS.to_owned(), count: splits.len() as u64, bytes, sha256 })
    }

    /// Removes what only an export that is under way needs.
    pub fn tidy(&self) -> Result<()> {
        let path = self.root.join(SPLITS_BEFORE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> Result<()> {
        let (draft, place) = (self.root.join(format!(".{name}.tmp")), self.root.join(name));
        let mut file = File::create(&draft).map_err(Error::io("make", &draft))?;
        file.write_all(content).and_then(|()| file.sync_all()).map_err(Error::io("write", &draft))?;
        fs::rename(&draft, &place).map_err(Error::io("name", &place))?;
        sync_parent(&place)
    }
}

/// Where a part lies, below the directory of the export and until it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartPath {
    below: String,
    draft: PathBuf,
}

fn lines(splits: &[SplitLine]) -> Vec<u8> {
    // Records of plain text and numbers are always written.
    splits
        .iter()
        .flat_map(|line| [serde_json::to_vec(line).unwrap_or_default(), b"\n".to_vec()].concat())
        .collect()
}

/// Whether nothing but what an export leaves that was killed at once is there.
fn only_lock(root: &Path) -> Result<bool> {
    for entry in fs::read_dir(root).map_err(Error::io("read the directory", root))? {
        let name = entry.map_err(Error::io("read the directory", root))?.file_name();
        if !name.to_string_lossy().starts_with('.') {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A new name is durable when its directory is.
fn sync_parent(path: &Path) -> Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    File::open(parent).and_then(|directory| directory.sync_all()).map_err(Error::io("sync", parent))
}

#[cfg(test)]
mod tests;
