//! Where one chunk ends and the next begins: an event's rows stay together, and one that is larger than a chunk gets its own.

use model::{RowView, RowsBuilder};

use crate::encode::{Encoder, fits};
use crate::{Codec, Error, Packed};

/// Takes the rows of a partition, newest first, and gives chunks.
pub struct Packer {
    encoder: Encoder,
    chunk_bytes: u64,
    open: RowsBuilder,
    /// Empty: where rows that stay open wait while the others go.
    spare: RowsBuilder,
    /// Where the last event begins among the open rows.
    last_event: usize,
    /// The row before: time, event id, item key.
    before: Option<(i64, Vec<u8>, Vec<u8>)>,
}

impl Packer {
    /// Makes chunks of about so many logical bytes; [`crate::CHUNK_BYTES`] is what was measured.
    pub fn new(codec: Codec, chunk_bytes: u64) -> Self {
        let (open, spare) = (RowsBuilder::default(), RowsBuilder::default());
        Self { encoder: Encoder::new(codec), chunk_bytes, open, spare, last_event: 0, before: None }
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
            packed.push(self.encoder.encode(front(&self.open, self.open.len()))?);
        }
        Ok(packed)
    }

    /// A chunk of everything before the last event, which stays open.
    fn cut(&mut self) -> Result<Packed, Error> {
        let packed = self.encoder.encode(front(&self.open, self.last_event))?;
        let staying = self.last_event..self.open.len();
        staying.filter_map(|row| self.open.view(row)).for_each(|row| self.spare.push(row));
        std::mem::swap(&mut self.open, &mut self.spare);
        self.spare.clear();
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

/// The first rows.
fn front(rows: &RowsBuilder, count: usize) -> impl Iterator<Item = RowView<'_>> + Clone {
    (0..count).filter_map(|row| rows.view(row))
}
