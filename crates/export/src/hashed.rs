//! A file whose size and hash are known when it is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use sha2::{Digest, Sha256};

/// A file that is being written, and the SHA-256 of what it has so far.
#[derive(Debug)]
pub struct HashedFile {
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
}

impl HashedFile {
    /// Writes to a new file.
    pub(crate) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), hash: Sha256::new(), bytes: 0 }
    }

    /// Sees that all of it is on the disk; gives back its size and its hash in hexadecimal.
    pub(crate) fn finish(self) -> io::Result<(u64, String)> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok((self.bytes, hex(&self.hash.finalize())))
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_hash_are_those_of_what_is_in_the_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        let mut file = HashedFile::new(File::create(&path).unwrap());
        for part in [&b"ab"[..], b"", b"c"] {
            file.write_all(part).unwrap();
        }
        let (bytes, hash) = file.finish().unwrap();
        assert_eq!((bytes, std::fs::read(&path).unwrap()), (3, b"abc".to_vec()));
        // As `sha256sum` prints it.
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
