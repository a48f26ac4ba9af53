"""Chunks of the repository's golden vector and of our own encoder, decoded with nothing but the published format."""

import random
from pathlib import Path

import pytest
import zstandard
from braid_verify.chunk import decode
from braid_verify.damage import Damaged
from pack import CODECS, body_of, chunk_of, columns_of, header_of, pack, sealed, varint

T = 1774681200000000000
TIME_MAX = 9183110400000000000
UUID = "0191a2b3-c4d5-76e7-8899-aabbccddeeff"
WRITTEN = 1774681200000000
ROWS = [
    [T + 300, UUID, "b", b"\x00\xff", bytes.fromhex("010001610000000131"), WRITTEN + 10],
    [T + 300, UUID, "a", b"", b"", WRITTEN + 10],
    [T + 2, "event-7", "a", b"value", b"", WRITTEN + 9],
    [T, "ü", "a", b"abcdefgh" * 40, b"", WRITTEN + 200],
]


def vector():
    path = Path(__file__).parent.parent.parent / "crates/chunk/golden/vector.txt"
    lines = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {codec: (bytes.fromhex(header), bytes.fromhex(body)) for codec, header, body in lines}


def rows_in(stored):
    """The rows of a stored row, as lists."""
    chunk = decode(stored[4], stored[3])
    ids, keys, values, metadata = (part.to_pylist() for part in chunk.parts)
    texts = ([text.decode() for text in part] for part in (ids, keys))
    return [list(row) for row in zip(chunk.times.tolist(), *texts, values, metadata, chunk.write_times.tolist())]


@pytest.mark.parametrize("codec", CODECS)
def test_the_golden_chunk(codec):
    header, body = vector()[codec]
    assert rows_in([None, None, None, body, header]) == ROWS


def test_our_encoder_writes_the_golden_chunk():
    header, body = vector()["none"]
    assert chunk_of(ROWS, "none") == [T, "ü", "", body, header, WRITTEN + 200]


@pytest.mark.parametrize("codec", CODECS)
def test_every_prefix_and_flipped_byte_is_refused(codec):
    good = vector()[codec]
    for part in (0, 1):
        for at in range(len(good[part])):
            flipped = bytearray(good[part])
            flipped[at] ^= 1 << at % 8
            for spoiled in (good[part][:at], bytes(flipped), good[part] + b"x"):
                with pytest.raises(Damaged):
                    decode(*(spoiled, good[1]) if part == 0 else (good[0], spoiled))


def random_rows(chance):
    """Events of all sorts: one or many items, UUIDs, times that are equal, write times anywhere."""
    events = {}
    for _ in range(chance.randint(1, 60)):
        name = chance.choice(["{:032x}", "e{}", "ü{}", "{}" * 30]).replace("{}", "{0}").format(chance.getrandbits(128))
        uuid = f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}" if len(name) == 32 else name
        events[chance.choice([0, 7, TIME_MAX, chance.randint(0, TIME_MAX)]), uuid] = chance.randint(1, 3)
    rows = [(*event, f"k{item}") for event, items in events.items() for item in range(items)]
    rows.sort(key=lambda row: (row[0], row[1].encode(), row[2].encode()), reverse=True)
    extremes = [0, -(2**63), 2**63 - 1, WRITTEN]
    some = lambda most: chance.randbytes(chance.randint(0, most))  # noqa: E731
    return [[*row, some(300), some(2), chance.choice(extremes)] for row in rows]


@pytest.mark.parametrize("seed", range(60))
def test_what_goes_in_comes_out(seed):
    chance = random.Random(seed)
    rows = random_rows(chance)
    chunks = pack(rows, chance.choice([1, 500, 1 << 20]), chance.choice(CODECS))
    assert [row for stored in chunks for row in rows_in(stored)] == rows


def put(at, column):
    """Columns with another one in one place."""
    return lambda columns: [*columns[:at], column, *columns[at + 1 :]]


