"""Ways to spoil what is stored of a packed target, and what a verification has to say of each.

Each gives the chunk that has to be named as damaged, by the time and id that it is stored under (none: no chunk is), the counts that
are not 0, and words of the reason.
"""

from generate import key
from pack import CODECS, chunk_of, event_of, pack, packed, sealed
from tamper import fullest

TIME, ID, ITEM, BODY, HEADER, WRITTEN = range(6)


def chunks_of(split, stored):
    """The chunks of the fullest target and the number of one in the middle."""
    chunks = stored[fullest(split)]
    assert len(chunks) > 3, "too few chunks to spoil one among them"
    return chunks, len(chunks) // 2


def rows_of(split, chunk):
    """The rows that a chunk was made of; it ends where an event does."""
    held = next(held for held in split.held.values() if any(row[:2] == chunk[:2] for row in held))
    size = int.from_bytes(chunk[HEADER][4:8], "big")
    end = 1 + max(at for at, row in enumerate(held) if row[:2] == chunk[:2])
    return held[end - size : end]


def by_key(chunks):
    chunks.sort(key=lambda chunk: (chunk[TIME], chunk[ID].encode()), reverse=True)


def miscut(split, *pieces):
    """How many chunks end elsewhere than where whoever packs again, from where they begin, would end them: counted if there are any.

    Between pieces, which are lists of the rows of chunks, nobody can tell.
    """
    found = 0
    for rows in pieces:
        again = [pack(sum(rows[at:], []), split.chunk_bytes, "none")[0][HEADER][4:8] for at in range(len(rows))]
        found += sum(int.from_bytes(size, "big") != len(of) for size, of in zip(again, rows))
    return {"miscut": found} if found else {}


def each(split, chunks):
    """The rows of each chunk."""
    return [rows_of(split, chunk) for chunk in chunks]


def remove(split, stored):
    chunks, at = chunks_of(split, stored)
    rows = len(rows_of(split, chunks.pop(at)))
    return None, {"missing": rows, **miscut(split, each(split, chunks))}, ""


def merge(split, stored):
    """Two neighbours as one chunk, which is sound by itself."""
    chunks, at = chunks_of(split, stored)
    rows = rows_of(split, chunks[at]) + rows_of(split, chunks[at + 1])
    chunks[at : at + 2] = [packed(rows, split.codec)]
    assert miscut(split, each(split, chunks)) == {"miscut": 1}
    return chunks[at], {"miscut": 1}, f"the record says {split.chunk_bytes} for more than one"


def halve(split, stored):
    """One chunk as two, each sound by itself. The second one also ends before it has to."""
    chunks, at = chunks_of(split, stored)
    rows = rows_of(split, chunks[at])
    begins = [at for at in range(1, len(rows)) if event_of(rows[at]) != event_of(rows[at - 1])]
    end = begins[len(begins) // 2]
    chunks[at : at + 1] = [packed(rows[:end], split.codec), packed(rows[end:], split.codec)]
    assert miscut(split, each(split, chunks)) == {"miscut": 2}
    return chunks[at], {"miscut": 2}, "it ends too early: the event behind it has "


def shift(split, stored):
    """The last event of a chunk in the next one: as many chunks as before."""
    chunks, at = chunks_of(split, stored)
    rows, behind = rows_of(split, chunks[at]), rows_of(split, chunks[at + 1])
    end = next(at for at in range(len(rows)) if event_of(rows[at]) == event_of(rows[-1]))
    chunks[at : at + 2] = [packed(rows[:end], split.codec), packed(rows[end:] + behind, split.codec)]
    return chunks[at], miscut(split, each(split, chunks)), "it ends too early: the event behind it has "


def recode(split, stored):
    """The same rows, compressed in another way."""
    chunks, at = chunks_of(split, stored)
    other = next(codec for codec in ("zstd", "lz4") if codec != split.codec)
    chunks[at] = chunk_of(rows_of(split, chunks[at]), other)
    assert chunks[at][HEADER][2] == CODECS.index(other)
    return chunks[at], {"miscoded": 1}, f"it is compressed with {other}; the record says {split.codec}"


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
    halves.sort(key=lambda half: key(half[-1]), reverse=True)
    chunks[at : at + 2] = [packed(half, split.codec) for half in halves]
    cut = miscut(split, [*each(split, chunks[:at]), halves[0]], [halves[1], *each(split, chunks[at + 2 :])])
    return chunks[at + 1], {"unordered": 1, "damaged": 1, **cut}, "is not older than the oldest of the chunk before it"


def cut_event(split, stored):
    """The items of one event in two chunks, in order."""
    chunks, at = chunks_of(split, stored)
    rows = rows_of(split, chunks[at])
    end = next(at for at in range(1, len(rows)) if rows[at][:2] == rows[at - 1][:2])
    chunks[at : at + 1] = [packed(rows[:end], split.codec), packed(rows[end:], split.codec)]
    # What is left of the chunk is smaller, and ends where it did.
    cut = miscut(split, [*each(split, chunks[:at]), rows[:end]], [rows[end:], *each(split, chunks[at + 2 :])])
    return chunks[at + 1], {"damaged": 1, **cut}, "is not older than the oldest of the chunk before it"


def misplace(split, stored):
    """Into another target, in its order."""
    chunks, at = chunks_of(split, stored)
    rows = len(rows_of(split, chunks[at]))
    other = next(bucket for bucket in stored if bucket != fullest(split))
    stored[other].append(chunks.pop(at))
    by_key(stored[other])
    cut = miscut(split, *(each(split, stored[bucket]) for bucket in (fullest(split), other)))
    return None, {"misplaced": rows, **cut}, ""


def plain_row(split, stored):
    """A row that is stored by itself, behind its own chunk."""
    chunks, at = chunks_of(split, stored)
    row = list(rows_of(split, chunks[at])[0])
    chunks.insert(at, row)
    return row, {"damaged": 1}, "its item key is not empty, so it is no chunk"


EVERY = (
    remove, double, double_elsewhere, rename, rewrite, alter, alter_header, unknown(0, "mark"), unknown(1, "version"), unknown(2, "codec"),
    unknown(3, "flags"), empty, double_behind_damage, swap_bodies, swap, overlap, cut_event, misplace, plain_row,
    merge, halve, shift, recode,
)  # fmt: skip
