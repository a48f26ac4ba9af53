"""Packed targets of a real cluster: one chunk is spoiled in the store, and found and named."""

import json

from generate import ORIGIN, TARGET, record_of
from pack import CODECS
from pack import packed as packed_chunk
from stored import stored_record
from tamper import fullest
from tamper_chunks import BODY, HEADER, TIME, WRITTEN, each, miscut, rows_of

COUNTS = ("missing", "phantom", "misplaced", "unordered", "damaged", "miscut", "miscoded")


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


def merge(store, split):
    """Two chunks as one, which is sound by itself; and how many are miscut then."""
    bucket = fullest(split)
    chunks = split.stored(bucket)
    # One key is that of the older chunk; what is written there has to be later, and as late as its rows say.
    at = next(at for at in range(len(chunks) - 1) if chunks[at][WRITTEN] > chunks[at + 1][WRITTEN])
    rows = rows_of(split, chunks[at]) + rows_of(split, chunks[at + 1])
    merged = packed_chunk(rows, split.codec)
    store.delete(split, TARGET, bucket, chunks[at])
    store.put(split, TARGET, bucket, merged)
    return merged, miscut(split, [*each(split, chunks[:at]), rows, *each(split, chunks[at + 2 :])])


def test_one_chunk_spoiled_in_the_store(packed, verify):
    """Removed, under another key as well, altered, misplaced, merged with the next; a row removed in the origin; another codec in the
    record: a split each, the rest stays equal."""
    removed, copied, changed, moved, origin_removed, recoded, merged, *sound = packed.splits
    expected = {}

    bucket, _, chunk, rows = in_target(removed)
    packed.delete(removed, TARGET, bucket, chunk)
    left = [each(removed, [other for other in removed.stored(bucket) if other != chunk])]
    expected[removed.id] = {"missing": rows, **miscut(removed, *left)}, None, ""

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
    # Where it went the chunks lie otherwise, which is said in how they are cut.
    cut = {moved.id}

    row = origin_removed.origin[len(origin_removed.origin) // 2]
    packed.delete(origin_removed, ORIGIN, origin_removed.event_bucket, row)
    expected[origin_removed.id] = {"phantom": 1}, None, ""

    chunk, counts = merge(packed, merged)
    assert counts == {"miscut": 1}
    expected[merged.id] = counts, chunk, "for more than one"

    record = json.loads(stored_record(recoded, record_of(recoded)["check"]))
    assert record["post_split_data"]["codec"] == "zstd"
    record["post_split_data"]["codec"] = "lz4"
    packed.change_record(recoded, json.dumps(record).encode())
    of_zstd = [chunk for held in recoded.held for chunk in recoded.stored(held) if CODECS[chunk[HEADER][2]] == "zstd"]
    expected[recoded.id] = {"miscoded": len(of_zstd)}, of_zstd[0], "it is compressed with zstd; the record says lz4"

    code, report = verify(packed, "--examples", "1000")
    assert (code, report["different"], report["equal"]) == (8, len(expected), len(sound))
    for split in report["details"]:
        counts, chunk, words = expected.get(split["id"], ({}, None, ""))
        found = {kind: split[kind] for kind in COUNTS if split[kind] and (kind != "miscut" or split["id"] not in cut)}
        assert found == counts
        told = [row["reason"] for row in split["rows"] if "reason" in row and row["event_time"] == (chunk or [None])[0]]
        assert words in "; ".join(told)
