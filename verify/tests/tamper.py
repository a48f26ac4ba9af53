"""Ways to spoil one row of a split, and what a verification has to say of each: counts that are not 0, and the row by name."""

from generate import BUCKETS_PER_ID, hashed, key


def fullest(split):
    """The target with the most rows."""
    return max(split.held, key=lambda bucket: len(split.held[bucket]))


def side_rows(split, side):
    return split.origin if side == "origin" else split.held[fullest(split)]


def covered(split, side):
    """The number of a row in the middle of what is covered."""
    rows = side_rows(split, side)
    first = next(at for at, row in enumerate(rows) if row[0] < split.covered_until)
    return rows, (first + len(rows)) // 2


def put(rows, row):
    """Puts a row where its order says."""
    rows.append(row)
    rows.sort(key=key, reverse=True)


def remove(split, side):
    rows, at = covered(split, side)
    return rows.pop(at), {"phantom" if side == "origin" else "missing": 1}


def double(split, side):
    rows, at = covered(split, side)
    rows.insert(at, list(rows[at]))
    return rows[at], {"missing" if side == "origin" else "phantom": 1, "unordered": 1}


def alter(split, side, column=3, value=b"spoiled"):
    rows, at = covered(split, side)
    rows[at][column] = value
    return rows[at], {"missing": 1, "phantom": 1}


def alter_metadata(split, side):
    return alter(split, side, 4, b"\x01\x00\x01z\x00\x00\x00\x00")


def alter_write_time(split, side):
    return alter(split, side, 5, 7)


def misplace(split, side):
    """From its target into another one; from the origin into the partition beside it."""
    rows, at = covered(split, side)
    row = rows.pop(at)
    if side == "origin":
        put(split.neighbour, row)
        return row, {"phantom": 1, "misplaced": 1}
    put(split.held[next(bucket for bucket in split.held if bucket != fullest(split))], row)
    return row, {"misplaced": 1}


def double_beside(split):
    """A row of the origin that also lies in the partition beside it, which is not split."""
    rows, at = covered(split, "origin")
    put(split.neighbour, list(rows[at]))
    return rows[at], {"misplaced": 1}


def intrude(split, side):
    """A row that belongs to another event bucket of the slice."""
    rows, at = covered(split, side)
    event_id = next(name for name in map("stranger-{}".format, range(99)) if hashed(name) % BUCKETS_PER_ID != split.event_bucket)
    row = [rows[at][0], event_id, "a", b"", b"", 1]
    put(rows, row)
    return row, {"missing" if side == "origin" else "phantom": 1, "misplaced": 1}


def swap(split, side):
    """Two neighbours in the wrong order."""
    rows, at = covered(split, side)
    rows[at], rows[at - 1] = rows[at - 1], rows[at]
    return rows[at], {"unordered": 1}


def uncovered(split, side):
    """A row in a target that is not older than what it covers. In an origin that is how it should be."""
    event_id = next(name for name in map("late-{}".format, range(99)) if hashed(name) % BUCKETS_PER_ID == split.event_bucket)
    row = [split.covered_until, event_id, "a", b"", b"", 1]
    put(split.origin if side == "origin" else split.held[split.target_of(row)], row)
    return row, {} if side == "origin" else {"phantom": 1}


EVERY = (remove, double, alter, alter_metadata, alter_write_time, misplace, intrude, swap)
