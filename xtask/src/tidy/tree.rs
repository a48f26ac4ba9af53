//! The files that the rules look at: what git tracks, and what it would track once added, so that a new file is judged
//! before its commit. The only place in tidy that touches the disk.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Not ours to judge. Only needed where there is no git (an unpacked archive): git knows what is ignored.
const NEVER: [&str; 2] = [".git", "target"];

/// One file. `text` is absent where the content is binary.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: usize,
    pub(crate) text: Option<String>,
}

impl File {
    pub(crate) fn new(path: String, content: Vec<u8>) -> Self {
        let bytes = content.len();
        let text = String::from_utf8(content).ok().filter(|text| !text.contains('\0'));
        Self { path, bytes, text }
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Lines with their numbers, from 1. None where the file is binary.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.iter().flat_map(|text| text.lines().enumerate().map(|(at, line)| (at + 1, line)))
    }
}

/// All files, by path.
pub(crate) struct Tree {
    files: Vec<File>,
}

impl Tree {
    pub(crate) fn new(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub(crate) fn load(root: &Path) -> Result<Self> {
        let paths = match tracked(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        let mut files = Vec::new();
        for path in paths {
            let full = root.join(&path);
            // Deleted but not yet committed, or a link: nothing to read.
            if !fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let content = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            files.push(File::new(path, content));
        }
        Ok(Self::new(files))
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether `path` is a file, or a directory with a file in it. A trailing slash is no matter.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below = format!("{path}/");
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&below))
    }

    /// The names of the directories directly under `parent`, once each.
    pub(crate) fn directories(&self, parent: &str) -> Vec<&str> {
        let inside = |file: &'_ File| file.path.starts_with(&format!("{parent}/"));
        let rest = self
            .files
            .iter()
            .filter(|file| inside(file))
            .filter_map(|file| file.path.get(parent.len() + 1..));
        let mut names: Vec<&str> =
            rest.filter_map(|rest| rest.split_once('/')).map(|(name, _)| name).collect();
        names.dedup();
        names
    }
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut paths: Vec<String> =
        listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut open = vec![String::new()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            if !entry.file_type()?.is_dir() {
                paths.push(path);
            } else if !NEVER.contains(&name.as_str()) {
                open.push(path);
            }
        }
    }
    Ok(paths)
}
