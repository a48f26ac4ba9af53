//! How a body is compressed. Contexts are kept, so that a chunk costs no more than its bytes.

use std::cell::RefCell;

use bytes::Bytes;

use crate::Error;

/// Of sixteen parts, how many the compressed body may have at most to be worth decompressing.
const WORTH_SIXTEENTHS: usize = 15;
const ZSTD_LEVEL: i32 = 1;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    None,
    /// One LZ4 block.
    Lz4,
    /// One Zstandard frame.
    Zstd,
}

impl Codec {
    pub(crate) const fn to_byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Lz4 => 1,
            Self::Zstd => 2,
        }
    }

    pub(crate) const fn from_byte(byte: u8) -> Result<Self, Error> {
        match byte {
            0 => Ok(Self::None),
            1 => Ok(Self::Lz4),
            2 => Ok(Self::Zstd),
            found => Err(Error::Unknown { what: "codec", found }),
        }
    }
}

/// Compresses bodies.
pub(crate) struct Compressor {
    codec: Codec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// Room for what is compressed; what is stored is cut to its length.
    room: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new(codec: Codec) -> Self {
        // Without a context, which only a lack of memory explains, bodies are stored as they are.
        let zstd = (codec == Codec::Zstd).then(|| zstd::bulk::Compressor::new(ZSTD_LEVEL).ok()).flatten();
        Self { codec, zstd, room: Vec::new() }
    }

    /// The body as it is stored, and by which codec: not compressed where that does not pay.
    pub(crate) fn compress(&mut self, raw: &[u8]) -> (Codec, Bytes) {
        let compressed = match self.codec {
            Codec::None => None,
            Codec::Lz4 => self.lz4(raw),
            Codec::Zstd => self.zstd(raw),
        };
        let most = raw.len() / 16 * WORTH_SIXTEENTHS;
        match compressed.and_then(|bytes| self.room.get(..bytes)).filter(|stored| stored.len() <= most) {
            Some(stored) => (self.codec, Bytes::copy_from_slice(stored)),
            None => (Codec::None, Bytes::copy_from_slice(raw)),
        }
    }

    fn lz4(&mut self, raw: &[u8]) -> Option<usize> {
        let most = lz4_flex::block::get_maximum_output_size(raw.len());
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        lz4_flex::block::compress_into(raw, &mut self.room).ok()
    }

    fn zstd(&mut self, raw: &[u8]) -> Option<usize> {
        self.room.clear();
        self.room.reserve(zstd::zstd_safe::compress_bound(raw.len()));
        self.zstd.as_mut()?.compress_to_buffer(raw, &mut self.room).ok()
    }
}

thread_local! {
    /// What Zstandard needs to decompress, kept for the next chunk: to make it takes longer than a small chunk does.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Exactly `bytes` bytes from a body that is compressed; the caller has checked that there may be so many.
pub(crate) fn decompress(codec: Codec, stored: &[u8], bytes: usize) -> Result<Vec<u8>, Error> {
    const BAD: Error = Error::Malformed("the body does not decompress to its length");
    let raw = match codec {
        Codec::None => stored.to_vec(),
        Codec::Lz4 => {
            let mut raw = vec![0; bytes];
            let found = lz4_flex::block::decompress_into(stored, &mut raw).map_err(|_| BAD)?;
            raw.truncate(found);
            raw
        }
        Codec::Zstd => ZSTD.with_borrow_mut(|kept| unzstd(kept, stored, bytes)).ok_or(BAD)?,
    };
    if raw.len() == bytes { Ok(raw) } else { Err(BAD) }
}

fn unzstd(
    kept: &mut Option<zstd::bulk::Decompressor<'static>>,
    stored: &[u8],
    bytes: usize,
) -> Option<Vec<u8>> {
    // Several frames would be decompressed one behind the other, and some are skipped; the body is exactly one.
    if zstd::zstd_safe::find_frame_compressed_size(stored).ok()? != stored.len() {
        return None;
    }
    if kept.is_none() {
        *kept = Some(zstd::bulk::Decompressor::new().ok()?);
    }
    let mut raw = Vec::with_capacity(bytes);
    kept.as_mut()?.decompress_to_buffer(stored, &mut raw).ok()?;
    Some(raw)
}
