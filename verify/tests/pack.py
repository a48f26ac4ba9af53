"""Packs rows into chunks, from `docs/formats/chunk.md` alone: plainly, row by row, and without asking whether they are in order.

A row is a list: event time, event id, item key, value, metadata, write time. So is the stored row of a chunk.
"""

import re
import struct
from itertools import groupby

import lz4.block
import xxhash
import zstandard

CODECS = ("none", "lz4", "zstd")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def event_of(row):
    return row[0], row[1]


def logical_bytes(row):
    return 8 + len(row[1].encode()) + len(row[2].encode()) + len(row[3]) + len(row[4])


def dictionary(entries):
    """Two columns: each distinct entry once, in the order of first use, and which of them a row has."""
    places = {entry: at for at, entry in enumerate(dict.fromkeys(entries))}
    listed = b"".join(varint(len(entry)) + entry for entry in places)
    return [listed, b"".join(varint(places[entry]) for entry in entries)]


def columns_of(rows):
    """The eleven columns."""
    events = [list(of) for _, of in groupby(rows, event_of)]
    times = [of[0][0] for of in events]
    ids = [of[0][1] for of in events]
    packed = [bytes.fromhex(text.replace("-", "")) if UUID.fullmatch(text) else None for text in ids]
    # Modulo 2^64, as a number with a sign.
    written = [(row[5] - before + 2**63) % 2**64 - 2**63 for row, before in zip(rows, [0, *(row[5] for row in rows)])]
    return [
        b"".join(varint(len(of)) for of in events),
        b"".join(varint((before - time) % 2**64) for before, time in zip([times[0], *times], times)),
        b"".join(varint(0 if uuid else len(text.encode())) for uuid, text in zip(packed, ids)),
        b"".join(uuid or text.encode() for uuid, text in zip(packed, ids)),
        *dictionary([row[2].encode() for row in rows]),
        *dictionary([row[4] for row in rows]),
        b"".join(varint(len(row[3])) for row in rows),
        b"".join(varint(((step << 1) ^ (step >> 63)) % 2**64) for step in written),
        b"".join(row[3] for row in rows),
    ]


def body_of(columns):
    return b"".join(struct.pack(">I", len(column)) for column in columns) + b"".join(columns)


def compressed(body, codec):
    if codec == "lz4":
        return lz4.block.compress(body, store_size=False)
    return zstandard.ZstdCompressor(level=1).compress(body) if codec == "zstd" else body


def sealed(before, body):
    """A header with its two checksums."""
    header = before + struct.pack(">Q", xxhash.xxh3_64_intdigest(body))
    return header + struct.pack(">Q", xxhash.xxh3_64_intdigest(header))


def header_of(rows, codec, raw_bytes, body, /, **other):
    """The header of rows, or one that says something else."""
    fields = {
        "start": bytes([0xC7, 1, CODECS.index(codec), 0]),
        "rows": len(rows),
        "events": sum(1 for _ in groupby(rows, event_of)),
        "logical_bytes": sum(map(logical_bytes, rows)),
        "raw_bytes": raw_bytes,
        "stored_bytes": len(body),
        "newest": rows[0][:3],
        "oldest": rows[-1][:3],
    } | other
    header = fields["start"] + struct.pack(">IIQII", *(fields[name] for name in list(fields)[1:6]))
    for time, *texts in (fields["newest"], fields["oldest"]):
        header += struct.pack(">q", time)
        header += b"".join(struct.pack(">H", len(text.encode())) + text.encode() for text in texts)
    return sealed(header, body)


def chunk_of(rows, codec="zstd", change=lambda columns: columns, /, **other):
    """The stored row of a chunk; `change` may spoil its columns, `other` its header."""
    raw = body_of(change(columns_of(rows)))
    body = compressed(raw, codec)
    header = header_of(rows, codec, len(raw), body, **other)
    return [rows[-1][0], rows[-1][1], "", body, header, max(row[5] for row in rows)]


def packed(rows, codec):
    """The stored row of a chunk as whoever packs makes it: not compressed where more than 15/16 would stay."""
    chunk = chunk_of(rows, codec)
    raw_bytes, stored_bytes = struct.unpack(">II", chunk[4][20:28])
    return chunk_of(rows, "none") if stored_bytes > raw_bytes // 16 * 15 else chunk


def pack(rows, chunk_bytes, codec):
    """Rows of a target, newest first, as its stored rows. A chunk ends before the event with which it would have too much."""
    chunks, open_rows, size = [], [], 0
    for _, of in groupby(rows, event_of):
        event = list(of)
        more = sum(map(logical_bytes, event))
        if open_rows and size + more > chunk_bytes:
            chunks.append(packed(open_rows, codec))
            open_rows, size = [], 0
        open_rows, size = open_rows + event, size + more
    return [*chunks, *([packed(open_rows, codec)] if open_rows else [])]
