"""The body of a packed chunk, decoded from `docs/formats/chunk.md` alone, a column at a time.

Nothing of Braid runs here. What comes out is every row of the chunk, exactly, or `Damaged` with the reason: there are no rows in part.
"""

import re
from dataclasses import dataclass

import lz4.block
import numpy
import pyarrow
import pyarrow.compute
import xxhash
import zstandard

from .damage import Damaged, need
from .header import LZ4, NONE, Header, decode_header
from .varint import entries, lengths_of, varints

COLUMNS = 11
LENGTHS_BYTES = 4 * COLUMNS
UUID_PACKED, UUID_TEXT = 16, 36
UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UUID_DIGITS = [at for at in range(UUID_TEXT) if at not in (8, 13, 18, 23)]
# Making one costs more than a chunk; a process uses one thread for this.
ZSTANDARD = zstandard.ZstdDecompressor()
HEXADECIMAL = numpy.frombuffer(bytes(range(256)).hex().encode(), dtype=numpy.uint8).reshape(256, 2)


@dataclass(frozen=True)
class Chunk:
    """The rows of a chunk, newest first: times as numbers, the rest as columns of `large_binary`."""

    header: Header
    # Logical bytes of the newest event.
    first_event: int
    times: numpy.ndarray
    parts: list
    write_times: numpy.ndarray


def decode(stored_header, stored_body):
    """A chunk from the two columns of its stored row."""
    header = decode_header(stored_header)
    need(len(stored_body) == header.stored_bytes, "its body has another length than its header says")
    need(header.raw_bytes >= LENGTHS_BYTES, "its body is too short for its columns")
    need(xxhash.xxh3_64_intdigest(stored_body) == header.body_checksum, "the checksum of its body does not match")
    return rows_of(header, columns(decompress(header, stored_body)))


def decompress(header, stored):
    """The body as it was before compression: one block or one frame, and nothing behind it."""
    if header.codec == NONE:
        return stored
    try:
        if header.codec == LZ4:
            body = lz4.block.decompress(stored, uncompressed_size=header.raw_bytes)
        else:
            # A frame may promise more than there is; there is no room for it before it is known to be right.
            need(zstandard.frame_content_size(stored) in (-1, header.raw_bytes), "its frame has another length than its header says")
            body = ZSTANDARD.decompress(stored, max_output_size=header.raw_bytes, allow_extra_data=False)
    except (lz4.block.LZ4BlockError, zstandard.ZstdError) as error:
        raise Damaged(f"its body does not decompress ({error})") from None
    need(len(body) == header.raw_bytes, "its body does not decompress to its length")
    return body


def columns(body):
    """The eleven columns, which fill the body exactly."""
    data = numpy.frombuffer(body, dtype=numpy.uint8)
    ends = LENGTHS_BYTES + numpy.cumsum(data[:LENGTHS_BYTES].view(">u4").astype(numpy.int64))
    need(ends[-1] == len(data), "its columns do not fill its body")
    return numpy.split(data[LENGTHS_BYTES:], ends[:-1] - LENGTHS_BYTES)


def rows_of(header, found):
    """Columns become rows, which have to be those that the header speaks of."""
    counts, deltas, id_lengths, id_bytes, keys, key_of, metadata, metadata_of, lengths, written, values = found
    counts = lengths_of(counts, header.events)
    need(counts.min() > 0 and counts.sum() == header.rows, "its events do not have all of its rows")
    times = event_times(header, varints(deltas, header.events))
    ids = event_ids(lengths_of(id_lengths, header.events), id_bytes)
    keys, metadata = entries(keys), entries(metadata)
    need(all(keys) and is_text(pyarrow.array(keys, pyarrow.large_binary())), "an item key is empty or no text")
    key_of, metadata_of = indices(key_of, header.rows, keys), indices(metadata_of, header.rows, metadata)
    refuse_disorder(times, ids, counts, keys, key_of)
    event_of = numpy.repeat(numpy.arange(header.events), counts)
    parts = [
        ids.take(pyarrow.array(event_of)),
        pyarrow.array(keys, pyarrow.large_binary()).take(pyarrow.array(key_of)),
        binaries(lengths_of(lengths, header.rows), values),
        pyarrow.array(metadata, pyarrow.large_binary()).take(pyarrow.array(metadata_of)),
    ]
    first_event = logical_bytes([part[: counts[0]] for part in parts])
    chunk = Chunk(header, first_event, times[event_of], parts, write_times(varints(written, header.rows)))
    for at, key, which in ((0, header.newest, "first"), (header.rows - 1, header.oldest, "last")):
        row = (int(chunk.times[at]), parts[0][at].as_py(), parts[1][at].as_py())
        need(row == key, f"its {which} row is not that of its header")
    need(logical_bytes(parts) == header.logical_bytes, "its rows have other bytes than its header says")
    return chunk


