"""One pass over all rows of origins and targets: order, placement, digest.

Rows come in batches, each with its place in a file. What is kept is one `Run` for every piece of a partition that lay in
one piece, so memory does not grow with rows. Runs of several batches, files or machines are joined afterwards (`join_all`); where two
of them meet, the order is checked too.
"""

import json
from dataclasses import asdict, dataclass, field

import numpy
import pyarrow

from . import placement
from .check import Digest
from .cut import cut_early
from .digest import PARTS, digest

# What a batch has to have, beside `file` where rows of several come together.
COLUMNS = ("split", "side", "row", "event_bucket", "event_time", *PARTS)
# Rows are hashed in portions of so much, whatever a value may have.
PORTION_BYTES = 32 << 20
SIDES = {1: "origin", 0: "origin", -1: "targets"}
KEY = ("event_time", "event_id", "event_item_key")
OVERLAP = "its newest event is not older than the oldest of the chunk before it"


@dataclass
class Run:
    """Rows of one partition that lay behind each other. Without any, where a chunk could not be decoded, it has no newest and no oldest."""

    split: int
    side: int
    event_bucket: int
    file: int
    row: int
    end: int
    newest: tuple | None
    oldest: tuple | None
    digest: Digest
    # What was read of the store: rows, or chunks of rows.
    stored: int
    stored_bytes: int
    # Time and id that the first chunk is stored under; none where rows are stored by themselves.
    chunk: tuple | None = None
    # Of chunks that could be decoded: bytes of the first event of the first one; of the last one its key, and bytes that it has room for.
    first_event: int | None = None
    last_chunk: tuple | None = None
    room: int | None = None
    unordered: int = 0
    misplaced: int = 0
    damaged: int = 0
    miscut: int = 0
    miscoded: int = 0
    examples: list = field(default_factory=list)

    def place(self):
        """Which rows it is about, and where they lay."""
        return self.split, -self.side, self.event_bucket, self.file, self.row

    def same_partition(self, other):
        """Whether both are of one partition."""
        return self.place()[:3] == other.place()[:3]

    def continues(self, other):
        """Whether its first row lay directly behind the other's last one."""
        return self.same_partition(other) and (self.file, self.row) == (other.file, other.end)

    def dumps(self):
        """As text, for engines that hand on rows only."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text):
        """From text."""
        fields = json.loads(text)
        fields["digest"] = Digest(**fields["digest"])
        return cls(**fields | {name: fields[name] and tuple(fields[name]) for name in ("newest", "oldest", "chunk", "last_chunk")})


def join_batches(runs, keep):
    """Joins what lay in one piece and came in several batches. Others may have read what lies between the rest."""
    return fold(runs, keep, Run.continues)


def join_all(runs, keep):
    """Joins all runs there are, in any order, into one per partition."""
    return list(fold(sorted(runs, key=Run.place), keep, Run.same_partition))


def fold(runs, keep, belong):
    """Joins neighbours that belong together; `keep` is how many examples stay of each kind."""
    last = None
    for run in runs:
        if last is not None and belong(run, last):
            append(last, run, keep)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def append(last, run, keep):
    """Puts a run behind another one of its partition. Where they meet, the order is checked."""
    if run.newest and last.oldest:
        if run.newest >= last.oldest:
            last.unordered += 1
            last.examples.append(example("unordered", run.event_bucket, run.newest, side=SIDES[run.side]))
        # All rows of an event are in one chunk, so a chunk begins with another one.
        if run.chunk and run.newest[:2] >= last.oldest[:2]:
            last.damaged += 1
            last.examples.append(of_chunk("damaged", run.event_bucket, run.chunk, OVERLAP))
        elif run.first_event is not None and last.room is not None:
            append_cut(last, run)
    last.unordered += run.unordered
    last.misplaced += run.misplaced
    last.damaged += run.damaged
    last.miscut += run.miscut
    last.miscoded += run.miscoded
    last.examples = first_examples(last.examples + run.examples, keep)
    last.digest = last.digest.plus(run.digest)
    last.stored, last.stored_bytes = last.stored + run.stored, last.stored_bytes + run.stored_bytes
    last.last_chunk, last.room = run.last_chunk, run.room
    last.newest, last.oldest = last.newest or run.newest, run.oldest or last.oldest
    last.file, last.end = run.file, run.end


def append_cut(last, run):
    """Where chunks meet that could both be decoded and are in order: whether the first of them ends where it should."""
    early = cut_early(last.room, run.first_event)
    if early:
        last.miscut += 1
        last.examples.append(of_chunk("miscut", last.event_bucket, last.last_chunk, early))


def example(kind, event_bucket, key, **more):
    """A row, named."""
    event_time, event_id, item_key = key
    return {
        "kind": kind,
        "event_time": event_time,
        "event_id": event_id,
        "event_item_key": item_key,
        "event_bucket": event_bucket,
        **more,
    }


def of_chunk(kind, event_bucket, chunk, reason):
    """A chunk, named by what it is stored under."""
    return example(kind, event_bucket, (*chunk, ""), side=SIDES[-1], reason=reason)


def first_examples(examples, keep):
    """The newest of each kind, so that it does not matter who found them first."""
    examples.sort(key=lambda row: (*(row[name] for name in KEY), row.get("reason", "")), reverse=True)
    kinds = {}
    return [row for row in examples if kinds.setdefault(row["kind"], []).append(row) or len(kinds[row["kind"]]) <= keep]


class Scanner:
    """Turns batches into runs."""

    def __init__(self, checks, keep):
        self.checks = checks
        self.keep = keep

    def runs(self, batch, file=None):
        """The runs of a batch, in order. The file is one for all rows, or a column."""
        columns = {name: batch.column(name) for name in COLUMNS}
        numbers = {name: columns[name].to_numpy() for name in COLUMNS[:5]}
        if file is None:
            numbers["file"] = batch.column("file").to_numpy()
        else:
            numbers["file"] = numpy.full(batch.num_rows, file)
        parts = [columns[name].cast(pyarrow.large_binary()) for name in PARTS]
        for start, end in self.pieces(numbers, parts):
            place = {name: int(numbers[name][start]) for name in ("split", "side", "event_bucket", "file", "row")}
            place["end"] = int(numbers["row"][end - 1]) + 1
            yield self.run(place, numbers["event_time"][start:end], [of[start:end] for of in parts])

    def pieces(self, numbers, parts):
        """Where another partition or another file begins, rows are not neighbours, or a portion has enough bytes."""
        rows = len(numbers["row"])
        edge = numpy.zeros(rows, dtype=bool)
        for name in ("split", "side", "event_bucket", "file"):
            edge[1:] |= numpy.diff(numbers[name]) != 0
        # Rows count where they lie and not as they come: an engine promises no order.
        edge[1:] |= numpy.diff(numbers["row"]) != 1
        portions = sum(numpy.diff(offsets(part)) for part in parts).cumsum() // PORTION_BYTES
        edge[1:] |= numpy.diff(portions) != 0
        edges = [0, *numpy.flatnonzero(edge).tolist(), rows]
        return [(start, end) for start, end in zip(edges, edges[1:]) if start < end]

    def run(self, place, times, parts):
        """Rows of one partition that lay in one piece, and where."""
        check, side, bucket = self.checks[place["split"]], place["side"], place["event_bucket"]
        ids = parts[0].to_pylist()
        keys = Keys(times, ids, parts[1])
        # What lies beside an origin is of no split: only that it belongs there counts.
        unordered = keys.unordered() if side else []
        wrong, belongs = misplaced(check, side, bucket, times, ids)
        examples = [example("unordered", bucket, keys[at], side=SIDES[side]) for at in unordered[: self.keep]]
        examples += [
            example("misplaced", bucket, keys[at], side=SIDES[side], belongs=belongs(at)) for at in wrong[: self.keep]
        ]
        found = digest(check.digest_key, times, parts) if side else Digest()
        return Run(
            **place,
            newest=keys[0] if side else None,
            oldest=keys[len(ids) - 1] if side else None,
            digest=found,
            stored=found.rows,
            stored_bytes=found.bytes,
            unordered=len(unordered),
            misplaced=len(wrong),
            examples=examples,
        )


def offsets(part):
    """Where the values of a column begin."""
    return numpy.frombuffer(part.buffers()[1], dtype=numpy.int64)[part.offset : part.offset + len(part) + 1]


class Keys:
    """Keys of rows: (time, event id, item key), ids as text. Code points are in the order of their bytes."""

    def __init__(self, times, ids, item_keys):
        self.times = times
        self.ids = ids
        self.item_keys = item_keys

    def __getitem__(self, at):
        return int(self.times[at]), self.ids[at].decode(), self.item_keys[at].as_py().decode()

    def unordered(self):
        """The rows that do not come strictly behind the one before. Ids are looked at only where times are equal."""
        steps = numpy.diff(self.times)
        later = numpy.flatnonzero(steps > 0) + 1
        equal = (numpy.flatnonzero(steps == 0) + 1).tolist()
        return sorted(later.tolist() + [at for at in equal if self[at] >= self[at - 1]])


def misplaced(check, side, bucket, times, ids):
    """The rows that belong elsewhere, and what says where one belongs."""
    hashed = placement.hashes(ids)
    time_buckets, event_buckets = placement.origins(check, times, hashed)
    # A target has what belongs to its origin; a partition beside that one what belongs to itself.
    foreign = (time_buckets != check.time_bucket) | (event_buckets != (bucket if side == 0 else check.event_bucket))
    targets = placement.targets(check, times, hashed)

    def belongs(at):
        if foreign[at]:
            return f"time bucket {int(time_buckets[at])}, event bucket {int(event_buckets[at])} of the slice"
        return f"event bucket {int(targets[at])}"

    wrong = foreign | (targets != bucket) if side < 0 else foreign
    return numpy.flatnonzero(wrong).tolist(), belongs
