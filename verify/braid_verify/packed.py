"""Stored rows of packed targets: each is opened, becomes the run of its rows, and is held to what the format says of a chunk, its key,
where it ends and how it is compressed.

A chunk that cannot be opened has no rows here: it is named, and what the origin has of it is missing.
"""

import pyarrow

from .check import Digest
from .chunk import decode
from .cut import coded_otherwise, cut_late, room
from .damage import Damaged, need
from .scan import Run, Scanner, of_chunk

# What is needed of a stored row, beside `file` where rows of several come together.
COLUMNS = ("split", "row", "event_bucket", "event_time", "event_id", "event_item_key", "event_item_value", "value_metadata", "write_time")
# Rows that were in chunks, as the comparison takes them.
ROWS = pyarrow.schema(
    [
        ("split", pyarrow.int32()),
        ("side", pyarrow.int32()),
        ("event_bucket", pyarrow.int32()),
        ("event_time", pyarrow.int64()),
        ("event_id", pyarrow.large_string()),
        ("event_item_key", pyarrow.large_string()),
        ("event_item_value", pyarrow.large_binary()),
        ("value_metadata", pyarrow.large_binary()),
        ("write_time", pyarrow.int64()),
    ]
)
TARGET = -1


def stored_rows(batch):
    """The stored rows of a batch, one after the other."""
    names = [name for name in (*COLUMNS, "file") if name in batch.schema.names]
    columns = [batch.column(name) for name in names]
    for at in range(batch.num_rows):
        yield dict(zip(names, (column[at].as_py() for column in columns)))


def open_row(stored):
    """The chunk of a stored row; none where it cannot be decoded; and what is wrong with it, in words."""
    try:
        need(stored["event_item_key"] == "", "its item key is not empty, so it is no chunk")
        chunk = decode(stored["value_metadata"], stored["event_item_value"])
    except Damaged as damaged:
        return None, [str(damaged)]
    wrong = []
    if chunk.header.oldest[:2] != (stored["event_time"], stored["event_id"].encode()):
        wrong.append("its key is not its oldest row")
    if int(chunk.write_times.max()) != stored["write_time"]:
        wrong.append("its write time is not the greatest of its rows")
    return chunk, wrong


def as_rows(stored, chunk):
    """The rows of a chunk as a batch of `ROWS`."""
    texts = [part.cast(pyarrow.large_string()) for part in chunk.parts[:2]]
    same = [[number] * len(chunk.times) for number in (stored["split"], TARGET, stored["event_bucket"])]
    columns = [*same, chunk.times, *texts, *chunk.parts[2:], chunk.write_times]
    arrays = [pyarrow.array(column, kind) if not isinstance(column, pyarrow.Array) else column for column, kind in zip(columns, ROWS.types)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=ROWS)


class Opener:
    """Turns stored rows into runs."""

    def __init__(self, checks, keep):
        self.scanner = Scanner(checks, keep)

    def run(self, stored, chunk, wrong):
        """The run of a stored row."""
        place = {name: stored[name] for name in ("split", "event_bucket", "file", "row")}
        place |= {"side": TARGET, "end": stored["row"] + 1}
        if chunk is None:
            run = Run(**place, newest=None, oldest=None, digest=Digest(), stored=1, stored_bytes=0)
        else:
            run = self.scanner.run(place, chunk.times, chunk.parts)
        texts = [stored["event_id"].encode(), stored["event_item_key"].encode()]
        run.stored = 1
        run.stored_bytes = 8 + sum(map(len, [*texts, stored["event_item_value"], stored["value_metadata"]]))
        run.chunk = (stored["event_time"], stored["event_id"])
        run.damaged = len(wrong)
        run.examples += [of_chunk("damaged", run.event_bucket, run.chunk, reason) for reason in wrong]
        if chunk is not None:
            self.hold_to_record(run, chunk, stored["event_item_value"])
        return run

    def hold_to_record(self, run, chunk, body):
        """Whether it is cut and compressed as the record says; the rest is known once the chunk behind it is."""
        check, header = self.scanner.checks[run.split], chunk.header
        run.first_event, run.last_chunk, run.room = chunk.first_event, run.chunk, room(check, header)
        late, coded = cut_late(check, header), coded_otherwise(check, header, body)
        run.miscut, run.miscoded = int(late is not None), int(coded is not None)
        found = (("miscut", late), ("miscoded", coded))
        run.examples += [of_chunk(kind, run.event_bucket, run.chunk, reason) for kind, reason in found if reason]
