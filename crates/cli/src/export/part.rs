//! One file of rows, in the format that was asked for.

use std::io;

use export::{Format, HashedFile, ParquetFile, Row};

use super::events::{CsvFile, NdjsonFile};

/// A file that rows are written to.
pub(super) enum Part {
    /// Columns.
    Parquet(Box<ParquetFile>),
    /// Events.
    Ndjson(Box<NdjsonFile>),
    /// Items.
    Csv(Box<CsvFile>),
}

impl Part {
    /// Writes to `file`.
    pub(super) fn new(format: Format, file: HashedFile) -> io::Result<Self> {
        Ok(match format {
            Format::Parquet => Self::Parquet(Box::new(ParquetFile::new(file)?)),
            Format::Ndjson => Self::Ndjson(Box::new(NdjsonFile::new(file)?)),
            Format::Csv => Self::Csv(Box::new(CsvFile::new(file)?)),
        })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Row) -> io::Result<()> {
        match self {
            Self::Parquet(part) => part.push(row),
            Self::Ndjson(part) => part.push(&row),
            Self::Csv(part) => part.push(&row),
        }
    }

    /// Items of it whose metadata could not be written.
    pub(super) fn without_metadata(&self) -> u64 {
        if let Self::Csv(part) = self { part.without_metadata } else { 0 }
    }

    /// Writes the rest; gives back the file and its rows, or lines.
    pub(super) fn finish(self) -> io::Result<(HashedFile, u64)> {
        match self {
            Self::Parquet(part) => part.finish(),
            Self::Ndjson(part) => part.finish(),
            Self::Csv(part) => part.finish(),
        }
    }
}
