//! Where one chunk ends and the next begins: an event's rows stay together, and one that is larger than a chunk gets its own.

use model::{RowView, Rows, RowsBuilder};

use crate::codec::Compressor;
use crate::encode::{encode, fits};
use crate::{Codec, Error, Packed};

/// Takes the rows of a partition, newest first, and gives chunks.
pub struct Packer {
    compressor: Compressor,
    chunk_bytes: u64,
    open: RowsBuilder,
    /// Where the last event begins among the open rows.
    last_event: usize,
    /// The row before: time, event id, item key.
    before: Option<(i64, Vec<u8>, Vec<u8>)>,
}

impl Packer {
    /// Makes chunks of about so many logical bytes; [`crate::CHUNK_BYTES`] is what was measured.
    pub fn new(codec: Codec, chunk_bytes: u64) -> Self {
        let (compressor, open) = (Compressor::new(codec), RowsBuilder::default());
        Self { compressor, chunk_bytes, open, last_event: 0, before: None }
    }

    /// Whether all rows that were pushed are in chunks that were given.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Rows that are in no chunk that was given.
    pub fn open_rows(&self) -> impl Iterator<Item = RowView<'_>> {
        self.open.iter()
    }

    /// Adds a row. Gives a chunk of rows before it once it is known to end. After an error it is not to be used any more.
    pub fn push(&mut self, row: RowView<'_>) -> Result<Option<Packed>, Error> {
        fits(&row)?;
        let begins = self.begins_event(&row)?;
        let cut = begins && self.last_event > 0 && self.open.logical_bytes() > self.chunk_bytes;
        let packed = if cut { Some(self.cut()?) } else { None };
        if begins {
            self.last_event = self.open.len();
        }
        self.open.push(row);
        Ok(packed)
    }

    /// The rest, one chunk or two; none where no row is open.
    pub fn finish(mut self) -> Result<Vec<Packed>, Error> {
        let mut packed = Vec::new();
        if self.last_event > 0 && self.open.logical_bytes() > self.chunk_bytes {
            packed.push(self.cut()?);
        }
        if !self.open.is_empty() {
            packed.push({
                let rows = self.open.finish();
                encode(Front(&rows, 0..rows.len()), &mut self.compressor)?
            });
        }
        Ok(packed)
    }

    /// A chunk of everything before the last event, which stays open.
    fn cut(&mut self) -> Result<Packed, Error> {
        let rows: Rows = std::mem::take(&mut self.open).finish();
        rows.iter().skip(self.last_event).for_each(|row| self.open.push(row));
        let packed = encode(Front(&rows, 0..self.last_event), &mut self.compressor)?;
        self.last_event = 0;
        Ok(packed)
    }

    /// Whether `row` is of another event than the one before; refused if it does not come behind it.
    fn begins_event(&mut self, row: &RowView<'_>) -> Result<bool, Error> {
        let time = row.event_time.nanos();
        let Some((before, event_id, item_key)) = &mut self.before else {
            self.before = Some((time, row.event_id.to_vec(), row.item_key.to_vec()));
            return Ok(true);
        };
        if (time, row.event_id, row.item_key) >= (*before, event_id, item_key) {
            return Err(Error::OutOfOrder);
        }
        let begins = (time, row.event_id) != (*before, event_id);
        *before = time;
        for (kept, part) in [(event_id, row.event_id), (item_key, row.item_key)] {
            kept.clear();
            kept.extend_from_slice(part);
        }
        Ok(begins)
    }
}

/// The first rows of a page.
#[derive(Clone)]
struct Front<'a>(&'a Rows, std::ops::Range<usize>);

impl<'a> Iterator for Front<'a> {
    type Item = RowView<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.view(self.1.next()?)
    }
}
