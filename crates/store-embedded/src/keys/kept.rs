//! The exact histogram of a table, kept until the table is written again.
//!
//! Key: `F1`. Value: the stored form of [`model::SizeHistogram`], which carries its own version.

/// The key of the kept histogram.
pub(crate) const KEY: [u8; 1] = [0xF1];
