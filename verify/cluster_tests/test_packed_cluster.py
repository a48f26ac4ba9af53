"""Packed targets of a real cluster: one chunk is spoiled in the store, and found and named."""

from generate import ORIGIN, TARGET
from tamper import fullest
from tamper_chunks import BODY, TIME, WRITTEN, rows_of

COUNTS = ("missing", "phantom", "misplaced", "unordered", "damaged")


def in_target(split):
    """A chunk in the middle of a target: (its event bucket, another one, the chunk, how many rows it has)."""
    bucket = fullest(split)
    chunks = split.stored(bucket)
    chunk = chunks[len(chunks) // 2]
    return bucket, next(other for other in split.held if other != bucket), chunk, len(rows_of(split, chunk))


def altered(chunk):
    """The chunk with one bit of its body changed, written later, as by somebody else."""
    body = bytearray(chunk[BODY])
    body[len(body) // 2] ^= 1
    return [*chunk[:BODY], bytes(body), chunk[BODY + 1], chunk[WRITTEN] + 1]


def test_one_chunk_spoiled_in_the_store(packed, verify):
    """Removed, under another key as well, altered, misplaced; and a row removed in the origin: a split each, the rest stays equal."""
    removed, copied, changed, moved, origin_removed, *sound = packed.splits
    expected = {}

    bucket, _, chunk, rows = in_target(removed)
    packed.delete(removed, TARGET, bucket, chunk)
    expected[removed.id] = {"missing": rows}, None, ""

    bucket, _, chunk, rows = in_target(copied)
    again = [chunk[TIME] - 1, *chunk[1:]]
    packed.put(copied, TARGET, bucket, again)
    expected[copied.id] = {"phantom": rows, "unordered": 1, "damaged": 2}, again, "its key is not its oldest row"

    bucket, _, chunk, rows = in_target(changed)
    packed.put(changed, TARGET, bucket, altered(chunk))
    expected[changed.id] = {"missing": rows, "damaged": 1}, chunk, "the checksum of its body does not match"

    bucket, other, chunk, rows = in_target(moved)
    packed.delete(moved, TARGET, bucket, chunk)
    packed.put(moved, TARGET, other, chunk)
    expected[moved.id] = {"misplaced": rows}, None, ""

    row = origin_removed.origin[len(origin_removed.origin) // 2]
    packed.delete(origin_removed, ORIGIN, origin_removed.event_bucket, row)
    expected[origin_removed.id] = {"phantom": 1}, None, ""

    code, report = verify(packed)
    assert (code, report["different"], report["equal"]) == (8, len(expected), len(sound))
    for split in report["details"]:
        counts, chunk, words = expected.get(split["id"], ({}, None, ""))
        assert {kind: split[kind] for kind in COUNTS if split[kind]} == counts
        told = [row["reason"] for row in split["rows"] if row["kind"] == "damaged" and row["event_time"] == (chunk or [None])[0]]
        assert words in "; ".join(told)