def event_times(header, deltas):
    """Times of events; they never rise, so none lies outside of those of the header."""
    high, low = (deltas >> numpy.uint64(32)).sum(), (deltas & numpy.uint64(2**32 - 1)).sum()
    # Added up without overflow, whatever was stored.
    need(deltas[0] == 0 and (int(high) << 32) + int(low) == header.newest[0] - header.oldest[0], "the times of its events do not add up")
    return header.newest[0] - numpy.cumsum(deltas).astype(numpy.int64)


def event_ids(lengths, stored):
    """Ids of events; a length of 0 stands for a UUID."""
    packed = lengths == 0
    sizes, texts = numpy.where(packed, UUID_PACKED, lengths), numpy.where(packed, UUID_TEXT, lengths)
    need(sizes.sum() == len(stored), "its event ids do not fill their column")
    if packed.any():
        data = numpy.empty(texts.sum(), dtype=numpy.uint8)
        is_packed, is_uuid = numpy.repeat(packed, sizes), numpy.repeat(packed, texts)
        data[is_uuid] = uuids(stored[is_packed])
        data[~is_uuid] = stored[~is_packed]
    else:
        data = stored
    ids = binaries(texts, data)
    need(is_text(ids), "an event id is no text")
    suspects = numpy.flatnonzero((lengths == UUID_TEXT) & ~packed).tolist()
    need(not any(UUID.fullmatch(ids[at].as_py()) for at in suspects), "an event id is a UUID and not stored as one")
    return ids


def uuids(packed):
    """Texts of UUIDs, one behind the other."""
    digits = HEXADECIMAL[packed].reshape(-1, 2 * UUID_PACKED)
    texts = numpy.full((len(digits), UUID_TEXT), ord("-"), dtype=numpy.uint8)
    texts[:, UUID_DIGITS] = digits
    return texts.ravel()


def is_text(column):
    """Whether every entry is UTF-8."""
    try:
        column.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        return False
    return True


def binaries(lengths, data):
    """A column of bytes that lie one behind the other."""
    offsets = numpy.concatenate(([0], numpy.cumsum(lengths)))
    need(offsets[-1] == len(data), "its values do not fill their column")
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(numpy.ascontiguousarray(data))]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), len(lengths), buffers)


def logical_bytes(parts):
    """Of rows: eight of each for its time, and those of its parts."""
    return 8 * len(parts[0]) + sum(pyarrow.compute.sum(pyarrow.compute.binary_length(part)).as_py() for part in parts)


def indices(column, count, dictionary):
    """Which entry of a dictionary each row has; entries come in the order of their first use, and all are used."""
    found = lengths_of(column, count)
    most = numpy.maximum.accumulate(found)
    steps = numpy.diff(most, prepend=-1)
    need(steps.max() <= 1 and most[-1] + 1 == len(dictionary), "a dictionary is not in the order of first use, or not used up")
    return found


def refuse_disorder(times, ids, counts, keys, key_of):
    """Rows descend strictly, and no event comes in two pieces."""
    for at in (numpy.flatnonzero(numpy.diff(times) == 0) + 1).tolist():
        need(ids[at].as_py() < ids[at - 1].as_py(), "its events are not in order")
    if len(counts) < len(key_of):
        order = {key: place for place, key in enumerate(sorted(set(keys)))}
        ranks = numpy.array([order[key] for key in keys])[key_of]
        begins = numpy.cumsum(counts)[:-1]
        rises = numpy.diff(ranks) >= 0
        rises[begins - 1] = False
        need(not rises.any(), "the items of an event are not in order")


def write_times(deltas):
    """Differences in zigzag form, added up modulo 2^64."""
    one = numpy.uint64(1)
    return numpy.cumsum((deltas >> one) ^ (~(deltas & one) + one), dtype=numpy.uint64).view(numpy.int64)
