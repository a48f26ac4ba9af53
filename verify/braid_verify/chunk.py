"""Packed chunks, decoded from `docs/formats/chunk.md` alone: the header and body of a stored row become its rows."""

import struct
from typing import NamedTuple

import lz4.block
import xxhash
import zstandard

from .refusal import Refused

ROWS_MAX = 131072
BYTES_MAX = 80 << 20
COLUMNS = 11
NONE, LZ4, ZSTD = 0, 1, 2


class Row(NamedTuple):
    event_time: int
    event_id: bytes
    item_key: bytes
    value: bytes
    metadata: bytes
    write_time: int

    def key(self):
        return self.event_time, self.event_id, self.item_key


class Header(NamedTuple):
    codec: int
    rows: int
    events: int
    logical_bytes: int
    raw_bytes: int
    stored_bytes: int
    newest: tuple
    oldest: tuple
    checksum: int


def need(holds, what):
    if not holds:
        raise Refused(f"a chunk is not well formed: {what}; restore the data, or read it with a newer version")


class Reader:
    """Bytes that are used up from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "a part ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def numbers(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))

    def varint(self):
        number = 0
        for shift in range(0, 70, 7):
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                need(number < 2**64 and (byte != 0 or shift == 0), "a number is not in its shortest form")
                return number
        raise Refused("a chunk has a number of more than 64 bits; restore the data")

    def varints(self, count):
        need(len(self.data) >= count, "a column has fewer bytes than entries")
        numbers = [self.varint() for _ in range(count)]
        self.end()
        return numbers

    def end(self):
        need(self.at == len(self.data), "a part goes on behind its end")


def decode_header(stored):
    """What `value_metadata` of a chunk says."""
    reader = Reader(stored)
    mark, version, codec, flags = reader.numbers("BBBB")
    need((mark, version, flags) == (0xC7, 1, 0) and codec in (NONE, LZ4, ZSTD), "mark, version, codec or flags")
    sizes = reader.numbers("IIQII")
    keys = []
    for _ in range(2):
        (time,) = reader.numbers("q")
        texts = [reader.take(*reader.numbers("H")) for _ in range(2)]
        keys.append((time, *texts))
    header = Header(codec, *sizes, *keys, *reader.numbers("Q"))
    need(reader.numbers("Q")[0] == xxhash.xxh3_64_intdigest(stored[: reader.at - 8]), "checksum of the header")
    reader.end()
    need(1 <= header.events <= header.rows <= ROWS_MAX and header.raw_bytes <= BYTES_MAX, "its sizes")
    return header


def decode(stored_header, stored_body):
    """All rows of a chunk, newest first."""
    header = decode_header(stored_header)
    need(len(stored_body) == header.stored_bytes, "length of the body")
    need(xxhash.xxh3_64_intdigest(stored_body) == header.checksum, "checksum of the body")
    rows = list(rows_of(header, columns(decompress(header, stored_body))))
    keys = [row.key() for row in rows]
    need(all(newer > older for newer, older in zip(keys, keys[1:])), "rows are not in order")
    need((keys[0], keys[-1]) == (header.newest, header.oldest), "first and last row")
    need(len({key[:2] for key in keys}) == header.events, "number of events")
    need(sum(8 + sum(map(len, row[1:5])) for row in rows) == header.logical_bytes, "logical bytes")
    return rows


def decompress(header, stored):
    try:
        if header.codec == LZ4:
            body = lz4.block.decompress(stored, uncompressed_size=header.raw_bytes)
        elif header.codec == ZSTD:
            body = zstandard.ZstdDecompressor().decompress(stored, max_output_size=header.raw_bytes)
        else:
            body = stored
    except (lz4.block.LZ4BlockError, zstandard.ZstdError) as error:
        raise Refused(f"the body of a chunk does not decompress: {error}; restore the data") from error
    need(len(body) == header.raw_bytes, "length of the body before compression")
    return body


def columns(body):
    reader = Reader(body)
    found = [Reader(reader.take(length)) for length in reader.numbers(f"{COLUMNS}I")]
    reader.end()
    return found


def rows_of(header, found):
    counts, deltas, id_lengths, ids, keys, key_of, metadata, metadata_of, lengths, written, values = found
    key_list, metadata_list = entries(keys), entries(metadata)
    key_of, metadata_of = indices(key_of, header.rows, key_list), indices(metadata_of, header.rows, metadata_list)
    lengths, written = lengths.varints(header.rows), written.varints(header.rows)
    counts, deltas = counts.varints(header.events), deltas.varints(header.events)
    need(min(counts) > 0 and sum(counts) == header.rows and deltas[0] == 0, "rows of events")
    time, at, write_time = header.newest[0], 0, 0
    for count, delta, length in zip(counts, deltas, id_lengths.varints(header.events)):
        time -= delta
        event_id = ids.take(length) if length else uuid(ids.take(16))
        for row in range(at, at + count):
            write_time += (written[row] >> 1) ^ -(written[row] & 1)
            write_time = (write_time + 2**63) % 2**64 - 2**63
            value = values.take(lengths[row])
            yield Row(time, event_id, key_list[key_of[row]], value, metadata_list[metadata_of[row]], write_time)
        at += count
    ids.end()
    values.end()


def entries(reader):
    found = []
    while reader.at < len(reader.data):
        found.append(reader.take(reader.varint()))
    return found


def indices(reader, count, dictionary):
    found = reader.varints(count)
    need(list(dict.fromkeys(found)) == list(range(len(dictionary))), "a dictionary is not in the order of first use")
    return found


def uuid(packed):
    digits = packed.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])).encode()