DECODE_ERRORS = {
    "no text in an id": (put(3, bytes(16) + b"event-\xff" + "ü".encode()), {}, "event id is no text"),
    "half a character each": (put(2, b"\x00\x08\x01"), {}, "event id is no text"),
    "no text in a key": (put(4, b"\x01\xff\x01a"), {}, "item key is empty or no text"),
    "an empty key": (put(4, b"\x00\x01a"), {}, "item key is empty or no text"),
    "a number that is too long": (put(8, b"\x82\x00" + varint(0) + varint(5) + varint(320)), {}, "shortest form"),
    "a number of 70 bits": (put(9, b"\xff" * 9 + b"\x03" + b"\x00\x00\x00"), {}, "more than 64 bits"),
    "a number of eleven bytes": (put(9, b"\xff" * 10 + b"\x01" + b"\x00\x00\x00"), {}, "more than 64 bits"),
    "a number without end": (put(8, varint(2) + varint(0) + varint(5) + b"\xc0"), {}, "one number for each entry"),
    "numbers left over": (put(9, b"\x00" * 5), {}, "one number for each entry"),
    "an empty column": (put(0, b""), {}, "one number for each entry"),
    "a length of 33 bits": (put(8, varint(2**32) + varint(0) + varint(5) + varint(320)), {}, "32 bits"),
    "keys in another order": (put(5, b"\x01\x00\x00\x00"), {}, "order of first use"),
    "an entry that nobody uses": (put(4, b"\x01b\x01a\x01c"), {}, "not used up"),
    "an entry that ends too early": (put(6, b"\x09\x01"), {}, "ends too early"),
    "an entry whose length does not end": (put(6, b"\x80"), {}, "one number for each entry"),
    "items that rise": (put(5, b"\x00\x00\x01\x01"), {}, "items of an event are not in order"),
    "an event without rows": (put(0, b"\x02\x00\x02"), {}, "do not have all of its rows"),
    "more rows than there are": (put(0, b"\x02\x01\x02"), {}, "do not have all of its rows"),
    "a first time that is not 0": (put(1, b"\x01" + varint(298) + b"\x01"), {}, "do not add up"),
    "times that wrap": (put(1, b"\x00" + varint(2**64 - 1) + varint(301)), {}, "do not add up"),
    "ids left over": (put(3, bytes(16) + b"event-7\xc3\xbcx"), {}, "do not fill their column"),
    "values left over": (put(10, b"x" * 328), {}, "do not fill their column"),
    "a time below 0": (lambda columns: columns, {"oldest": [-1, "ü", "a"]}, "time is out of range"),
    "a time beyond all": (lambda columns: columns, {"newest": [TIME_MAX + 1, UUID, "b"]}, "time is out of range"),
    "an id that is empty": (lambda columns: columns, {"oldest": [T, "", "a"]}, "is empty"),
    "another first row": (lambda columns: columns, {"newest": [T + 300, UUID, "c"]}, "its first row is not"),
    "another last row": (lambda columns: columns, {"oldest": [T, "u", "a"]}, "its last row is not"),
    "other bytes": (lambda columns: columns, {"logical_bytes": 452}, "other bytes than its header says"),
    "first and last in disorder": (lambda columns: columns, {"newest": [T, "a", "a"]}, "not in order"),
    "one event and two keys": (lambda columns: columns, {"events": 1}, "number of events"),
    "more events than rows": (lambda columns: columns, {"events": 5}, "no events, or more than rows"),
    "too many rows": (lambda columns: columns, {"rows": 131073}, "131073 rows, the limit"),
    "too many bytes": (lambda columns: columns, {"raw_bytes": (80 << 20) + 1}, "bytes, the limit"),
    "another length": (lambda columns: columns, {"stored_bytes": 7}, "another length than its header says"),
    "another version": (lambda columns: columns, {"start": b"\xc7\x02\x02\x00"}, "version 2, which"),
    "another codec": (lambda columns: columns, {"start": b"\xc7\x01\x03\x00"}, "codec 3, which"),
    "flags": (lambda columns: columns, {"start": b"\xc7\x01\x02\x01"}, "flags 1, which"),
    "another mark": (lambda columns: columns, {"start": b"\x01\x01\x02\x00"}, "mark 1, which"),
}  # fmt: skip


