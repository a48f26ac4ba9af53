"""Ways to spoil what is stored of a packed target, and what a verification has to say of each.

Each gives the chunk that has to be named as damaged, by the time and id that it is stored under (none: no chunk is), the counts that
are not 0, and words of the reason.
"""

from pack import chunk_of, sealed
from tamper import fullest

TIME, ID, ITEM, BODY, HEADER, WRITTEN = range(6)


def chunks_of(split, stored):
    """The chunks of the fullest target and the number of one in the middle."""
    chunks = stored[fullest(split)]
    assert len(chunks) > 3, "too few chunks to spoil one among them"
    return chunks, len(chunks) // 2


def rows_of(split, chunk):
    """The rows that a chunk was made of."""
    held = split.held[fullest(split)]
    size = int.from_bytes(chunk[HEADER][4:8], "big")
    end = 1 + max(at for at, row in enumerate(held) if row[:2] == chunk[:2])
    return held[end - size : end]


def by_key(chunks):
    chunks.sort(key=lambda chunk: (chunk[TIME], chunk[ID].encode()), reverse=True)


def remove(split, stored):
    chunks, at = chunks_of(split, stored)
    return None, {"missing": len(rows_of(split, chunks.pop(at)))}, ""


def double(split, stored):
    """The same chunk a second time, in the same place."""
    chunks, at = chunks_of(split, stored)
    chunks.insert(at, list(chunks[at]))
    return chunks[at], {"phantom": len(rows_of(split, chunks[at])), "unordered": 1, "damaged": 1}, "is not older than"


def double_elsewhere(split, stored):
    """The same chunk under another key."""
    chunks, at = chunks_of(split, stored)
    chunks.insert(at + 1, [chunks[at][TIME] - 1, *chunks[at][1:]])
    return chunks[at + 1], {"phantom": len(rows_of(split, chunks[at])), "unordered": 1, "damaged": 2}, "its key is not its oldest row"


def rename(split, stored):
    """Under another key, and otherwise as it should be."""
    chunks, at = chunks_of(split, stored)
    chunks[at][TIME] += 1
    return chunks[at], {"damaged": 1}, "its key is not its oldest row"


def rewrite(split, stored):
    chunks, at = chunks_of(split, stored)
    chunks[at][WRITTEN] += 1
    return chunks[at], {"damaged": 1}, "its write time is not the greatest of its rows"


def alter(split, stored):
    """One bit of one byte."""
    chunks, at = chunks_of(split, stored)
    spoiled = bytearray(chunks[at][BODY])
    spoiled[len(spoiled) // 2] ^= 1
    chunks[at][BODY] = bytes(spoiled)
    return chunks[at], {"missing": len(rows_of(split, chunks[at])), "damaged": 1}, "the checksum of its body does not match"


def alter_header(split, stored):
    chunks, at = chunks_of(split, stored)
    rows = len(rows_of(split, chunks[at]))
    spoiled = bytearray(chunks[at][HEADER])
    spoiled[-1] ^= 1
    chunks[at][HEADER] = bytes(spoiled)
    return chunks[at], {"missing": rows, "damaged": 1}, "the checksum of its header does not match"


def unknown(place, what):
    """A field of the header that only a newer program knows, with right checksums."""

    def way(split, stored):
        chunks, at = chunks_of(split, stored)
        rows = len(rows_of(split, chunks[at]))
        header = chunks[at][HEADER][:-16]
        chunks[at][HEADER] = sealed(header[:place] + b"\x09" + header[place + 1 :], chunks[at][BODY])
        return chunks[at], {"missing": rows, "damaged": 1}, f"it has {what} 9, which this program does not know"

    way.__name__ = f"unknown_{what}"
    return way


def empty(split, stored):
    """Neither header nor body."""
    chunks, at = chunks_of(split, stored)
    rows = len(rows_of(split, chunks[at]))
    chunks[at][BODY] = chunks[at][HEADER] = b""
    return chunks[at], {"missing": rows, "damaged": 1}, "the header ends too early"


def double_behind_damage(split, stored):
    """A chunk again, behind one that cannot be decoded: what lies there hides nothing."""
    chunks, at = chunks_of(split, stored)
    again, (_, counts, _) = list(chunks[at - 1]), alter(split, stored)
    chunks.insert(at + 1, again)
    rows = len(rows_of(split, again))
    return again, {**counts, "phantom": rows, "unordered": 1, "damaged": 2}, "is not older than"


def swap_bodies(split, stored):
    """Two chunks, each with the body of the other."""
    chunks, at = chunks_of(split, stored)
    rows = sum(len(rows_of(split, chunk)) for chunk in chunks[at : at + 2])
    chunks[at][BODY], chunks[at + 1][BODY] = chunks[at + 1][BODY], chunks[at][BODY]
    return chunks[at], {"missing": rows, "damaged": 2}, "its body"


def swap(split, stored):
    """Two chunks in the wrong order."""
    chunks, at = chunks_of(split, stored)
    chunks[at], chunks[at - 1] = chunks[at - 1], chunks[at]
    return chunks[at], {"unordered": 1, "damaged": 1}, "is not older than the oldest of the chunk before it"


def overlap(split, stored):
    """Two chunks whose events alternate: every row is there once, and each chunk is well formed."""
    chunks, at = chunks_of(split, stored)
    rows = rows_of(split, chunks[at]) + rows_of(split, chunks[at + 1])
    events = list(dict.fromkeys((row[TIME], row[ID]) for row in rows))
    halves = [[row for row in rows if (row[TIME], row[ID]) in events[half::2]] for half in (0, 1)]
    chunks[at : at + 2] = sorted(map(chunk_of, halves), reverse=True)
    return chunks[at + 1], {"unordered": 1, "damaged": 1}, "is not older than the oldest of the chunk before it"


def cut_event(split, stored):
    """The items of one event in two chunks, in order."""
    chunks, at = chunks_of(split, stored)
    rows = rows_of(split, chunks[at])
    end = next(at for at in range(1, len(rows)) if rows[at][:2] == rows[at - 1][:2])
    chunks[at : at + 1] = [chunk_of(rows[:end]), chunk_of(rows[end:])]
    return chunks[at + 1], {"damaged": 1}, "is not older than the oldest of the chunk before it"


def misplace(split, stored):
    """Into another target, in its order."""
    chunks, at = chunks_of(split, stored)
    rows = len(rows_of(split, chunks[at]))
    other = next(bucket for bucket in stored if bucket != fullest(split))
    stored[other].append(chunks.pop(at))
    by_key(stored[other])
    return None, {"misplaced": rows}, ""


def plain_row(split, stored):
    """A row that is stored by itself, behind its own chunk."""
    chunks, at = chunks_of(split, stored)
    row = list(rows_of(split, chunks[at])[0])
    chunks.insert(at, row)
    return row, {"damaged": 1}, "its item key is not empty, so it is no chunk"


EVERY = (
    remove, double, double_elsewhere, rename, rewrite, alter, alter_header, unknown(0, "mark"), unknown(1, "version"), unknown(2, "codec"),
    unknown(3, "flags"), empty, double_behind_damage, swap_bodies, swap, overlap, cut_event, misplace, plain_row,
)  # fmt: skip
