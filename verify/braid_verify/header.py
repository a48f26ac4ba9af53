"""The header of a chunk, from `docs/formats/chunk.md` alone: what is known of it without its body."""

import struct
from typing import NamedTuple

import xxhash

from .damage import Damaged, need

MARK, VERSION = 0xC7, 1
NONE, LZ4, ZSTD = 0, 1, 2
TIME_MAX = 9183110400000000000
# What a reader takes at most; checked before there is room for it.
ROWS_MAX = 131072
BYTES_MAX = 80 << 20
CHECKSUM_BYTES = 8


class Header(NamedTuple):
    """As it is stored; keys are (event time, event id, item key)."""

    codec: int
    rows: int
    events: int
    logical_bytes: int
    raw_bytes: int
    stored_bytes: int
    newest: tuple
    oldest: tuple
    body_checksum: int


class Reader:
    """Bytes that are used up from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        """The next bytes."""
        need(self.at + count <= len(self.data), "the header ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def numbers(self, form):
        """Numbers of fixed size."""
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))

    def key(self):
        """The key of a row."""
        (time,) = self.numbers("q")
        need(0 <= time <= TIME_MAX, "a time is out of range")
        texts = [self.take(*self.numbers("H")) for _ in range(2)]
        need(all(texts), "an event id or item key is empty")
        return time, *texts


def decode_header(stored):
    """What `value_metadata` of a chunk says."""
    reader = Reader(stored)
    known("mark", reader.numbers("B"), (MARK,))
    known("version", reader.numbers("B"), (VERSION,))
    before, checksum = stored[:-CHECKSUM_BYTES], stored[-CHECKSUM_BYTES:]
    need(xxhash.xxh3_64_digest(before) == checksum, "the checksum of its header does not match")
    codec = known("codec", reader.numbers("B"), (NONE, LZ4, ZSTD))
    known("flags", reader.numbers("B"), (0,))
    header = Header(codec, *reader.numbers("IIQII"), reader.key(), reader.key(), *reader.numbers("Q"))
    reader.take(CHECKSUM_BYTES)
    need(reader.at == len(stored), "the header goes on behind its end")
    refuse_contradictions(header)
    return header


def known(what, found, values):
    """A field that has to have one of the values of this version."""
    if found[0] not in values:
        raise Damaged(f"it has {what} {found[0]}, which this program does not know")
    return found[0]


def refuse_contradictions(header):
    """What a header says of itself has to fit together, and be within limits."""
    newest, oldest = header.newest, header.oldest
    need(1 <= header.events <= header.rows, "it has no events, or more than rows")
    need(newest >= oldest and (newest == oldest) == (header.rows == 1), "the first and last row of its header are not in order")
    need((newest[:2] == oldest[:2]) == (header.events == 1), "its number of events does not fit its first and last row")
    need(header.codec != NONE or header.raw_bytes == header.stored_bytes, "it is not compressed and yet has two lengths")
    need(header.rows <= ROWS_MAX, f"it has {header.rows} rows, the limit is {ROWS_MAX}")
    need(header.raw_bytes <= BYTES_MAX, f"it has {header.raw_bytes} bytes, the limit is {BYTES_MAX}")