@pytest.mark.parametrize("way", DECODE_ERRORS)
def test_right_checksums_do_not_help(way):
    change, other, words = DECODE_ERRORS[way]
    stored = chunk_of(ROWS, "zstd", change, **other)
    with pytest.raises(Damaged, match=words):
        decode(stored[4], stored[3])


def test_rows_out_of_order():
    same_time = [[T, f"e{at}", "a", b"", b"", 1] for at in (1, 2)]
    for rows, words in ((same_time, "events are not in order"), ([ROWS[0], ROWS[1], ROWS[1], *ROWS[2:]], "items of an event")):
        stored = chunk_of(rows, newest=max(rows)[:3], oldest=min(rows)[:3])
        with pytest.raises(Damaged, match=words):
            decode(stored[4], stored[3])


def test_a_uuid_as_text_is_not_the_shortest_way():
    columns = columns_of(ROWS)
    text = [*columns[:2], b"\x24\x07\x02", UUID.encode() + columns[3][16:], *columns[4:]]
    stored = chunk_of(ROWS, "none", lambda _: text)
    with pytest.raises(Damaged, match="is a UUID and not stored as one"):
        decode(stored[4], stored[3])


def stored_as(body, codec, raw_bytes=None, **other):
    """The rows under a body that somebody else compressed."""
    raw = body_of(columns_of(ROWS))
    header = header_of(ROWS, codec, len(raw) if raw_bytes is None else raw_bytes, body, **other)
    return header, body


def test_one_frame_and_nothing_else():
    raw = body_of(columns_of(ROWS))
    frame = zstandard.ZstdCompressor().compress
    halves = frame(raw[:100]) + frame(raw[100:])
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(raw)
    assert decode(*stored_as(unsized, "zstd")).header.rows == len(ROWS)
    skippable = b"\x50\x2a\x4d\x18\x01\x00\x00\x00x"
    bad = [halves, frame(raw) + b"x", frame(raw) + frame(b""), frame(raw) + skippable, skippable + frame(raw)]
    bad += [frame(raw + b"x"), frame(raw[:-1])]
    bad += [unsized + b"x", zstandard.ZstdCompressor(write_content_size=False).compress(raw + b"x"), unsized[:-1], b""]
    for body in bad:
        with pytest.raises(Damaged):
            decode(*stored_as(body, "zstd"))


def test_a_frame_that_promises_much_gets_no_room():
    raw = body_of(columns_of(ROWS))
    with pytest.raises(Damaged, match="its frame has another length"):
        decode(*stored_as(zstandard.ZstdCompressor().compress(bytes(1 << 26)), "zstd"))
    with pytest.raises(Damaged, match="its frame has another length"):
        decode(*stored_as(zstandard.ZstdCompressor().compress(raw + b"x"), "zstd"))


def test_a_header_that_goes_on():
    good = chunk_of(ROWS)
    with pytest.raises(Damaged, match="header goes on behind its end"):
        decode(sealed(good[4][:-16] + b"x", good[3]), good[3])


def test_lengths_of_a_body():
    raw = body_of(columns_of(ROWS))
    for body, codec, raw_bytes, words in (
        (raw, "none", len(raw) - 1, "two lengths"),
        (raw[:43], "none", 43, "too short for its columns"),
        (raw + b"x", "none", len(raw) + 1, "do not fill its body"),
        (chunk_of(ROWS, "lz4")[3], "lz4", len(raw) + 1, "does not decompress to its length"),
        (chunk_of(ROWS, "lz4")[3], "lz4", len(raw) - 1, "does not decompress"),
    ):
        with pytest.raises(Damaged, match=words):
            decode(*stored_as(body, codec, raw_bytes))
