//! From rows of the origin to rows of the targets: as they are, or packed into chunks.
//!
//! Where a chunk ends follows from the rows of its target alone, newest first. So whoever copies again, also a worker that wakes up
//! after another one took its place, writes the same chunks under the same keys, and none that overlap.

use std::collections::BTreeMap;

use chunk::{Codec, Packed, Packer};
use model::{Row, RowView};
use split::{ChunkCodec, Digest, DigestKey, Digester, Key, Packing, Profile, Reason, Strategy, Usage, Why};

use super::attempt::Targets;
use super::held::Stop;
use crate::course::PageRows;

/// A chunk is packed for each so many bytes that are read, to see what becomes of them.
const SAMPLE_EVERY_BYTES: u64 = 4 << 20;

/// The targets of a split while they are filled.
pub(super) struct Filling<'a> {
    strategy: &'a Strategy,
    buckets_per_id: u16,
    packing: Option<Packing>,
    /// Chunks that rows still come to. By time it is one: when a target ends, the next begins.
    open: BTreeMap<usize, Packer>,
    /// The oldest row that is in a chunk, where all that are newer are too.
    packed_until: Option<Key>,
}

impl<'a> Filling<'a> {
    /// Goes on behind what `digest` holds.
    pub(super) fn new(targets: &'a Targets, buckets_per_id: u16, digest: &Digest) -> Self {
        Self {
            strategy: &targets.strategy,
            buckets_per_id,
            packing: targets.packing,
            open: BTreeMap::new(),
            packed_until: digest.first.clone(),
        }
    }

    /// Takes rows of the origin; gives rows that can be written, with their targets.
    pub(super) fn take(&mut self, rows: &PageRows) -> Result<Vec<(usize, Row)>, Stop> {
        let mut ready = Vec::new();
        for at in 0..rows.len() {
            let Some(row) = rows.view(at) else { continue };
            let target = self.strategy.target_of(row.event_time.nanos(), row.event_id, self.buckets_per_id);
            match self.packing {
                None => ready.extend(rows.get(at).map(|row| (target, row))),
                Some(packing) => self.pack(target, row, packing, &mut ready)?,
            }
        }
        Ok(ready)
    }

    fn pack(
        &mut self,
        target: usize,
        row: RowView<'_>,
        packing: Packing,
        ready: &mut Vec<(usize, Row)>,
    ) -> Result<(), Stop> {
        let is_new = !self.open.contains_key(&target);
        if is_new && self.by_time() {
            self.close(ready)?;
        }
        let packer = self.open.entry(target).or_insert_with(|| packer(packing));
        if let Some(packed) = packer.push(row).map_err(unpackable)? {
            self.give(target, &packed, ready);
        }
        Ok(())
    }

    /// Ends every chunk that is open.
    fn close(&mut self, ready: &mut Vec<(usize, Row)>) -> Result<(), Stop> {
        for (target, packer) in std::mem::take(&mut self.open) {
            for packed in packer.finish().map_err(unpackable)? {
                self.give(target, &packed, ready);
            }
        }
        Ok(())
    }

    fn give(&mut self, target: usize, packed: &Packed, ready: &mut Vec<(usize, Row)>) {
        if self.by_time() {
            let oldest = Row { key: packed.header.oldest.clone(), ..packed.to_row() };
            self.packed_until = Some(Key::of(&oldest.view()));
        }
        ready.push((target, packed.to_row()));
    }

    /// The last rows.
    pub(super) fn finish(mut self) -> Result<Vec<(usize, Row)>, Stop> {
        let mut ready = Vec::new();
        self.close(&mut ready)?;
        Ok(ready)
    }

    fn by_time(&self) -> bool {
        matches!(self.strategy, Strategy::TimeRange { .. })
    }

    /// Of all rows that were taken, those behind which another worker can go on, once what was given is written. By time that is
    /// where a chunk begins; by hash many chunks are open at any time, and it begins anew.
    pub(super) fn written(&self, taken: Digest, key: DigestKey) -> Digest {
        if self.packing.is_none() {
            return taken;
        }
        if !self.by_time() {
            return Digest::default();
        }
        let mut open = Digester::new(key, Digest::default());
        let in_order = self.open.values().flat_map(Packer::open_rows).all(|row| open.add(&row));
        let until = self.packed_until.clone().filter(|_| in_order);
        taken.without(&open.digest(), until)
    }
}

fn packer(packing: Packing) -> Packer {
    let codec = match packing.codec {
        ChunkCodec::None => Codec::None,
        ChunkCodec::Lz4 => Codec::Lz4,
        ChunkCodec::Zstd => Codec::Zstd,
    };
    Packer::new(codec, packing.chunk_bytes)
}

/// A row that no chunk can hold. The plan has seen to it that there is none.
fn unpackable(error: chunk::Error) -> Stop {
    Stop::Failed(Why::new(Reason::Store, format!("rows of the origin cannot be packed: {error}")))
}

/// Packs some of the rows that go by as they would be packed in the targets, to see what becomes of them.
pub(super) struct Sampler {
    usage: Usage,
    /// As events of the mean size of all so far are packed.
    packing: Packing,
    passed: u64,
}

impl Sampler {
    /// Goes on behind what `profile` holds.
    pub(super) fn new(is_remote: bool, profile: &Profile) -> Self {
        let usage = Usage { is_remote, ..Usage::default() };
        Self { usage, packing: usage.packing(profile.event_bytes()), passed: SAMPLE_EVERY_BYTES }
    }

    /// Looks at a page of the origin that `profile` holds, if it is time to.
    pub(super) fn look(&mut self, rows: &PageRows, profile: &mut Profile) {
        let packing = self.usage.packing(profile.event_bytes());
        if packing != self.packing {
            // What another codec made of events says nothing of this one.
            profile.forget_samples();
            (self.packing, self.passed) = (packing, SAMPLE_EVERY_BYTES);
        }
        self.passed += rows.iter().map(|row| row.logical_bytes()).sum::<u64>();
        if self.passed < SAMPLE_EVERY_BYTES {
            return;
        }
        let mut packer = packer(packing);
        // Rows that cannot be packed are no sample; whoever packs them says so.
        let first = rows.iter().find_map(|row| packer.push(row).transpose());
        let packed = match first {
            Some(packed) => packed.ok(),
            None => packer.finish().ok().and_then(|chunks| chunks.into_iter().next()),
        };
        if let Some(packed) = packed {
            self.passed = 0;
            profile.sampled(packed.header.logical_bytes, packed.to_row().logical_bytes());
        }
    }
}
